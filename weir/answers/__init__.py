"""Published answers as people read them, by DuckDB: no Spark, no claim, beside a run.

`logs` reads the table of an answer: its state at a moment, its changes. `views` are all of these
for SQL, and `sql` runs a statement over them. The command line prints what is read here, and the
Python interface returns it.
"""
