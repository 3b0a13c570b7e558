"""The Delta jars, verified against their lock file and put among Spark's jars.

Every session and every spark-submit then has them on the class path without resolving anything.
"""

from __future__ import annotations

import os
import shutil

from setup.java import LAUNCHER
from setup.steps import CACHE, PYTHON, SITE_PACKAGES, VENV, Step
from weir.spark_setup.delta import are_among, delta_jars, others_among
from weir.spark_setup.maven import SparkSubmit

DELTA = delta_jars(CACHE / "ivy")
SPARK_JARS = SITE_PACKAGES / "pyspark" / "jars"


def step() -> Step:
    """Copy the locked jars into the folder of Spark's jars."""
    return Step(
        "jars", "Delta jars", DELTA.lock.read_text, lambda: are_among(DELTA, SPARK_JARS), _install
    )


def spark_submit() -> SparkSubmit:
    """Spark of `.venv`, with the Java of this checkout."""
    inherited = {name: value for name, value in os.environ.items() if name != "SPARK_HOME"}
    return SparkSubmit(
        VENV / "bin" / "spark-submit",
        {
            **inherited,
            "PATH": f"{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "JAVA_HOME": str(LAUNCHER.home),
            "PYSPARK_PYTHON": str(PYTHON),
            "SPARK_LOCAL_DIRS": str(CACHE / "spark"),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "TMPDIR": str(CACHE / "tmp"),
        },
    )


def _install() -> None:
    DELTA.obtain(spark_submit())
    for file in others_among(DELTA, SPARK_JARS):
        file.unlink()
    for jar in DELTA.jars():
        shutil.copyfile(jar.resolved_in(DELTA.folder), SPARK_JARS / jar.name)
