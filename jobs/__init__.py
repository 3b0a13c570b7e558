"""The programs that are submitted to Spark or run by a task of Airflow, one per stage.

A program parses its arguments, opens the project and calls the stage: `weir.program`.
"""
