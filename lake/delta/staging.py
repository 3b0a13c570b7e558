"""The folder for rows that are too many for memory, until a run has committed them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FOLDER = "_staging"


def staging_folder(root: str, job: str) -> str:
    """Folder or URI of a job's staged rows; only one run of a job is active at a time."""
    return f"{root.rstrip('/')}/{_FOLDER}/{job}"


def stage(frame: DataFrame, address: str) -> None:
    """Write the rows of a frame to a folder.

    In some object stores (SeaweedFS) the folders within one that was removed are still there,
    empty: Spark would refuse to write to it again.
    """
    frame.write.mode("overwrite").parquet(address)


def remove(spark: SparkSession, address: str) -> None:
    """Remove a folder with its content, if it exists."""
    jvm = spark._jvm
    assert jvm is not None, "no session"
    path = jvm.org.apache.hadoop.fs.Path(address)
    path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf()).delete(path, True)
