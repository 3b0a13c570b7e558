"""The laws of explanations of answers over streams, by the definitions of windows.

Without the events and the changes of the graph that an explanation names, the row is not in the
log; what a match has alone gives the row.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.support.generators.basic_cases import Quad, Triple
from tests.support.harness import LOOKED_UP
from tests.support.laws import Seeds
from tests.support.oracles import reference
from tests.support.oracles.answers import FALSE, Row, comparable
from tests.support.streams.cases import stream_case
from tests.support.streams.definitions import KnownEvent, Meaning
from tests.support.streams.laws import by_oxigraph
from tests.support.streams.memory import StreamMemory, StreamRow
from tests.why.test_laws import PlanBody
from weir.compute.relations import Statement
from weir.compute.sql import column, number, rows_of, select
from weir.plan.lower import lower
from weir.plan.plan import Plan
from weir.sparql.algebra.queries import Ask, Dataset
from weir.timeline.graph_log import GraphLog
from weir.why.explanation import Change, ChangedRow, Event, Explanation, MovedEvent, Part
from weir.why.moments import Moment
from weir.why.windows import StreamReads, around_moment
from weir.why.worlds import STORED, Worlds

ROWS = 4
"""Rows that are explained of a case."""
SECTIONS = 3
"""Of the history of a case."""


class Explained:
    """A random query over streams, maintained over its history, whose rows are explained."""

    def __init__(self, seed: int) -> None:
        self.case = stream_case(seed, SECTIONS, late=0.7)
        self.query = self.case.parsed()
        self.plan: Plan = lower(self.query, allow_product=True)
        self.columns = [name for name, _ in self.plan.columns]
        self.memory = StreamMemory.of(self.case, self.plan)
        self.memory.run(0, len(self.case.epochs))
        self.rng = random.Random(f"why {seed}")

    def rows(self) -> list[StreamRow]:
        """Some rows of the log."""
        log = self.memory.log()
        return self.rng.sample(log, min(ROWS, len(log)))

    def explain(self, row: StreamRow) -> tuple[Moment, Explanation]:
        """Why a row is in the log."""
        epoch, instant, weight, values = row
        case, memory = self.case, self.memory
        moment = Moment.of(memory.timeline(epoch), instant, epoch)
        with memory.engine.scope() as engine:
            for relation, rows in memory.graph_inputs.items():
                engine.bindings.view(relation, rows)
            events = {stream: f"events_{stream}" for stream in {*case.streams.values()}}
            for stream, name in events.items():
                engine.bindings.view(
                    name,
                    f"SELECT * EXCLUDE (stream), true AS known, epoch < {epoch} AS known_undone"
                    f" FROM events WHERE stream = '{stream}' AND epoch <= {epoch}",
                )
            known = [column("epoch") <= number(epoch)]
            engine.make(Statement(STORED, select("*", from_=rows_of("stored"), where=known)))
            shown = [name for _, name in self.plan.columns]
            worlds = Worlds(engine, PlanBody(self.plan), self.plan.width, shown)
            graph = GraphLog(memory.logs, memory.logs, moment.graph.settled, moment.graph.times)
            reads = StreamReads(case.windows, case.streams, events, graph, LOOKED_UP)
            around = around_moment(worlds, reads, moment)
            return moment, around.explain(ChangedRow(values, weight, instant))

    def answers(self, quads: frozenset[Quad]) -> Iterator[Counter[Row]]:
        """The answer over a dataset, by one evaluator, then by another."""
        if self.case.non_empty and not any(graph for graph, *_ in quads):
            yield Counter({(FALSE,): 1} if isinstance(self.query.form, Ask) else {})
            return
        if self.case.departure is None:
            yield by_oxigraph(self.case, quads, self.columns)
        dataset = Dataset("default", None, tuple(self.case.windows))
        query = replace(self.query, dataset=dataset)
        yield comparable(reference.rows(query, {*quads}, self.columns))

    def meaning(self) -> Meaning:
        """What the query reads."""
        return self.case.meaning()


def changes_by(
    own: Explained, meaning: Meaning, row: Row, epoch: int, instant: int
) -> Iterator[int]:
    """By how much a row changes at an instant as known at an epoch, by one or two evaluators."""
    assert meaning.origin is not None, "there is a row"
    after = own.answers(meaning.dataset(epoch, instant))
    if instant == meaning.origin:
        yield from (answer[row] for answer in after)
        return
    before = own.answers(meaning.dataset(epoch, instant - 1))
    for one, other in zip(after, before, strict=False):
        yield one[row] - other[row]


def named(
    explanation: Explanation,
) -> tuple[set[tuple[str, KnownEvent]], set[tuple[int, Triple]]]:
    """What an explanation names, as the definitions have it."""
    events = {
        (e.stream, (e.instant, e.epoch, e.line, e.triple))
        for e in (c.event for c in explanation.changes if isinstance(c, MovedEvent))
    }
    changes = {(c.epoch, c.triple) for c in explanation.changes if isinstance(c, Change)}
    return events, changes


def broken_laws(seed: int) -> Iterator[str]:
    """Which rows would be in the log without what their explanations name."""
    own = Explained(seed)
    meaning = own.meaning()
    for log_row in own.rows():
        epoch, instant, weight, values = log_row
        moment, explanation = own.explain(log_row)
        yield from broken_matches(own, log_row, explanation)
        if not explanation.is_all:
            continue
        if not explanation.changes:
            # At the first instant, there may be rows of nothing, such as a count.
            if not moment.is_first:
                yield f"seed {seed}: {own.case.query}: {log_row} comes from nothing"
            continue
        (row,) = comparable(Counter([values]))
        if "_:" in repr(row):
            continue
        other = meaning.without(*named(explanation))
        by = 1 if weight > 0 else -1
        lefts = []
        for change in changes_by(own, other, row, epoch, instant):
            lefts.append(by * change)
        if moment.corrects:
            befores = [by * change for change in changes_by(own, meaning, row, epoch - 1, instant)]
            lefts = [left - before for left, before in zip(lefts, befores, strict=False)]
        if min(lefts) > 0:
            yield f"seed {seed}: {own.case.query}: {log_row} is there without {named(explanation)}"


def broken_matches(own: Explained, log_row: StreamRow, explanation: Explanation) -> Iterator[str]:
    """Whether a row is not in the answer over its match alone, or is over less of it.

    Of queries that store rows of parts of the graph, a match does not have their triples. With
    operators that look at several rows, less may give the row, too.
    """
    match = explanation.match
    if match is None or match.is_beside_stored or not match.is_all:
        return
    if len({*own.case.streams.values()}) < len(own.case.windows):
        # An event need not be in all windows over its stream.
        return
    (row,) = comparable(Counter([explanation.row]))

    def is_there(parts: list[Part]) -> bool:
        quads: set[Quad] = set()
        for part in parts:
            if isinstance(part, Event):
                names = (name for name, of in own.case.streams.items() if of == part.stream)
                quads |= {(name, *part.triple) for name in names}
            else:
                quads.add(("", *part))
        return any(answer[row] for answer in own.answers(frozenset(quads)))

    parts = [*match.parts]
    is_monotone = not any(node.has_memory for node in own.plan.ids)
    less = [[*parts[:i], *parts[i + 1 :]] for i in range(len(parts)) if is_monotone]
    if not is_there(parts) or any(map(is_there, less)):
        yield f"seed {own.case.seed}: {own.case.query}: {log_row} by {parts}"


@pytest.mark.law("explanations over streams")
def test_without_what_is_named_a_row_is_not_in_the_log(seeds: Seeds) -> None:
    seeds.check(broken_laws)


REGRESSIONS = {
    30: "events before the instant were missing where one is taken back",
    117: "a row that newly vanishes was looked for where it is not any more",
    5300: "events of the instant that others push out were no steps",
}
"""Seeds of cases that broke a law, and what was wrong."""


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("seed", REGRESSIONS)
def test_a_case_that_once_broke_a_law_keeps_the_laws(seed: int) -> None:
    assert [*broken_laws(seed)] == []
