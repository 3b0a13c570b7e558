"""Published answers for other programs, as files: no Spark, no claim.

`tables` writes rows; `triples` reads the log of a CONSTRUCT as a graph, `rdf` writes its state at
an epoch, `patches` its changes as a folder of RDF Patch. `versions` reads the log of any answer as
rows that change, `ldes` writes them as an event stream, whose files `ldes_pages` describes. The
command line and the Python interface call the same functions.
"""
