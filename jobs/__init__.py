"""What is submitted to Spark, or run by a task of Airflow: one program per stage.

A program parses its arguments, opens the project and calls the stage: `weir.program`.
"""
