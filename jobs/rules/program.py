"""The delta of a program over a leg: the rows of its answer log.

A program keeps nothing between runs but its log: what its rules derive at the points of a leg
follows from the atoms that windows have there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from jobs.compute.protocol import SqlEngine
from jobs.compute.relations import Statement
from jobs.compute.sql import (
    alias,
    column,
    columns,
    number,
    padded_columns,
    rows_of,
    select,
    subquery,
    text,
    union_all,
)
from jobs.engine.plan_delta import PlanDelta
from jobs.engine.relations import CHANGE, INTERVAL, EpochRange
from jobs.engine.sweep import Key, differentiate
from jobs.lars.atoms import AtomPattern
from jobs.lars.reads import look_back
from jobs.lars.syntax import Stratified
from jobs.rules.atoms import AtomReader
from jobs.rules.derived import now
from jobs.rules.literals import Literals
from jobs.rules.points import PointAxis, PointRange
from jobs.rules.relations import Derived, Given, arguments
from jobs.rules.strata import derive, shared_kinds
from jobs.streams.legs import Leg
from jobs.streams.recording import recorded

PREDICATE = "predicate"
"""The column of an answer's predicate."""


@dataclass(frozen=True, slots=True)
class RunnableProgram:
    """What evaluation needs of a program.

    Attributes:
        rules: the checked rules.
        patterns: of every predicate that is read of streams or of the graph.
        output: the predicates that are published; all are derived by rules.
        axis: the points of the program.
    """

    rules: Stratified
    patterns: tuple[AtomPattern, ...]
    output: tuple[str, ...]
    axis: PointAxis

    @property
    def arities(self) -> Mapping[str, int]:
        """The number of arguments of each derived predicate."""
        heads = (rule.head.atom for rule in self.rules.rules)
        return {atom.predicate: len(atom.arguments) for atom in heads}

    @property
    def row(self) -> Key:
        """The columns of a published atom: predicate, a1, ..; unused ones are null."""
        return (PREDICATE, *arguments(max((self.arities[name] for name in self.output), default=0)))

    @property
    def reads_graph(self) -> bool:
        """Whether the graph decides on answers."""
        return any(each.origin == "graph" for each in self.patterns)


@dataclass(frozen=True, slots=True)
class ProgramInputs:
    """The relations that a leg reads, as known at its last epoch.

    Attributes:
        events: relations of the events of the program's streams (`jobs.engine.windows.EVENT`): at
            least those from `AtomReader.back` on; all, if tuples are counted.
        stored: the program's log up to the epoch before the leg: `RunnableProgram.row`, instant,
            epoch, weight.
    """

    events: tuple[str, ...]
    stored: str


def program_delta(
    engine: SqlEngine,
    program: RunnableProgram,
    leg: Leg,
    start: int,
    inputs: ProgramInputs,
    prefix: str,
) -> PlanDelta:
    """The statement that makes the new rows of a leg; what it reads is made right away.

    The result is (predicate, a1, .., instant, epoch, weight): the rows of the points (low, high] as
    they are now, less those that are stored. `instant` is the first one of a point.

    Args:
        engine: has the relations of `inputs`; if the program reads the graph, `triples` with points
            in the place of epochs (`jobs.streams.graph_log.GraphLog.on_axis`).
        program: the program.
        leg: the epochs, and points in the place of instants.
        start: the first point of the program.
        inputs: what is read.
        prefix: begins the names of the relations that are made.
    """
    points = PointRange(start, max(leg.low, start), leg.high)
    of_streams = [each.predicate for each in program.patterns if each.origin == "stream"]
    back = look_back(program.rules.rules, of_streams)
    reader = AtomReader(engine, points, program.axis, back, prefix)
    given = reader.given(program.patterns, program.rules.facts, inputs.events)
    log = answer_log(engine, program, given, points, leg.low, prefix)
    on_axis = f"{prefix}_stored"
    stored = select(
        *columns(program.row),
        alias(program.axis.point_sql(column("instant")), "epoch"),
        column("weight"),
        from_=rows_of(inputs.stored),
    )
    engine.make(Statement(on_axis, stored))
    rows = recorded(engine, log, on_axis, program.row, leg, prefix)
    return PlanDelta((), _with_instants(rows, program), ())


def answer_log(
    engine: SqlEngine,
    program: RunnableProgram,
    given: Given,
    points: PointRange,
    after: int,
    prefix: str,
) -> exp.Query:
    """The log of a program's answers within the points (after, points.last]: row, epoch, weight.

    Args:
        engine: has the relations of `given`.
        program: the program.
        given: the atoms that it reads.
        points: from `after` on, or from the start of the stream.
        after: a point; earlier than the start if nothing holds at it.
        prefix: begins the names of the relations that are made.
    """
    shared = shared_kinds(program.rules)
    literals = Literals(engine, given, points, program.axis, prefix, shared)
    derived = derive(program.rules, literals)
    held = [
        _answers(program, name, derived[name])
        for name in program.output
        if not derived[name].is_empty
    ]
    epochs = EpochRange(min(after, points.first), points.last) if after < points.last else None
    assert epochs is not None, "a leg has points"
    if not held:
        return _nothing(program.row)
    return differentiate(union_all(held), program.row, epochs)


def _answers(program: RunnableProgram, predicate: str, derived: Derived) -> exp.Query:
    """When the atoms of a predicate are in the answer."""
    key = arguments(program.arities[predicate])
    return select(
        alias(text(predicate), PREDICATE),
        *padded_columns(program.row[1:], key),
        *columns(INTERVAL),
        alias(number(1), "weight"),
        from_=subquery(now(derived, key), "n"),
    )


def _nothing(row: Key) -> exp.Select:
    cells: Sequence[exp.Expr] = [alias(text(""), name) for name in row]
    return select(*cells, *(alias(number(0), name) for name in CHANGE), where=[exp.false()])


def _with_instants(rows: Statement, program: RunnableProgram) -> Statement:
    query = select(
        *columns(program.row),
        alias(program.axis.instant_sql(column("instant")), "instant"),
        *columns(CHANGE),
        from_=subquery(rows.select, "r"),
    )
    return Statement(rows.name, query, rows.keep)
