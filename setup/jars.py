"""The seven Delta jars: verified against `jars.lock` and put among Spark's jars.

Every session and every spark-submit then has them on the class path without resolving anything.
"""

from __future__ import annotations

import re
import shutil

from setup.maven import Artifact
from setup.steps import CACHE, SITE_PACKAGES, Step, text_of

DELTA = Artifact(
    "io.delta:delta-spark_4.2_2.13:4.4.0",
    "setup/jars.lock",
    CACHE / "ivy",
    # Dependencies of Delta that come with Spark.
    provided=(
        "org.apache.hadoop:*",
        "com.fasterxml.jackson.*:*",
        "org.apache.logging.log4j:*",
        "org.slf4j:slf4j-api",
        "org.apache.parquet:parquet-hadoop",
        "org.roaringbitmap:RoaringBitmap",
        "org.locationtech.jts:jts-core",
        "com.google.code.findbugs:jsr305",
        "javax.annotation:javax.annotation-api",
    ),
)
SPARK_JARS = SITE_PACKAGES / "pyspark" / "jars"
_OURS = re.compile(r"(delta-|unitycatalog-).*\.jar")


def step() -> Step:
    """Copy the locked jars into the folder of Spark's jars."""
    return Step("jars", "Delta jars", lambda: text_of(DELTA.lock), _are_installed, _install)


def _are_installed() -> bool:
    # Sizes only: this runs at every start, and the content was verified when copied.
    return all(
        (file := SPARK_JARS / jar.name).is_file() and file.stat().st_size == jar.size
        for jar in DELTA.jars()
    )


def _install() -> None:
    DELTA.obtain()
    jars = DELTA.jars()
    for file in SPARK_JARS.iterdir():
        if _OURS.fullmatch(file.name) and file.name not in {jar.name for jar in jars}:
            file.unlink()
    for jar in jars:
        shutil.copyfile(jar.resolved_in(DELTA.folder), SPARK_JARS / jar.name)
