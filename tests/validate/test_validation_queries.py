"""Validation queries: their derived columns, and that both engines return the same rows."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from jobs.compute.engine import Engine
from jobs.compute.relations import LakeQuery
from jobs.progress.backlog import Backlog
from jobs.progress.watermarks import Watermark
from jobs.validate.validation_queries import AnswerRules, answer_rows, quad_rows, transaction_rows
from lake.commit import write
from lake.metadata import Metadata
from lake.tables import QUADS, TRANSACTIONS, embeddings
from tests.support.projects.handmade import HandMadeLake
from tests.support.projects.ingest import no_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

A, B = "<http://a/a>", "_:b"


def rows(query: LakeQuery, lake: HandMadeLake) -> list[dict[str, Any]]:
    engine = Engine.of(lake.settings, lake.settings.open_lake(), no_spark, "validate")
    engine.query("checked", query)
    found = engine.fetch("checked")
    assert isinstance(found, pa.Table)
    return sorted(found.to_pylist(), key=repr)


def rows_of_spark(
    query: LakeQuery, lake: HandMadeLake, spark: SparkSession
) -> list[dict[str, Any]]:
    limits = lake.settings.limits.model_copy(update={"driver_rows": 0})
    settings = lake.settings.model_copy(update={"limits": limits})
    engine = Engine.of(settings, lake.settings.open_lake(), lambda: spark, "validate")
    engine.query("checked", query)
    found = engine.fetch("checked")
    assert not isinstance(found, pa.Table)
    return [row.asDict() for row in found.collect()]


def write_quads(lake: HandMadeLake, changes: list[tuple[str, int, int]]) -> None:
    """Write quads that differ in subject, epoch and weight only."""
    quads = [
        {"graph": "", "subject": s, "predicate": "p", "object": "o", "epoch": e, "weight": w}
        for s, e, w in changes
    ]
    write(lake.settings.open_lake(), QUADS, quads, Metadata("i", "ingest", 9))


def write_transactions(lake: HandMadeLake, *changes: dict[str, Any]) -> None:
    like = {"source": "s", "inserted": 0, "deleted": 0, "rejected": 0, "quads_version": 1}
    write(
        lake.settings.open_lake(),
        TRANSACTIONS,
        [like | {"position": str(change["epoch"])} | change for change in changes],
        Metadata("i", "ingest", 9),
    )


def work(*, rebuilt: bool, rows_before: int = 0, columns: int = 2) -> Backlog:
    """The backlog of the query q: epochs after 2, or all."""
    metadata = Metadata(
        "m", "maintain", 5, base=1, extra={"columns": [["x", 0], ["y", 1]][:columns]}
    )
    published = Metadata("p", "publish", 2, extra={"rows": rows_before})
    return Backlog("q", Watermark(5, 1, metadata, 1), Watermark(2, 1, published, 1), rebuilt, "")


def write_embeddings(
    lake: HandMadeLake, changes: list[tuple[Any, ...]], *, node: str = "answer"
) -> None:
    """Write changes: epoch, weight, v0, v1."""
    written = [{"node": node, "epoch": e, "weight": w, "v0": x, "v1": y} for e, w, x, y in changes]
    write(lake.settings.open_lake(), embeddings("q", 2), written, Metadata("m", "maintain", 5))


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
    found = {
        (r["subject"], r["epoch"], r["at_epoch"], r["weight_before"])
        for r in rows(quad_rows(1, 3), lake)
    }
    both = {key for key in found if key[0] == "both"}
    assert found - both == {("single", 2, 1, None), ("repeated", 2, 1, None), ("repeated", 3, 1, 1)}
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
    found = [tuple(row[c] for c in columns) for row in rows(transaction_rows(2, 5), lake)]
    assert sorted(found) == [(4, 2, 4, 2, 2, 1), (5, 4, 5, 1, 0, 0)]


def test_the_first_transaction_follows_epoch_0(lake: HandMadeLake) -> None:
    write_transactions(lake, {"epoch": 1})
    write_quads(lake, [])
    (row,) = rows(transaction_rows(0, 1), lake)
    assert (row["epoch_before"], row["version_before"], row["at_position"]) == (0, None, 1)


@pytest.mark.parametrize("seed", range(20))
def test_a_change_of_an_answer_has_the_multiplicity_of_its_row(
    lake: HandMadeLake, seed: int
) -> None:
    """Compared with a plain sum over all rows up to its epoch."""
    rng = random.Random(seed)
    changes = [
        (epoch, rng.choice([-1, 1, 2]), x, y)
        for epoch in range(1, 6)
        for x in (A, B, None)
        for y in (A, None)
        if rng.random() < 0.4
    ]
    write_embeddings(lake, changes)
    write_embeddings(lake, [(3, 1, A, A)], node="n1")
    item = work(rebuilt=bool(seed % 2), rows_before=7)
    rules = AnswerRules("select", False, None)
    found = rows(answer_rows(item, rules), lake)
    expected = Counter(
        (x, y, epoch, weight, sum(w for e, w, *v in changes if e <= epoch and v == [x, y]))
        for epoch, weight, x, y in changes
        if epoch > item.from_epoch
    )
    (total,) = (row for row in found if row["is_total"])
    assert expected == Counter(
        (*row["terms"], row["epoch"], row["weight"], row["multiplicity"])
        for row in found
        if not row["is_total"]
    )
    net = sum(weight for epoch, weight, *_ in changes if epoch > item.from_epoch)
    assert total["rows_at"] == net + (0 if item.rebuilt else 7)


def test_every_change_of_an_ask_has_the_rows_at_its_epoch(lake: HandMadeLake) -> None:
    write_embeddings(lake, [(3, -1, A, None), (3, 1, B, None), (4, -1, B, None)])
    rules = AnswerRules("ask", True, None)
    found = rows(answer_rows(work(rebuilt=False, rows_before=1, columns=1), rules), lake)
    changes = {(row["epoch"], *row["terms"]): row["rows_at"] for row in found if row["terms"]}
    assert changes == {(3, A): 1, (3, B): 1, (4, B): 0}


@pytest.mark.spark
def test_both_engines_return_the_same_rows(spark: SparkSession, lake: HandMadeLake) -> None:
    write_quads(lake, [("x", 1, 1), ("x", 3, 1), ("x", 4, -1), ("y", 3, 1), ("y", 3, -1)])
    write_transactions(lake, {"epoch": 1}, {"epoch": 3, "position": "1"}, {"epoch": 4})
    write_embeddings(lake, [(1, 1, A, None), (3, 1, A, None), (4, -2, A, None), (3, 1, B, A)])
    for query in (
        quad_rows(1, 4),
        transaction_rows(1, 4),
        answer_rows(work(rebuilt=False), AnswerRules("select", False, 3)),
        answer_rows(work(rebuilt=True), AnswerRules("ask", True, None)),
    ):
        on_spark = rows_of_spark(query, lake, spark)
        # The order of equal rows in a window is undefined.
        in_memory = [row for row in rows(query, lake) if row.get("subject") != "y"]
        compared = sorted((row for row in on_spark if row.get("subject") != "y"), key=repr)
        assert compared == in_memory
