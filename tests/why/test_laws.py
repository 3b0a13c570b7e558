"""The laws of explanations, over random queries and histories, by another evaluator.

Without the changes that an explanation names, the row does not change; a match alone has the row.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pytest

from tests.support.generators.basic_cases import Case, Quad, case
from tests.support.generators.grammar_cases import WholeCase, whole_case
from tests.support.harness import LOOKED_UP, LogRow, Memory
from tests.support.laws import Seeds
from tests.support.oracles import reference
from tests.support.oracles.answers import Row, comparable
from tests.support.oracles.histories import states
from tests.support.oracles.oxigraph import Oxigraph
from weir.compute.relations import Statement
from weir.compute.sql import column, number, rows_of, select
from weir.definitions.definition import Body
from weir.engine.plan_delta import PlanDelta
from weir.engine.read_graph import changes_relation, read_neighbourhood
from weir.engine.relations import EpochRange
from weir.plan.leaves import Component
from weir.plan.lookups import by_scope
from weir.plan.lower import lower
from weir.plan.plan import Plan
from weir.sparql.frontend.translate import translate
from weir.timeline.evaluation import LegInputs, plan_rows
from weir.why.explanation import ChangedRow, Explanation
from weir.why.graph import around_changes
from weir.why.graph_changes import newest
from weir.why.whole_match import StoredGraph
from weir.why.worlds import STORED, Worlds

ROWS = 2
"""Rows that are explained of an epoch."""


@dataclass(frozen=True, slots=True)
class PlanBody(Body):
    """The body of a query that is not compiled."""

    plan: Plan

    @property
    def components(self) -> Sequence[Component]:
        """The segments of its patterns."""
        return self.plan.components

    @property
    def reads_stored(self) -> bool:
        """Whether it stores rows of its parts."""
        return len(self.plan.stored) > 1

    def delta(self, leg: LegInputs) -> PlanDelta:
        return plan_rows(self.plan, leg, allow_product=True)


def explained(
    plan: Plan, case: Case | WholeCase, epoch: int, rng: random.Random
) -> Iterator[Explanation]:
    """Why some rows of an answer changed at an epoch."""
    memory = Memory(plan, case.history, optimized=False)
    memory.run(0, epoch)
    changed = [row for row in memory.log() if row[0] == epoch]
    if not changed:
        return
    engine = memory.engine
    stored = select("*", from_=rows_of("stored"), where=[column("epoch") <= number(epoch)])
    engine.make(Statement(STORED, stored))
    epochs = EpochRange(epoch - 1, epoch)
    graph = {}
    quads = select("*", from_=rows_of("quads"), where=[column("epoch").eq(number(epoch))])
    engine.make(Statement(newest("quads"), quads))
    for i, (scope, parts) in enumerate(by_scope(plan.components).items()):
        changes = f"scope{i}_changes"
        changes_relation(engine, scope, epochs, changes)
        read = read_neighbourhood(
            engine, parts, plan.lookups, changes, scope, epochs, LOOKED_UP, f"scope{i}"
        )
        graph[scope] = read.relation
    shown = [column for _, column in plan.columns]
    worlds = Worlds(engine, PlanBody(plan), plan.width, shown)
    stored_graph = StoredGraph({"quads": "quads", "triples": "triples"}, scans=True)
    around = around_changes(worlds, graph, epoch, stored_graph)
    for _, weight, row in rng.sample(changed, min(ROWS, len(changed))):
        yield around.explain(ChangedRow(row, weight))


def epochs_of(log: list[LogRow], rng: random.Random) -> list[int]:
    """Two of the epochs that changed an answer, after the first, with which it begins."""
    epochs = sorted({epoch for epoch, _, _ in log} - {1})
    return rng.sample(epochs, min(2, len(epochs)))


class Evaluator:
    """Evaluates a query of a case on any dataset, without Weir's plans and engine."""

    def __init__(self, case: WholeCase, plan: Plan) -> None:
        self._case, self._columns = case, [name for name, _ in plan.columns]
        self._query = translate(case.query, case.default_graph)  # type: ignore[arg-type]

    def answer(self, quads: frozenset[Quad]) -> Counter[Row]:
        if self._case.departure is not None:
            return comparable(reference.rows(self._query, quads, self._columns))
        store = Oxigraph(self._case.default_graph)
        store.apply((frozenset(), quads))
        return comparable(store.answer(self._case.query, self._columns))


def graph_change(
    evaluator: Evaluator, graphs: list[frozenset[Quad]], epoch: int
) -> Mapping[Row, int]:
    """How many copies of each row an epoch added; negative if it took some away."""
    after, before = evaluator.answer(graphs[epoch]), evaluator.answer(graphs[epoch - 1])
    after.subtract(before)
    return after


def broken_laws(seed: int) -> Iterator[str]:
    """Which rows of a case would have changed without the changes that an explanation names."""
    case, rng = whole_case(seed), random.Random(f"why {seed}")
    plan = lower(
        translate(case.query, case.default_graph),  # type: ignore[arg-type]
        allow_product=True,
    )
    memory = Memory(plan, case.history)
    memory.run(0, len(case.history))
    evaluator = Evaluator(case, plan)
    graphs = [frozenset(), *states(case.history)]
    for epoch in epochs_of(memory.log(), rng):
        before = evaluator.answer(graphs[epoch - 1])
        vanish, appear = case.history[epoch - 1]
        for explanation in explained(plan, case, epoch, rng):
            yield from broken_whole_match(evaluator, explanation, graphs, epoch, seed)
            if not explanation.is_all:
                continue
            named = {change.triple for change in explanation.changes}
            left_out = frozenset(quad for quad in vanish | appear if quad[1:] in named)
            without = evaluator.answer(
                (graphs[epoch - 1] - (vanish - left_out)) | (appear - left_out)
            )
            (row,) = comparable(Counter([explanation.row]))
            came = explanation.weight > 0
            left = without[row] - before[row] if came else before[row] - without[row]
            # Rows that differ in blank nodes alone are compared as one; another may still change.
            others = abs(graph_change(evaluator, graphs, epoch)[row]) - 1 if "_:" in row else 0
            still = left > max(others, 0)
            if still or not named:
                yield (
                    f"seed {seed}, epoch {epoch}: {case.query} [{case.default_graph}]: {row}"
                    f" changes by {without[row] - before[row]} without {named}"
                )


def broken_whole_match(
    evaluator: Evaluator,
    explanation: Explanation,
    graphs: list[frozenset[Quad]],
    epoch: int,
    seed: int,
) -> Iterator[str]:
    """Whether a row is not in the answer over its match alone, where that is said to be whole."""
    match = explanation.match
    if match is None or match.is_beside_stored or not match.is_all:
        return
    (row,) = comparable(Counter([explanation.row]))
    held = graphs[epoch] if explanation.weight > 0 else graphs[epoch - 1]
    alone = frozenset(quad for quad in held if quad[1:] in match.triples)
    if not evaluator.answer(alone)[row]:
        yield f"seed {seed}, epoch {epoch}: {row} is not there by {match.triples}"


@pytest.mark.law("explanations")
def test_without_the_changes_that_are_named_a_row_does_not_change(seeds: Seeds) -> None:
    seeds.check(broken_laws)


def broken_matches(seed: int) -> Iterator[str]:
    """Which rows of a case are not in the answer over their match alone, or over less of it.

    Of queries whose operators look back, less may be enough, or more be too much.
    """
    pair, rng = case(seed), random.Random(f"why {seed}")
    plan = lower(translate(pair.query, pair.default_graph))  # type: ignore[arg-type]
    if any(node.has_memory for node in plan.ids):
        return
    memory = Memory(plan, pair.history)
    memory.run(0, len(pair.history))
    columns = [name for name, _ in plan.columns]

    def answer(triples: list[tuple[str, str, str]]) -> Counter[Row]:
        store = Oxigraph("default")
        store.apply((frozenset(), frozenset(("", *triple) for triple in triples)))
        return comparable(store.answer(pair.query, columns))

    for epoch in epochs_of(memory.log(), rng):
        for explanation in explained(plan, pair, epoch, rng):
            (row,) = comparable(Counter([explanation.row]))
            assert explanation.match is not None
            match = explanation.match.triples
            less = [[*match[:i], *match[i + 1 :]] for i in range(len(match))]
            if not answer([*match])[row] or any(answer(fewer)[row] for fewer in less):
                yield f"seed {seed}, epoch {epoch}: {pair.query}: {row} by {match}"


@pytest.mark.law("matches")
def test_a_match_alone_gives_its_row_and_less_of_it_does_not(seeds: Seeds) -> None:
    seeds.check(broken_matches)
