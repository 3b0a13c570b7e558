"""The programs that are submitted to Spark or run by a task of Airflow, one per stage.

A program parses its arguments, opens the project and calls the stage: `weir.program`.
"""

from weir.process.leaving import hide_pandas

# Before a program (`python -m weir.jobs.x`) imports pyarrow. One that is submitted waits for Spark.
hide_pandas()
