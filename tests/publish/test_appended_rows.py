"""The rows to publish of many queries, read by one statement."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from tests.support.opened import engine_of, no_spark
from tests.support.projects.handmade import HandMadeLake
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.tables import TRANSACTIONS, embeddings
from weir.progress.backlog import Backlog
from weir.progress.watermarks import Watermark
from weir.project import open_lake
from weir.publish.appended_rows import by_query, make_rows_of_many, named
from weir.publish.epoch_times import epoch_times

QUERIES = ("pairs", "names", "one_graph", "two_graphs", "a", "a_b", "a1")


def work(query: str, published: int = 0) -> Backlog:
    metadata = Metadata("m", "maintain", 5, base=1, extra={"columns": [["y", 1], ["x", 0]]})
    before = Metadata("p", "publish", published, extra={"rows": 0})
    return Backlog(
        query, Watermark(5, 1, metadata, 1), Watermark(published, 1, before, 1), False, ""
    )


@pytest.mark.parametrize("seed", range(30))
def test_every_row_is_cut_out_for_its_query(seed: int) -> None:
    chance = random.Random(seed)
    rows = [
        {"query": chance.choice(QUERIES), "epoch": chance.randint(1, 3), "weight": number}
        for number in range(chance.randint(1, 30))
    ]
    of_all = pa.table({name: [row[name] for row in rows] for name in ("query", "epoch", "weight")})
    tables = by_query(of_all)
    for query in QUERIES:
        own = [row for row in rows if row["query"] == query]
        assert sorted(tables[query].to_pylist(), key=repr) == sorted(own, key=repr)


def test_where_there_are_no_rows_no_query_has_any() -> None:
    empty = pa.table({"query": pa.array([], pa.string()), "epoch": pa.array([], pa.int64())})
    assert by_query(empty)["pairs"].num_rows == 0


def test_queries_that_are_read_together_have_their_own_rows_of_the_range(
    lake: HandMadeLake,
) -> None:
    stored = open_lake(lake.settings)
    epochs = [{"epoch": epoch, "source": "s", "position": str(epoch)} for epoch in range(1, 6)]
    write(stored, TRANSACTIONS, epochs, Metadata("i", "ingest", 5))
    for number, query in enumerate(QUERIES):
        rows = [
            {"node": node, "v0": f'"{query}"', "v1": None, "epoch": epoch, "weight": 1 + number}
            for epoch in range(1, 6)
            for node in ("answer", "n1")
        ]
        write(stored, embeddings(query, 2), rows, Metadata("m", "maintain", 5))
    items = [work(query, published) for published, query in enumerate(QUERIES, start=-1)]
    with engine_of(lake.settings, "publish", no_spark, open_lake(lake.settings)) as engine:
        engine.load("times", epoch_times(stored, -1))
        make_rows_of_many(engine, "rows", items, "times")
        rows_of_all = engine.fetch_few("rows", engine.count("rows"))
    assert rows_of_all is not None
    tables = by_query(rows_of_all)
    for number, item in enumerate(items):
        expected = [
            {"y": None, "x": f'"{item.query}"', "epoch": epoch, "weight": 1 + number}
            for epoch in range(1, 6)
            if epoch > item.from_epoch
        ]
        part = named(tables[item.query], item, ("y", "x")).drop_columns(["event_time"])
        assert part.to_pylist() == expected, item.query
