"""The laws of explanations of programs over epochs, by the definition of their rules.

Without the changes that an explanation names, the triple does not change; what its derivation reads
alone has it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.generators.basic_cases import Quad, Triple
from tests.support.laws import Seeds
from tests.support.oracles.histories import states
from tests.support.rules.graph_memory import ProgramMemory
from tests.support.rules.graph_programs import (
    GraphProgramCase,
    derived_triples,
    graph_program_case,
)
from weir.compute.relations import Statement
from weir.compute.sql import column, number, rows_of, select
from weir.definitions.definition import Definition
from weir.definitions.graph_program import GraphProgramBody
from weir.definitions.kinds import PROGRAM
from weir.definitions.names import Declaration
from weir.definitions.program import read
from weir.why.explanation import ChangedRow, Derivation, Event, Explanation
from weir.why.graph_programs import around_opened
from weir.why.plan_surroundings import newest
from weir.why.worlds import STORED

ROWS = 2
"""Triples that are explained of an epoch."""


def definition_of(text: str) -> Definition:
    """The program of a text."""
    return read(Declaration("rules", PROGRAM, Path("programs/rules.lars")), text.encode())


def explained(case: GraphProgramCase, rng: random.Random) -> Iterator[tuple[int, Explanation]]:
    """Why some triples changed, with the epochs at which they did."""
    definition, last = definition_of(case.text), len(case.history)
    assert isinstance(definition.body, GraphProgramBody)
    memory = ProgramMemory(definition.body, case.history)
    memory.run(0, last)
    log = memory.log()
    epochs = sorted({epoch for epoch, _, _ in log} - {1})
    for epoch in rng.sample(epochs, min(2, len(epochs))):
        with memory.running(epoch - 1, epoch):
            engine = memory.engine
            upto = [column("epoch") <= number(epoch)]
            engine.make(Statement(STORED, select("*", from_=rows_of("stored"), where=upto)))
            at = [column("epoch").eq(number(epoch))]
            for table in ("quads", "triples"):
                own = select("*", from_=rows_of(table), where=[one.copy() for one in at])
                engine.make(Statement(newest(table), own))
            around = around_opened(engine, definition, epoch)
            changed = [(weight, row) for of, weight, row in log if of == epoch]
            for weight, row in rng.sample(changed, min(ROWS, len(changed))):
                yield epoch, around.explain(ChangedRow(row, weight))


def without_graph(quads: frozenset[Quad]) -> frozenset[Triple]:
    return frozenset((s, p, o) for _, s, p, o in quads)


def broken_laws(seed: int) -> Iterator[str]:
    """Which triples would have changed all the same, or have no derivation that is one."""
    case, rng = graph_program_case(seed), random.Random(f"why {seed}")
    graphs = [frozenset[Quad](), *states(case.history)]
    negated = any(atom.negated for rule in case.rules for atom in rule.body)
    for epoch, one in explained(case, rng):
        before, after = graphs[epoch - 1], graphs[epoch]
        triple: Triple = tuple(one.row)  # type: ignore[assignment]
        where = f"seed {seed}, epoch {epoch}: {case.text}: {one.weight:+} {triple}"
        named = {change.triple for change in one.changes}
        left_out = frozenset(quad for quad in before ^ after if quad[1:] in named)
        kept = (after - (left_out - before)) | (before & left_out)
        was_there = triple in derived_triples(case, without_graph(before))
        assert was_there == (one.weight < 0), where
        is_there = triple in derived_triples(case, without_graph(kept))
        if not named or (one.is_all and is_there != was_there):
            yield f"{where} changes without {named}"
        if one.match is None or one.match.derivation is None:
            yield f"{where} has no derivation"
            continue
        alone = frozenset(part for part in one.match.parts if not isinstance(part, Event))
        held = after if one.weight > 0 else before
        if not alone <= without_graph(held):
            yield f"{where} is derived from what is not there: {alone}"
        if not negated and triple not in derived_triples(case, alone):
            yield f"{where} does not follow from {alone}"


@pytest.mark.law("explanations of programs over epochs")
def test_without_the_changes_that_are_named_a_triple_does_not_change(seeds: Seeds) -> None:
    seeds.check(broken_laws)


def test_triples_that_follow_are_explained() -> None:
    """A generator whose triples are all read would make the law pass."""
    grounds = [
        ground
        for seed in range(8)
        for _, one in explained(graph_program_case(seed), random.Random(seed))
        if one.match is not None and one.match.derivation is not None
        for needed in one.match.derivation.of
        for ground in (needed, *(needed.of if isinstance(needed, Derivation) else ()))
    ]
    assert sum(isinstance(ground, Derivation) for ground in grounds) > 2
