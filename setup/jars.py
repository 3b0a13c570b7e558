"""The jars that Spark needs, verified against their lock files and put among its own.

Every session and every spark-submit then has them on the class path without resolving anything.
"""

from __future__ import annotations

import os
import shutil

from setup.java import LAUNCHER
from setup.steps import CACHE, PYTHON, SITE_PACKAGES, VENV, Step
from weir.spark_setup.jar_sets import are_among, jar_sets, others_among
from weir.spark_setup.maven import SparkSubmit

JAR_SETS = jar_sets(CACHE / "ivy")
SPARK_JARS = SITE_PACKAGES / "pyspark" / "jars"


def step() -> Step:
    """Copy the locked jars into the folder of Spark's jars."""
    return Step(
        "jars",
        " and ".join(artifact.title for artifact in JAR_SETS),
        lambda: "\0".join(artifact.lock.read_text() for artifact in JAR_SETS),
        lambda: all(are_among(artifact, SPARK_JARS) for artifact in JAR_SETS),
        _install,
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
    for artifact in JAR_SETS:
        artifact.obtain(spark_submit())
        for file in others_among(artifact, SPARK_JARS):
            file.unlink()
        for jar in artifact.jars():
            shutil.copyfile(jar.resolved_in(artifact.folder), SPARK_JARS / jar.name)
