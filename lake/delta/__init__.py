"""Delta tables as files: commits, the change feed, scans by DuckDB and Spark, checksums.

Every commit of rows carries `metadata.Metadata`: the run, the job, and the watermark that it moves.
Rows and watermark are one commit, so that a run that dies leaves both or neither.
"""
