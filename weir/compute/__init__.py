"""Statements to rows: named relations, computed by DuckDB on the driver or by Spark.

`engine.Engine` is what stages use: it opens tables, makes relations and writes them.
`placement.Placement` alone decides which of the two computes a relation, and both give the same
rows. `duck` and `spark` are the two, `relations` what they are given, `writing` how rows become
commits, `budget` what one query may take.
"""
