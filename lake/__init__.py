"""What is stored: Delta tables, read and written by delta-rs, DuckDB and Spark.

`lake.Lake` opens tables, `tables` defines them. `delta/` commits, reads and verifies files,
`ledger/` has runs and their claims, `upkeep/` merges and deletes, `damage/` says what is wrong with
a table. Nothing here imports anything else of Weir.
"""
