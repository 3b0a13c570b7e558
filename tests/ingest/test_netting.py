"""Netting on DuckDB against sets in Python, over random histories cut into random batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from weir.ingest import netting
from weir.ingest.netting import QUAD, TRIPLE
from weir.ingest.sources.bags import bag_assertions

pytestmark = pytest.mark.usefixtures("sampled")

Quad = tuple[str, str, str, str]
Operation = tuple[bool, Quad]
Log = list[tuple[object, ...]]

TERM = "VARCHAR"
QUADS = st.builds(
    lambda graph, object_: (graph, "<s>", "<p>", object_),
    st.sampled_from(["", "<g>", "<h>"]),
    st.sampled_from(['"1"', '"2"', r'"\\n"']),
)
CHANGE_SETS = st.lists(st.lists(st.tuples(st.booleans(), QUADS), max_size=6), max_size=7)
STATES = st.lists(st.frozensets(QUADS, max_size=6), min_size=1, max_size=6)


class Lake:
    """`quads` and `triples` in DuckDB, and what ingest does to them per batch."""

    def __init__(self) -> None:
        self.sql = duckdb.connect(config={"threads": 1})
        columns = ", ".join(f"{name} {TERM}" for name in QUAD)
        triple = ", ".join(f"{name} {TERM}" for name in TRIPLE)
        self.sql.execute(f"CREATE TABLE quads ({columns}, epoch BIGINT, weight INT)")
        self.sql.execute(f"CREATE TABLE triples ({triple}, epoch BIGINT, weight INT)")
        self.sql.execute(
            f"CREATE TABLE operations (epoch BIGINT, line BIGINT, insert BOOLEAN, {columns})"
        )
        self.sql.execute(f"CREATE TABLE states (version BIGINT, weight INT, {columns})")
        self.sql.execute("CREATE TABLE versions (version BIGINT, epoch BIGINT)")
        self.sql.execute(f"CREATE TABLE changes (epoch BIGINT, sign INT, {columns})")
        self.sql.execute(f"CREATE TABLE held ({columns})")

    def fill(self, table: str, rows: Iterable[Sequence[object]]) -> None:
        self.sql.execute(f"DELETE FROM {table}")
        rows = list(rows)
        if rows:
            row = f"({', '.join('?' * len(rows[0]))})"
            values = [value for row in rows for value in row]
            self.sql.execute(f"INSERT INTO {table} VALUES {', '.join([row] * len(rows))}", values)

    def make(self, table: str, statement: exp.Query) -> None:
        self.sql.execute(f"CREATE OR REPLACE TABLE {table} AS {statement.sql('duckdb')}")

    def net(self) -> None:
        """Append the net effect of `operations`."""
        epochs = self.sql.execute("SELECT DISTINCT epoch FROM operations").fetchall()
        only = netting.only_epoch(epoch for (epoch,) in epochs)
        self.make("present", netting.present("quads"))
        is_one = only is not None
        self.append(netting.net_quads("operations", "present", is_one_epoch=is_one), only)

    def append(self, net: exp.Query, only: int | None) -> None:
        """Append changes of quads, and those of the triples."""
        self.make("net", net)
        self.sql.execute("INSERT INTO quads BY NAME SELECT * FROM net")
        self.make("net_triples", netting.net_triples("net", "present", only))
        self.sql.execute("INSERT INTO triples BY NAME SELECT * FROM net_triples")

    def log(self, table: str) -> Log:
        return sorted(self.sql.execute(f"SELECT * FROM {table}").fetchall())


def expected_logs(states: Sequence[frozenset[Quad]]) -> tuple[Log, Log]:
    """The logs of quads and triples whose state at epoch i + 1 is `states[i]`."""
    quads: Log = []
    triples: Log = []
    before: frozenset[Quad] = frozenset()
    for epoch, state in enumerate(states, start=1):
        quads += [(*quad, epoch, 1) for quad in state - before]
        quads += [(*quad, epoch, -1) for quad in before - state]
        union, union_before = ({quad[1:] for quad in graph} for graph in (state, before))
        triples += [(*triple, epoch, 1) for triple in union - union_before]
        triples += [(*triple, epoch, -1) for triple in union_before - union]
        before = state
    return sorted(quads), sorted(triples)


def states_after(change_sets: Sequence[Sequence[Operation]]) -> list[frozenset[Quad]]:
    states = []
    state: set[Quad] = set()
    for change_set in change_sets:
        for insert, quad in change_set:
            (state.add if insert else state.discard)(quad)
        states.append(frozenset(state))
    return states


def batches(data: st.DataObject, count: int) -> list[range]:
    """The indices 0..count-1 cut at random."""
    cuts = sorted(data.draw(st.sets(st.integers(1, max(count - 1, 1)))))
    bounds = [0, *(cut for cut in cuts if cut < count), count]
    return [range(low, high) for low, high in pairwise(bounds)]


@settings(max_examples=80, deadline=None)
@given(change_sets=CHANGE_SETS, data=st.data())
def test_netted_patches_are_the_log_of_the_sets_for_any_division_into_batches(
    change_sets: list[list[Operation]], data: st.DataObject
) -> None:
    lake = Lake()
    for batch in batches(data, len(change_sets)):
        operations = [
            (index + 1, line, insert, *quad)
            for index in batch
            for line, (insert, quad) in enumerate(change_sets[index], start=1)
        ]
        lake.fill("operations", data.draw(st.permutations(operations)))
        lake.net()
    assert (lake.log("quads"), lake.log("triples")) == expected_logs(states_after(change_sets))


@settings(max_examples=80, deadline=None)
@given(states=STATES, data=st.data())
def test_netted_snapshots_are_the_log_of_the_sets_for_any_division_into_batches(
    states: list[frozenset[Quad]], data: st.DataObject
) -> None:
    lake = Lake()
    for batch in batches(data, len(states)):
        rows = [(i, 1, *q) for i, index in enumerate(batch, start=1) for q in sorted(states[index])]
        lake.make("present", netting.present("quads"))
        log = f"SELECT 0, weight, {', '.join(QUAD)} FROM quads"
        stored = lake.sql.execute(log).fetchall()
        lake.fill("states", rows + rows[:3] + stored)
        lake.fill("versions", [(i, index + 1) for i, index in enumerate(batch, start=1)])
        differences = netting.one_state_assertions if len(batch) == 1 else netting.state_assertions
        only = netting.only_epoch(index + 1 for index in batch)
        lake.append(netting.log_of(differences("states", "versions")), only)
    assert (lake.log("quads"), lake.log("triples")) == expected_logs(states)


@settings(max_examples=40, deadline=None)
@given(states=STATES)
def test_of_one_graph_each_quad_is_a_triple(states: list[frozenset[Quad]]) -> None:
    one = [frozenset(("<g>", *quad[1:]) for quad in state) for state in states]
    quads, triples = expected_logs(one)
    lake = Lake()
    lake.fill("quads", quads)
    lake.make("triples", netting.triples_of_one_graph("quads"))
    assert lake.log("triples") == triples


@settings(max_examples=80, deadline=None)
@given(
    commits=st.lists(st.lists(st.tuples(st.booleans(), QUADS), max_size=5), max_size=6),
    data=st.data(),
)
def test_a_foreign_table_holds_a_quad_as_long_as_one_row_of_it_is_left(
    commits: list[list[Operation]], data: st.DataObject
) -> None:
    bag: Counter[Quad] = Counter()
    states, changes, bags = [], [], []
    for epoch, commit in enumerate(commits, start=1):
        for insert, quad in commit:
            if insert or bag[quad] > 0:
                bag[quad] += 1 if insert else -1
                changes.append((epoch, 1 if insert else -1, *quad))
        states.append(frozenset(quad for quad, rows in bag.items() if rows > 0))
        bags.append(list(bag.elements()))
    lake = Lake()
    for batch in batches(data, len(commits)):
        lake.fill("changes", [row for row in changes if row[0] - 1 in batch])
        lake.fill("held", bags[batch[-1]] if batch else [])
        lake.sql.execute("DELETE FROM operations")
        operations = bag_assertions("changes", "held").sql("duckdb")
        lake.sql.execute(f"INSERT INTO operations BY NAME {operations}")
        lake.net()
    assert (lake.log("quads"), lake.log("triples")) == expected_logs(states)


@pytest.mark.parametrize("last", [True, False])
def test_the_last_line_of_a_change_set_wins(last: bool) -> None:
    lake = Lake()
    quad = ("", "<s>", "<p>", "<o>")
    lake.fill("operations", [(1, 2, last, *quad), (1, 1, not last, *quad)])
    lake.net()
    assert lake.log("quads") == ([(*quad, 1, 1)] if last else [])
