"""Validation queries: their derived columns, and that both engines return the same rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.opened import engine_of, no_spark
from tests.support.projects.handmade import HandMadeLake
from weir.compute.relations import LakeQuery
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.tables import QUADS, TRANSACTIONS
from weir.project import open_lake
from weir.validate.validation_queries import quad_rows, transaction_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def rows(query: LakeQuery, lake: HandMadeLake) -> list[dict[str, Any]]:
    with engine_of(lake.settings, "validate", no_spark, open_lake(lake.settings)) as engine:
        engine.query("checked", query)
        table = engine.fetch_few("checked", engine.count("checked"))
    assert table is not None
    return sorted(table.to_pylist(), key=repr)


def rows_of_spark(
    query: LakeQuery, lake: HandMadeLake, spark: SparkSession
) -> list[dict[str, Any]]:
    limits = lake.settings.limits.model_copy(update={"driver_rows": 0})
    settings = lake.settings.model_copy(update={"limits": limits})
    with engine_of(settings, "validate", spark, open_lake(lake.settings)) as engine:
        engine.query("checked", query)
        return [row.asDict() for row in engine.frame("checked").collect()]


def write_quads(lake: HandMadeLake, changes: list[tuple[str, int, int]]) -> None:
    """Write quads that differ in subject, epoch and weight only."""
    quads = [
        {"graph": "", "subject": s, "predicate": "p", "object": "o", "epoch": e, "weight": w}
        for s, e, w in changes
    ]
    write(open_lake(lake.settings), QUADS, quads, Metadata("i", "ingest", 9))


def write_transactions(lake: HandMadeLake, *changes: dict[str, Any]) -> None:
    like = {"source": "s", "inserted": 0, "deleted": 0, "rejected": 0, "quads_version": 1}
    write(
        open_lake(lake.settings),
        TRANSACTIONS,
        [like | {"position": str(change["epoch"])} | change for change in changes],
        Metadata("i", "ingest", 9),
    )


def test_a_quad_has_its_changes_at_the_epoch_and_its_previous_weight(
    lake: HandMadeLake,
) -> None:
    write_quads(
        lake,
        [
            ("single", 2, 1),
            ("both", 2, 1),
            ("both", 2, -1),
            ("repeated", 2, 1),
            ("repeated", 3, -1),
        ],
    )
    write_quads(lake, [("repeated", 1, -1), ("single", 4, 1)])
    uses = {
        (r["subject"], r["epoch"], r["at_epoch"], r["weight_before"])
        for r in rows(quad_rows(1, 3), lake)
    }
    both = {key for key in uses if key[0] == "both"}
    assert uses - both == {("single", 2, 1, None), ("repeated", 2, 1, None), ("repeated", 3, 1, 1)}
    assert [key[:3] for key in both] == [("both", 2, 2)] * 2


def test_a_transaction_has_its_predecessor_the_uses_of_its_position_and_its_quads(
    lake: HandMadeLake,
) -> None:
    write_transactions(
        lake,
        {"epoch": 1, "position": "a", "quads_version": 3},
        {"epoch": 2, "quads_version": 4},
        {"epoch": 4, "position": "a", "inserted": 2, "quads_version": 5},
        {"epoch": 5, "quads_version": 5},
        {"epoch": 6},
    )
    write_quads(lake, [("x", 4, 1), ("y", 4, 1), ("z", 4, -1), ("x", 6, -1)])
    columns = (
        "epoch",
        "epoch_before",
        "version_before",
        "at_position",
        "found_inserted",
        "found_deleted",
    )
    uses = [tuple(row[c] for c in columns) for row in rows(transaction_rows(2, 5), lake)]
    assert sorted(uses) == [(4, 2, 4, 2, 2, 1), (5, 4, 5, 1, 0, 0)]


def test_the_first_transaction_follows_epoch_0(lake: HandMadeLake) -> None:
    write_transactions(lake, {"epoch": 1})
    write_quads(lake, [])
    (row,) = rows(transaction_rows(0, 1), lake)
    assert (row["epoch_before"], row["version_before"], row["at_position"]) == (0, None, 1)


def test_both_engines_return_the_same_rows(spark: SparkSession, lake: HandMadeLake) -> None:
    write_quads(lake, [("x", 1, 1), ("x", 3, 1), ("x", 4, -1), ("y", 3, 1), ("y", 3, -1)])
    write_transactions(lake, {"epoch": 1}, {"epoch": 3, "position": "1"}, {"epoch": 4})
    for query in (quad_rows(1, 4), transaction_rows(1, 4)):
        on_spark = rows_of_spark(query, lake, spark)
        # The order of equal rows in a window is undefined.
        in_memory = [row for row in rows(query, lake) if row.get("subject") != "y"]
        compared = sorted((row for row in on_spark if row.get("subject") != "y"), key=repr)
        assert compared == in_memory
