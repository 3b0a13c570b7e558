"""Prepare the volumes of a new installation; what exists is left as it is.

    python first_start.py

Secrets are generated: the passwords of Airflow's database and of its administrator, the keys that
Airflow's components share, and the secret by which Spark's processes recognise each other. An empty
project folder gets the sample project of `weir init`.
"""

from __future__ import annotations

import json
import secrets
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from cryptography.fernet import Fernet

AIRFLOW = Path("/secrets/airflow")
SPARK = Path("/secrets/spark")
PROJECT = Path("/project")
SPARK_DEFAULTS = """\
spark.authenticate true
spark.authenticate.secret {secret}
# The tasks run in the scheduler's container, where `spark-driver` is its name in Spark's network.
spark.driver.host spark-driver
spark.driver.bindAddress 0.0.0.0
# Half of the default cluster, so that two DAGs can run at once.
spark.cores.max 2
"""


def airflow_secrets(folder: Path) -> Mapping[Path, Callable[[], str]]:
    """The files that Airflow's components and its database read, each with what generates it."""
    password = folder / "postgres_password"
    return {
        password: secrets.token_urlsafe,
        folder / "sql_alchemy_conn": lambda: (
            f"postgresql+psycopg2://airflow:{password.read_text()}@postgres/airflow"
        ),
        folder / "fernet_key": lambda: Fernet.generate_key().decode(),
        folder / "secret_key": secrets.token_urlsafe,
        folder / "jwt_secret": lambda: secrets.token_urlsafe(64),
        folder / "passwords.json": lambda: json.dumps({"admin": secrets.token_urlsafe(16)}),
    }


def spark_secrets(folder: Path) -> Mapping[Path, Callable[[], str]]:
    """The configuration that driver, master and workers read, with what generates it."""
    return {
        folder / "spark-defaults.conf": lambda: SPARK_DEFAULTS.format(secret=secrets.token_hex(32))
    }


def write_missing(files: Mapping[Path, Callable[[], str]]) -> list[Path]:
    """Generate the files that do not exist yet, readable by their owner alone; returns them."""
    missing = [file for file in files if not file.exists()]
    for file in missing:
        # Complete or absent: a start that is interrupted here generates it next time.
        unfinished = file.with_name(f".{file.name}")
        unfinished.unlink(missing_ok=True)
        unfinished.touch(mode=0o600)
        unfinished.write_text(files[file]())
        unfinished.rename(file)
    return missing


def main() -> None:
    """Generate what is missing and print what was generated."""
    for file in write_missing({**airflow_secrets(AIRFLOW), **spark_secrets(SPARK)}):
        print(f"first start: generated {file}")
    if not any(PROJECT.iterdir()):
        subprocess.run(["weir", "init", str(PROJECT)], check=True)


if __name__ == "__main__":
    main()
