"""`weir serve`: the graph and the published answers over HTTP, read-only.

`/sparql` is answered from a *mirror* (mirror.py): copies of the graph as stores of Oxigraph on this
machine, derived from the lake, one for each epoch that is asked. A query runs in a child process
(query_worker.py) that reads such a copy within limits, and has no network. `/answers`, `/changes`
and `/why` read the lake. All that answers requests is put together in app.py.
"""
