"""The rows of answers that are checked: derived columns, and many queries in one statement."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.opened import engine_of, no_spark
from tests.support.projects.handmade import HandMadeLake
from weir.compute.indexes import IndexMode
from weir.compute.packs import packs
from weir.compute.session import Spark
from weir.definitions.definition import Guards
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.tables import embeddings
from weir.progress.backlog import Backlog
from weir.progress.watermarks import Watermark
from weir.project import open_lake
from weir.validate.answer_rows import (
    AnswerRules,
    Checked,
    kind_of,
    make_answer_rows,
    stored_rows,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

A, B = "<http://a/a>", "_:b"
SELECT = AnswerRules("select", False)
Change = tuple[int, int, str | None, str | None]
"""Epoch, weight, v0, v1."""


def rows(
    lake: HandMadeLake,
    *checked: Checked,
    spark: Spark = no_spark,
    driver_rows: int = 1000,
    index: IndexMode = "off",
) -> list[dict[str, Any]]:
    lake.project.configure(driver_rows=driver_rows)
    settings = lake.settings.model_copy(update={"index": index})
    with engine_of(settings, "validate", spark) as engine:
        make_answer_rows(engine, "checked", checked)
        if driver_rows:
            held = engine.held(["checked"])
            assert held is not None
            values = held.query("SELECT * FROM checked_rows")
            as_dicts = [dict(zip(held.column_names, value, strict=True)) for value in values]
        else:
            as_dicts = [row.asDict() for row in engine.frame("checked").collect()]
    return sorted(as_dicts, key=repr)


def work(*, rebuilt: bool, rows_before: int = 0, columns: int = 2, query: str = "q") -> Backlog:
    """The backlog of a query: epochs after 2, or all."""
    metadata = Metadata(
        "m", "maintain", 5, base=1, extra={"columns": [["x", 0], ["y", 1]][:columns]}
    )
    published = Metadata("p", "publish", 2, extra={"rows": rows_before})
    return Backlog(query, Watermark(5, 1, metadata, 1), Watermark(2, 1, published, 1), rebuilt, "")


def write_embeddings(
    lake: HandMadeLake, changes: list[Change], *, node: str = "answer", query: str = "q"
) -> None:
    written = [{"node": node, "epoch": e, "weight": w, "v0": x, "v1": y} for e, w, x, y in changes]
    write(open_lake(lake.settings), embeddings(query, 2), written, Metadata("m", "maintain", 5))


def random_changes(rng: random.Random) -> list[Change]:
    return [
        (epoch, rng.choice([-1, 1, 2]), x, y)
        for epoch in range(1, 6)
        for x in (A, B, None)
        for y in (A, None)
        if rng.random() < 0.4
    ]


@pytest.mark.parametrize("seed", range(20))
def test_a_change_of_an_answer_has_the_multiplicity_of_its_row(
    lake: HandMadeLake, seed: int
) -> None:
    """Compared with a plain sum over all rows up to its epoch."""
    rng = random.Random(seed)
    changes = random_changes(rng)
    write_embeddings(lake, changes)
    write_embeddings(lake, [(3, 1, A, A)], node="n1")
    item = work(rebuilt=bool(seed % 2), rows_before=7)
    checked = rows(lake, (item, SELECT))
    expected = Counter(
        (x, y, epoch, weight, sum(w for e, w, *v in changes if e <= epoch and v == [x, y]))
        for epoch, weight, x, y in changes
        if epoch > item.from_epoch
    )
    (total,) = (row for row in checked if row["is_total"])
    assert expected == Counter(
        (*row["terms"], row["epoch"], row["weight"], row["multiplicity"])
        for row in checked
        if not row["is_total"]
    )
    net = sum(weight for epoch, weight, *_ in changes if epoch > item.from_epoch)
    assert total["rows_at"] == net + (0 if item.rebuilt else 7)


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("rebuilt", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_queries_that_are_read_together_have_the_rows_that_each_has_alone(
    lake: HandMadeLake, seed: int, rebuilt: bool
) -> None:
    rng = random.Random(seed)
    checked = []
    for number in range(5):
        query = f"q{number}"
        write_embeddings(lake, [*random_changes(rng), (1, 1, A, A)], query=query)
        write_embeddings(lake, random_changes(rng), query=query, node="n1")
        item = work(rebuilt=rebuilt, rows_before=number, query=query)
        checked.append((item, AnswerRules("select", bool(number % 2), Guards(number or None))))
    alone = [row for query in checked for row in rows(lake, query)]
    assert rows(lake, *checked) == sorted(alone, key=repr)


@pytest.mark.parametrize("seed", range(10))
def test_stored_rows_that_an_index_finds_are_those_that_a_scan_finds(
    lake: HandMadeLake, seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of answers with one and two columns; unbound values are found, too."""
    rng = random.Random(seed)
    columns = 1 + seed % 2
    changes = [*random_changes(rng), (1, 1, A, None), (3, 1, A, None)]
    if columns == 1:
        changes = [(epoch, weight, x, None) for epoch, weight, x, _ in changes]
    write_embeddings(lake, changes)
    write_embeddings(lake, random_changes(rng), node="n1")
    checked = work(rebuilt=False, columns=columns), SELECT
    expected = rows(lake, checked)
    for _ in range(2):
        assert rows(lake, checked, index="on") == expected
        write_embeddings(lake, [(6, 1, A, A)])
    assert "is not used" not in "".join(capsys.readouterr())
    (note,) = (lake.settings.cache / "index").rglob("index.json")
    assert note.parent.relative_to(note.parents[3]).as_posix() == "embeddings/q/node"


def test_an_answer_with_an_index_is_checked_alone(lake: HandMadeLake) -> None:
    """Its rows are looked up; those of small ones are read together."""
    sizes = {"large": 3, "small": 1, "other": 1}
    for query, count in sizes.items():
        write_embeddings(lake, [(3, 1, f"<urn:{i}>", None) for i in range(count)], query=query)
    works = [(work(rebuilt=False, query=query), SELECT) for query in sizes]
    lake.project.configure(index_rows=2)
    with engine_of(lake.settings, "validate") as engine:
        for looked_up, groups in (
            (True, [["large"], ["small", "other"]]),
            (False, [["large", "small", "other"]]),
        ):
            packed = packs(
                engine, works, kind_of, lambda item: stored_rows(item[0]), looked_up=looked_up
            )
            assert [[item.query for item, _ in pack] for pack in packed] == groups


def test_every_change_of_an_ask_has_the_rows_at_its_epoch(lake: HandMadeLake) -> None:
    write_embeddings(lake, [(3, -1, A, None), (3, 1, B, None), (4, -1, B, None)])
    rules = AnswerRules("ask", True)
    checked = rows(lake, (work(rebuilt=False, rows_before=1, columns=1), rules))
    changes = {(row["epoch"], *row["terms"]): row["rows_at"] for row in checked if row["terms"]}
    assert changes == {(3, A): 1, (3, B): 1, (4, B): 0}


def test_an_answer_without_a_new_row_has_a_total(lake: HandMadeLake) -> None:
    write_embeddings(lake, [(1, 1, A, A)])
    (total,) = rows(lake, (work(rebuilt=False, rows_before=1), SELECT))
    assert (total["is_total"], total["rows_at"]) == (True, 1)


def test_both_engines_return_the_same_rows(spark: SparkSession, lake: HandMadeLake) -> None:
    changes: list[Change] = [(1, 1, A, None), (3, 1, A, None), (4, -2, A, None), (3, 1, B, A)]
    for query in ("q", "r"):
        write_embeddings(lake, changes, query=query)
    some = [
        (work(rebuilt=False, query=q), AnswerRules("select", False, Guards(3))) for q in ("q", "r")
    ]
    for checked in (some, some[:1], [(work(rebuilt=True), AnswerRules("ask", True))]):
        on_spark = rows(lake, *checked, spark=spark, driver_rows=0)
        assert on_spark == rows(lake, *checked)
