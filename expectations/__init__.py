"""Data-quality checks: a suite of expectations per kind of table, run by Great Expectations.

An expectation is a condition over a row in Spark SQL, which sqlglot translates for DuckDB; all
conditions of a suite are one statement. `run` imports Great Expectations when the first check runs,
`registration` registers the suites in it. Imports the lake only.
"""
