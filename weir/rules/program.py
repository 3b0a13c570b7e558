"""The delta of a program over a leg: the rows of its answer log.

A program keeps nothing between runs but its log: what its rules derive at the points of a leg
follows from the atoms that windows have there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.relations import Statement
from weir.compute.sql import (
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
from weir.engine.plan_delta import PlanDelta
from weir.engine.relations import CHANGE, INTERVAL, EpochRange
from weir.engine.sweep import Key, differentiate
from weir.lars.columns import PREDICATE, predicate_term
from weir.lars.program import Program
from weir.plan.scope import Scope
from weir.rules.atoms import AtomReader
from weir.rules.derived import now
from weir.rules.literals import Literals
from weir.rules.points import PointAxis, PointRange
from weir.rules.products import ProductLimit
from weir.rules.relations import Derived, Given, arguments
from weir.rules.strata import derive, shared_kinds
from weir.timeline.legs import Leg, Stamp
from weir.timeline.recording import recorded


@dataclass(frozen=True, slots=True)
class ProgramInputs:
    """The relations that a leg reads, as known at its last epoch.

    Attributes:
        events: relations of the events of the program's streams (`weir.engine.windows.EVENT`): at
            least those that `Program.look_back` asks for; all, if tuples are counted.
        stored: the program's log up to the epoch before the leg: `Program.answer_columns`, instant,
            epoch, weight.
        scope: which triples the atoms of the graph are made of.
    """

    events: tuple[str, ...]
    stored: str
    scope: Scope = field(default_factory=Scope)


def program_delta(
    engine: SqlEngine,
    program: Program,
    axis: PointAxis,
    leg: Leg,
    origin: int,
    inputs: ProgramInputs,
    prefix: str,
    starts: int | None = None,
    products: ProductLimit | None = None,
) -> PlanDelta:
    """The statement that makes the new rows of a leg; what it reads is made right away.

    The result is (predicate, a1, .., instant, epoch, weight): the rows of the points (low, high] as
    they are now, less those that are stored. `instant` is the first one of a point.

    Args:
        engine: has the relations of `inputs`; if the program reads the graph, its logs with points
            in the place of epochs (`weir.timeline.graph_log.GraphLog.on_axis`).
        program: the program.
        axis: its points.
        leg: the epochs and instants, which begin and end with points.
        origin: the first instant that is evaluated.
        inputs: what is read.
        prefix: begins the names of the relations that are made.
        starts: the first instant of the streams, t1 of the definitions, if that is not `origin`.
        products: the limit of products in bodies.

    Raises:
        WeirError: a product exceeds it.
    """
    first = axis.point(max(leg.low, origin))
    leg = _in_points(leg, axis)
    points = PointRange(axis.point(origin if starts is None else starts), first, leg.high)
    given = AtomReader(engine, program, points, axis, prefix, inputs.scope).given(inputs.events)
    log = answer_log(engine, program, axis, given, points, leg.low, prefix, products)
    row = program.answer_columns
    on_axis = f"{prefix}_stored"
    stored = select(
        *columns(row),
        alias(axis.point_sql(column("instant")), "epoch"),
        column("weight"),
        from_=rows_of(inputs.stored),
    )
    engine.make(Statement(on_axis, stored))
    rows = recorded(engine, log, on_axis, row, leg, prefix)
    return PlanDelta((), _with_instants(rows, row, axis), ())


def answer_log(
    engine: SqlEngine,
    program: Program,
    axis: PointAxis,
    given: Given,
    points: PointRange,
    after: int,
    prefix: str,
    products: ProductLimit | None = None,
) -> exp.Query:
    """The log of a program's answers within the points (after, points.last]: row, epoch, weight.

    Args:
        engine: has the relations of `given`.
        program: the program.
        axis: its points.
        given: the atoms that it reads.
        points: from `after` on, or from the start of the stream.
        after: a point; earlier than the start if nothing holds at it.
        prefix: begins the names of the relations that are made.
        products: the limit of products in bodies.
    """
    shared = shared_kinds(program.rules)
    literals = Literals(engine, given, points, axis, prefix, shared, products=products)
    derived = derive(program.rules, literals)
    row = program.answer_columns
    held = [
        _answers(name, program.predicates[name].arity, derived[name], row)
        for name in program.output
        if not derived[name].is_empty
    ]
    if not held:
        return _nothing(row)
    return differentiate(union_all(held), row, EpochRange(after, points.last))


def _in_points(leg: Leg, axis: PointAxis) -> Leg:
    return replace(
        leg,
        low=axis.point(leg.low),
        known=None if leg.known is None else axis.point(leg.known),
        high=axis.point(leg.high),
        stamps=tuple(
            Stamp(axis.point(stamp.after), axis.point(stamp.last), stamp.epoch)
            for stamp in leg.stamps
        ),
    )


def _answers(predicate: str, arity: int, derived: Derived, row: Key) -> exp.Query:
    """When the atoms of a predicate are in the answer."""
    key = arguments(arity)
    return select(
        alias(text(predicate_term(predicate)), PREDICATE),
        *padded_columns(row[1:], key),
        *columns(INTERVAL),
        alias(number(1), "weight"),
        from_=subquery(now(derived, key), "n"),
    )


def _nothing(row: Key) -> exp.Select:
    cells: Sequence[exp.Expr] = [alias(text(""), name) for name in row]
    return select(*cells, *(alias(number(0), name) for name in CHANGE), where=[exp.false()])


def _with_instants(rows: Statement, row: Key, axis: PointAxis) -> Statement:
    query = select(
        *columns(row),
        alias(axis.instant_sql(column("instant")), "instant"),
        *columns(CHANGE),
        from_=subquery(rows.select, "r"),
    )
    return Statement(rows.name, query, rows.keep)
