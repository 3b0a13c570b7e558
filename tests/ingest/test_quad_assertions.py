"""States and changes as quad assertions, on DuckDB, against dictionaries in Python."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.opened import engine_of, no_spark
from weir.compute.relations import Statement
from weir.compute.sql import columns, rows_of, select, union_all
from weir.ingest import netting
from weir.ingest.file_rows import SCHEMA
from weir.ingest.netting import QUAD
from weir.ingest.quad_assertions import DatedState, state_assertions
from weir.ingest.reading import Carried
from weir.ingest.rows import CHANGE_COLUMNS
from weir.lake.delta.commit import arrow_schema
from weir.lake.tables import QUADS as LOG
from weir.project import open_lake
from weir.settings import Settings

Quad = tuple[str, str, str, str]
GRAPHS = ["", "<g>", "<h>"]
HEAD = 7

QUADS = st.builds(
    lambda graph, number: (graph, "<s>", "<p>", f'"{number}"'),
    st.sampled_from(GRAPHS),
    st.integers(0, 2),
)
CONTENTS = st.frozensets(QUADS, max_size=6)
STATES = st.lists(
    st.tuples(st.none() | st.frozensets(st.sampled_from(GRAPHS)), CONTENTS), min_size=1, max_size=5
)


def covers(graphs: frozenset[str] | None, quad: Quad) -> bool:
    return graphs is None or quad[0] in graphs


def states_after(
    before: frozenset[Quad], states: Iterable[tuple[frozenset[str] | None, frozenset[Quad]]]
) -> list[frozenset[Quad]]:
    after = [before]
    for graphs, content in states:
        kept = {quad for quad in after[-1] if not covers(graphs, quad)}
        after.append(frozenset(kept | {quad for quad in content if covers(graphs, quad)}))
    return after


def table(columns: Sequence[str], rows: Sequence[tuple[object, ...]]) -> pa.Table:
    schema = pa.schema([SCHEMA.field(name) for name in columns])
    values = [dict(zip(columns, row, strict=True)) for row in rows]
    return pa.Table.from_pylist(values, schema=schema)


def log_of(held: frozenset[Quad]) -> pa.Table:
    """A log in which all quads appeared, and those that are not held vanished."""
    quads = [(graph, "<s>", "<p>", f'"{number}"') for graph in GRAPHS for number in range(3)]
    changes = [(quad, 1) for quad in quads] + [(q, -1) for q in quads if q not in held]
    rows = [dict(zip(QUAD, quad, strict=True), weight=weight) for quad, weight in changes]
    return pa.Table.from_pylist(rows, schema=arrow_schema(LOG))


def netted(
    before: frozenset[Quad],
    rows: Sequence[tuple[int, int, Quad]],
    states: Sequence[DatedState],
    carried: Sequence[Carried] = (),
) -> list[frozenset[Quad]]:
    """The states at the epochs from `HEAD` on."""
    with tempfile.TemporaryDirectory() as folder:
        configuration = Settings(lake=folder)
        with engine_of(configuration, "ingest", no_spark, open_lake(configuration)) as engine:
            changes = [(ordinal, document, 0, True, *quad) for ordinal, document, quad in rows]
            engine.load("changes", table(CHANGE_COLUMNS[:-1], changes))
            engine.load("stored", log_of(before))
            parts = state_assertions(engine, "changes", "stored", states, carried)
            log = []
            if parts:
                engine.make(Statement("log", netting.log_of(union_all(parts))))
                whole = select(*columns((*QUAD, "epoch", "weight")), from_=rows_of("log"))
                log = engine.rows(whole)
    by_epoch = [before]
    for state in states:
        held = {*by_epoch[-1]}
        for *quad, epoch, weight in log:
            if epoch == state.epoch:
                assert (tuple(quad) in held) == (weight == -1), "each row changes something"
                (held.add if weight == 1 else held.remove)(tuple(quad))  # type: ignore[arg-type]
        by_epoch.append(frozenset(held))
    return by_epoch


@settings(max_examples=40, deadline=None)
@given(before=CONTENTS, states=STATES)
def test_a_state_replaces_the_graphs_that_it_covers_and_no_other(
    before: frozenset[Quad], states: list[tuple[frozenset[str] | None, frozenset[Quad]]]
) -> None:
    rows = [(i, i, quad) for i, (_, content) in enumerate(states) for quad in sorted(content)]
    dated = [DatedState(i, HEAD + i, graphs) for i, (graphs, _) in enumerate(states)]
    assert netted(before, rows, dated) == states_after(before, states)


def test_a_carried_document_counts_for_a_state_within_the_graphs_that_it_covers() -> None:
    one, two = (("<g>", "<s>", "<p>", '"1"'), ("<h>", "<s>", "<p>", '"2"'))
    rows = [(0, 0, two), (-1, 1, one), (-1, 1, two)]
    states = [
        DatedState(0, HEAD, frozenset({"<g>", "<h>"})),
        DatedState(1, HEAD + 1, frozenset({"<h>"})),
    ]
    states_of_log = netted(frozenset(), rows, states, [Carried(1, 0)])
    assert states_of_log == [frozenset(), frozenset({one, two}), frozenset({one})]
