"""What is submitted to Spark, or run by a task of Airflow: one program per stage."""
