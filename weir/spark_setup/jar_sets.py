"""The sets of jars that Spark needs beside its own, and which of them it has.

Delta's for all lakes, and Hadoop's file system for lakes in S3. Each is resolved without what comes
with Spark, and without the 686 MB in which Amazon has all of its services.
"""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import Final
from zipfile import BadZipFile, ZipFile

from weir.spark_setup.maven import Artifact

_SDK: Final = ("s3", "s3-transfer-manager", "sts", "apache-client", "netty-nio-client")
"""The modules of the AWS SDK that Hadoop's file system uses."""


def jar_sets(folder: Path) -> tuple[Artifact, ...]:
    """All sets, as Ivy downloads them to a folder."""
    # The package may be in a zip, on a cluster.
    locks = files("weir.spark_setup")
    delta = Artifact(
        "Delta jars",
        ("io.delta:delta-spark_4.2_2.13:4.4.0",),
        locks / "delta.lock",
        folder,
        excluded=(
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
    s3 = Artifact(
        "S3 jars",
        (
            "org.apache.hadoop:hadoop-aws:3.5.0",
            *(f"software.amazon.awssdk:{module}:2.35.4" for module in _SDK),
            "software.amazon.s3.analyticsaccelerator:analyticsaccelerator-s3:1.3.1",
        ),
        locks / "s3.lock",
        folder,
        excluded=(
            "software.amazon.awssdk:bundle",
            "org.apache.hadoop:hadoop-client*",
            "org.apache.hadoop:hadoop-common",
            "org.apache.hadoop:hadoop-annotations",
            "org.slf4j:slf4j-api",
            "io.netty:*",
            "commons-logging:commons-logging",
            "commons-codec:commons-codec",
            "org.apache.httpcomponents:*",
            # Optional: TLS by OpenSSL.
            "org.wildfly.openssl:*",
        ),
        schemes=("s3", "s3a"),
        bundle="bundle-2.*.jar",
    )
    return delta, s3


def are_among(artifact: Artifact, jars_of_spark: Path) -> bool:
    """Whether the folder of Spark's own jars has all of a set, and none of another version."""
    needed = artifact.jars()
    if artifact.bundle and any(jars_of_spark.glob(artifact.bundle)):
        needed = tuple(jar for jar in needed if jar.coordinates == artifact.coordinates[0])
    have_sizes = all(jar.has_size_of(jars_of_spark / jar.name) for jar in needed)
    return have_sizes and not others_among(artifact, jars_of_spark)


def others_among(artifact: Artifact, jars_of_spark: Path) -> tuple[Path, ...]:
    """The jars in the folder of Spark's own that are of another version of a set."""
    jars = artifact.jars()
    # The artifact of another version may be for another Spark or Scala: delta-spark_4.0_2.13.
    groups = {jar.artifact.partition("_")[0]: jar.group for jar in jars}
    named = re.compile(rf"({'|'.join(map(re.escape, groups))})[-_]\d.*\.jar")
    ours = {jar.name for jar in jars if jar.has_size_of(jars_of_spark / jar.name)}
    return tuple(
        sorted(
            file
            for file in jars_of_spark.glob("*.jar")
            if file.name not in ours
            and (match := named.fullmatch(file.name))
            and _has_classes_of(groups[match[1]], file)
        )
    )


def _has_classes_of(group: str, file: Path) -> bool:
    """Whether a jar is of a group, which its name lacks: others have an `annotations`, too."""
    folder = f"{group.replace('.', '/')}/"
    try:
        with ZipFile(file) as jar:
            return any(name.startswith(folder) for name in jar.namelist())
    except BadZipFile:
        # Its name is all that is known.
        return True
