"""The seven Delta jars of the locked version, and where Spark has them."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from weir.spark_setup.maven import Artifact


def delta_jars(folder: Path) -> Artifact:
    """The Delta jars, as Ivy downloads them to a folder."""
    return Artifact(
        "io.delta:delta-spark_4.2_2.13:4.4.0",
        # The package may be in a zip, on a cluster.
        files("weir.spark_setup") / "jars.lock",
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
    """Whether the folder of Spark's own jars has all of them, and none of another version."""
    have_sizes = all(jar.has_size_of(jars_of_spark / jar.name) for jar in delta.jars())
    return have_sizes and not others_among(delta, jars_of_spark)


def others_among(delta: Artifact, jars_of_spark: Path) -> tuple[Path, ...]:
    """The jars in the folder of Spark's own that are of another version of them."""
    jars = delta.jars()
    # The artifact of another version may be for another Spark or Scala: delta-spark_4.0_2.13.
    names = {jar.artifact.partition("_")[0] for jar in jars}
    files = {file for name in names for file in jars_of_spark.glob(f"{name}[-_]*.jar")}
    ours = {jars_of_spark / jar.name for jar in jars if jar.has_size_of(jars_of_spark / jar.name)}
    return tuple(sorted(files - ours))
