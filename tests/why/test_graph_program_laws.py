"""The laws of explanations of programs over epochs, by the definition of their rules.

Without the changes that an explanation names, the triple does not change; what its derivation reads
alone has it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.generators.basic_cases import PREFIX, Quad, Triple
from tests.support.harness import History
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
from weir.why.explanation import ChangedRow, Derivation, Event, Explanation, Ground
from weir.why.graph_changes import newest
from weir.why.graph_programs import GraphProgramSurroundings, around_opened
from weir.why.worlds import STORED

ROWS = 2
"""Triples that are explained of an epoch."""


def definition_of(text: str) -> Definition:
    """The program of a text."""
    return read(Declaration("rules", PROGRAM, Path("programs/rules.lars")), text.encode())


def maintained(text: str, history: History) -> tuple[Definition, ProgramMemory]:
    """A program over epochs, and its rows over a history."""
    definition = definition_of(text)
    assert isinstance(definition.body, GraphProgramBody)
    memory = ProgramMemory(definition.body, history)
    memory.run(0, len(history))
    return definition, memory


@contextmanager
def around(
    definition: Definition, memory: ProgramMemory, epoch: int
) -> Iterator[GraphProgramSurroundings]:
    """What is around an epoch."""
    with memory.running(epoch - 1, epoch):
        engine = memory.engine
        upto = [column("epoch") <= number(epoch)]
        engine.make(Statement(STORED, select("*", from_=rows_of("stored"), where=upto)))
        at = [column("epoch").eq(number(epoch))]
        for table in ("quads", "triples"):
            own = select("*", from_=rows_of(table), where=[one.copy() for one in at])
            engine.make(Statement(newest(table), own))
        yield around_opened(engine, definition, epoch)


def explained(case: GraphProgramCase, rng: random.Random) -> Iterator[tuple[int, Explanation]]:
    """Why some triples changed, with the epochs at which they did."""
    definition, memory = maintained(case.text, case.history)
    log = memory.log()
    epochs = sorted({epoch for epoch, _, _ in log} - {1})
    for epoch in rng.sample(epochs, min(2, len(epochs))):
        with around(definition, memory, epoch) as surroundings:
            changed = [(weight, row) for of, weight, row in log if of == epoch]
            for weight, row in rng.sample(changed, min(ROWS, len(changed))):
                yield epoch, surroundings.explain(ChangedRow(row, weight))


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
        for seed in (5, 10)
        for _, one in explained(graph_program_case(seed), random.Random(seed))
        if one.match is not None and one.match.derivation is not None
        for needed in one.match.derivation.of
        for ground in (needed, *(needed.of if isinstance(needed, Derivation) else ()))
    ]
    assert sum(isinstance(ground, Derivation) for ground in grounds) > 3


def _chain(first: int, last: int) -> frozenset[Quad]:
    """The edges of a path."""
    nodes = [f"<{PREFIX}n{i}>" for i in range(first, last + 1)]
    return frozenset(("", a, f"<{PREFIX}p>", b) for a, b in pairwise(nodes))


_HEAD = f'%+ graph: urn:d:g\n%+ prefixes: {{"": "{PREFIX}"}}\n%+ output: [l]\nl(X,Y) <- p(X,Y).\n'
_NODES = 36


def _grounds(ground: Ground) -> Iterator[Ground]:
    yield ground
    for needed in ground.of if isinstance(ground, Derivation) else ():
        yield from _grounds(needed)


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize(
    "rules",
    ["l(X,Z) <- l(X,Y), l(Y,Z).", "l(X,Z) <- l(X,Y), m(X,Y), p(Y,Z).\nm(X,Y) <- l(X,Y), p(X,Z)."],
    ids=["each step is one of many", "each step needs the one before it twice"],
)
def test_a_triple_at_the_end_of_a_long_path_has_a_derivation_without_repetitions(
    rules: str,
) -> None:
    history: History = (
        (frozenset(), _chain(0, _NODES - 1)),
        (frozenset(), _chain(_NODES - 1, _NODES)),
    )
    definition, memory = maintained(_HEAD + rules, history)
    with around(definition, memory, 2) as surroundings:
        row = tuple(f"<{PREFIX}{name}>" for name in ("n0", "l", f"n{_NODES}"))
        one = surroundings.explain(ChangedRow(row, 1))
    assert one.match is not None
    assert one.match.derivation is not None
    derived = [g for g in _grounds(one.match.derivation) if isinstance(g, Derivation)]
    assert len(derived) == len({(g.predicate, g.arguments) for g in derived})
    assert len(one.match.derivation.parts) == _NODES
