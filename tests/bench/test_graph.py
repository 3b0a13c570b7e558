"""The generated graph of the benchmark, and the two oracles of its answers."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pyoxigraph as ox
import pytest

from bench.graph import Graph, patch
from bench.places import QUERIES
from bench.recompute import query_sql, state_sql

GRAPH = Graph(5_000)


@pytest.fixture(scope="module")
def triples() -> pa.Table:
    return pa.concat_tables(GRAPH.pieces())


def test_the_graph_is_a_set_of_about_the_requested_size(triples: pa.Table) -> None:
    rows = [*zip(*(triples[name].to_pylist() for name in triples.column_names), strict=True)]
    assert len({*rows}) == len(rows)
    assert 4_900 <= len(rows) <= 5_000


def test_the_graph_is_sorted_by_predicate_and_subject(triples: pa.Table) -> None:
    keys = [*zip(triples["predicate"].to_pylist(), triples["subject"].to_pylist(), strict=True)]
    assert keys == sorted(keys)


def test_every_change_changes_the_graph_and_no_triple_twice(triples: pa.Table) -> None:
    held = {*zip(*(triples[name].to_pylist() for name in triples.column_names), strict=True)}
    changes = [change for lines in GRAPH.changes([100] * 10) for change in lines]
    assert len(changes) == 1_000
    seen = {(change.subject, change.predicate, change.object) for change in changes}
    assert len(seen) == len(changes)
    for change in changes:
        there = (change.subject, change.predicate, change.object) in held
        assert there != change.insert


def test_a_patch_names_the_one_before_it() -> None:
    (lines,) = GRAPH.changes([100])
    assert "H prev" not in patch(1, lines)
    assert "H prev <urn:bench:1> ." in patch(2, lines).split("\n")


@pytest.mark.parametrize("query", sorted(QUERIES.glob("*.rq")), ids=lambda file: file.stem)
def test_the_baseline_finds_what_pyoxigraph_finds(query: object, triples: pa.Table) -> None:
    text = query.read_text()  # type: ignore[attr-defined]
    connection = duckdb.connect()
    connection.register("graph", triples)
    sql = query_sql(text, "graph").replace("`", '"')
    result = connection.execute(sql)
    names = [column[0] for column in result.description]
    rows = sorted(result.fetchall())
    store = ox.Store()
    lines = "".join(
        f"{s} {p} {o} .\n"
        for s, p, o in zip(*(triples[n].to_pylist() for n in triples.column_names), strict=True)
    )
    store.load(lines.encode(), format=ox.RdfFormat.N_TRIPLES)
    solutions = store.query(text)
    assert isinstance(solutions, ox.QuerySolutions)
    assert rows == sorted(tuple(str(solution[name]) for name in names) for solution in solutions)
    assert rows


def test_the_state_of_a_log_is_what_was_asserted_and_not_retracted_since() -> None:
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE log AS SELECT * FROM (VALUES"
        " ('a', 'p', 'stays', 1, 1),"
        " ('a', 'p', 'went', 1, 1), ('a', 'p', 'went', 2, -1),"
        " ('a', 'p', 'back', 1, 1), ('a', 'p', 'back', 2, -1), ('a', 'p', 'back', 3, 1)"
        ") AS rows(subject, predicate, object, epoch, weight)"
    )
    changes = connection.execute(state_sql("log").replace("LEFT ANTI", "ANTI")).fetchall()
    assert sorted(row[2] for row in changes) == ["back", "stays"]
