"""The Delta jars, verified against their lock file and put among Spark's jars.

Every session and every spark-submit then has them on the class path without resolving anything.
"""

from __future__ import annotations

import os
import re
import shutil

from setup.java import LAUNCHER
from setup.steps import CACHE, PYTHON, SITE_PACKAGES, VENV, Step
from weir.spark_setup.delta import are_among, delta_jars
from weir.spark_setup.maven import SparkSubmit

DELTA = delta_jars(CACHE / "ivy")
SPARK_JARS = SITE_PACKAGES / "pyspark" / "jars"
_OURS = re.compile(r"(delta-|unitycatalog-).*\.jar")


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
    jars = DELTA.jars()
    for file in SPARK_JARS.iterdir():
        if _OURS.fullmatch(file.name) and file.name not in {jar.name for jar in jars}:
            file.unlink()
    for jar in jars:
        shutil.copyfile(jar.resolved_in(DELTA.folder), SPARK_JARS / jar.name)
