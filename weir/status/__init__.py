"""How far a project is: queries, sources and streams, without Spark and beside a run.

`status.Status.of(project)` is the whole; `queries`, `sources` and `streams` have the parts. The
command line prints it, pages show it, and the Python interface returns it.
"""
