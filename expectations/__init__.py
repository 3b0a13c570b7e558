"""What must hold: a suite of expectations per kind of table, run by Great Expectations.

A condition is Spark SQL over a row, which sqlglot translates for DuckDB; all conditions of a suite
are one statement. `run` imports Great Expectations when the first check runs, `registration` gives
it the suites. Imports the lake only.
"""
