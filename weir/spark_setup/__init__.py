"""What Spark needs beside its package: a Java, and the jars of Delta and of lakes in S3.

`weir setup-spark` puts both into a folder of the user (`installation`), where the sessions of this
process and the stages that Airflow submits find them; `make setup` puts them into the checkout.
The standard library alone, and nothing of ours: a checkout is set up before anything is installed.
"""
