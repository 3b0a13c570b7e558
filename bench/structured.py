"""A user's alternative to a window query: Spark Structured Streaming over the same Delta table.

    python -m bench.structured JOB.json

The same readings per sensor and window of time, by an available-now trigger: every run takes in
what the table has more, appends the windows that are complete and ends. Shuffle partitions are as
many as processors, for a user would see to that; all else is Spark's default.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from weir.lake.delta.session import start

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def aggregate(spark: SparkSession, table: Path, output: Path, predicate: str, width: int) -> None:
    """Bring the output table up to date.

    Args:
        spark: the session.
        table: a Delta table of triples with their time.
        output: gets a Delta table `windows`, and the checkpoint.
        predicate: which triples count, in N-Triples form; they are grouped by their objects.
        width: of the window, in seconds.
    """
    from pyspark.sql import functions as f

    rows = spark.readStream.format("delta").load(str(table))
    counted = (
        rows.where(f.col("predicate") == predicate)
        .select("object", f.timestamp_micros("time").alias("happened"))
        .withWatermark("happened", "0 seconds")
        .groupBy(f.window("happened", f"{width} seconds"), "object")
        .count()
        .select(f.col("window.end").alias("close"), f.col("object").alias("sensor"), "count")
    )
    query = (
        counted.writeStream.format("delta")
        .outputMode("append")
        .option("checkpointLocation", str(output / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(output / "windows"))
    )
    query.awaitTermination()


def main(argv: Sequence[str]) -> int:
    """Run as often as the job says; a file may be copied into a folder before each run."""
    began = float(os.environ["BENCH_BEGAN"])
    job = json.loads(Path(argv[0]).read_text())
    seconds: list[float] = []
    spark: SparkSession | None = None
    for output, arrival in zip_longest(job["outputs"], job["arrivals"]):
        if arrival is not None:
            shutil.copy2(*arrival)
        spark = spark or start("bench", conf={"spark.sql.shuffle.partitions": "2"})
        aggregate(spark, Path(job["table"]), Path(output), job["predicate"], job["width"])
        seconds.append(time.monotonic() - began)
        began = time.monotonic()
    result = {"seconds": seconds, "ended": time.monotonic()}
    Path(job["result"]).write_text(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
