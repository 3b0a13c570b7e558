"""The schedules of the stages: Airflow wiring only."""
