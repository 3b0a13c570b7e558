"""The seven Delta jars of the locked version, and where Spark has them."""

from __future__ import annotations

from pathlib import Path

from weir.spark_setup.maven import Artifact


def delta_jars(folder: Path) -> Artifact:
    """The Delta jars, as Ivy downloads them to a folder."""
    return Artifact(
        "io.delta:delta-spark_4.2_2.13:4.4.0",
        Path(__file__).with_name("jars.lock"),
        folder,
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


def are_among(delta: Artifact, jars_of_spark: Path) -> bool:
    """Whether the folder of Spark's own jars has all of them."""
    return all(jar.has_size_of(jars_of_spark / jar.name) for jar in delta.jars())
