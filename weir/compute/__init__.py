"""Named relations from SQL statements, computed by DuckDB on the driver or by Spark.

Stages use `engine.Engine`, which opens tables, makes relations and writes them.
`placement.Placement` alone decides which system computes a relation; both give the same rows.
`duck` and `spark` run statements on them, `relations` has the statements, `writing` commits rows,
`budget` limits the time of a query.
"""
