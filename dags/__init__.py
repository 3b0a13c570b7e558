"""When the stages run: Airflow wiring only."""
