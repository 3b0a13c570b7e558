"""The atoms that rules read: of the events of streams, of the graph, and of facts.

An atom of a stream is at a point for each solution of its pattern over the set of triples there. A
tuple is a triple at a point, whether or not it is part of an atom; an atom of several triples is
among the last tuples if all its triples are. A window may count only the triples of some atoms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.relations import Keep, Statement
from weir.compute.sql import (
    alias,
    all_of,
    any_of,
    ascending,
    column,
    columns,
    descending,
    greatest,
    inner_join,
    least,
    number,
    one_of,
    row_number,
    rows_of,
    select,
    subquery,
    text,
    union_all,
)
from weir.engine.coverage import coalesced
from weir.engine.graph import POSITIONS, scope_log
from weir.engine.relations import FOREVER, INTERVAL
from weir.engine.sweep import integrate
from weir.lars.atoms import AtomPattern
from weir.lars.program import CountedRead, Program
from weir.lars.syntax import Atom, CountedAtom
from weir.plan.scope import Scope
from weir.rules.points import PointAxis, PointRange
from weir.rules.relations import NTH, POINT, Counted, Given, arguments
from weir.sparql.algebra.expressions import Constant, Variable
from weir.sparql.algebra.patterns import TriplePattern

_ORDER = ("instant", "epoch", "line")
"""The order of events."""


@dataclass(frozen=True, slots=True)
class AtomReader:
    """Makes the relations of the atoms that a program reads.

    Attributes:
        engine: has the relations that are read.
        program: the program.
        points: at which rules are evaluated.
        axis: turns instants to points.
        prefix: begins the names of relations.
        scope: which triples the atoms of the graph are made of.
        graph: the interval relation of these, if it is made already.
    """

    engine: SqlEngine
    program: Program
    points: PointRange
    axis: PointAxis
    prefix: str
    scope: Scope = field(default_factory=Scope)
    graph: str | None = None

    def given(self, events: Sequence[str]) -> Given:
        """All that the program reads.

        Args:
            events: relations of the events of streams (`weir.engine.windows.EVENT`). If the program
                reads the graph, there are also the logs of it by point.
        """
        program = self.program
        of_stream = [pattern for pattern in program.read_patterns if pattern.origin == "stream"]
        of_graph = [pattern for pattern in program.read_patterns if pattern.origin == "graph"]
        background = facts_of(self.engine, program.rules.facts, self.points.start, self.prefix)
        stream: dict[str, str] = {}
        if of_stream:
            triples = self._triples(of_stream, events)
            stream = {
                pattern.predicate: self._made(f"s{i}", _at_points(pattern, triples))
                for i, pattern in enumerate(of_stream)
            }
        if of_graph:
            graph = self.graph or self._graph(of_graph)
            background |= {
                pattern.predicate: self._made(f"b{i}", during(pattern, graph), _keep(pattern))
                for i, pattern in enumerate(of_graph)
            }
        return Given(stream, background, self._counted(program.counted_reads, events))

    def _made(self, name: str, query: exp.Query, keep: Keep = "cache") -> str:
        relation = f"{self.prefix}_{name}"
        self.engine.make(Statement(relation, query, keep))
        return relation

    def _triples(self, patterns: Sequence[AtomPattern], events: Sequence[str]) -> str:
        """The triples at the points that windows of time may have: `POSITIONS`, point."""
        inside: list[exp.Expr] = [
            column(POINT) >= number(self._oldest),
            column(POINT) <= number(self.points.last),
        ]
        known = predicates_read(patterns)
        if known is not None:
            inside.append(one_of(column("predicate"), sorted(known)))
        distinct = select(
            *columns((*POSITIONS, POINT)),
            from_=subquery(self._at_all_points(events), "e"),
            where=inside,
            distinct=True,
        )
        return self._made("triples", distinct)

    @property
    def _oldest(self) -> int:
        """The first point that a window of time may have."""
        start, back = self.points.start, self.program.look_back.points
        return start if back is None else max(start, self.points.first - back)

    def _at_all_points(self, events: Sequence[str]) -> exp.Query:
        """The triples of events, their points, and their order."""
        return union_all(
            [
                select(
                    *columns((*POSITIONS, *_ORDER)),
                    alias(self.axis.point_sql(column("instant")), POINT),
                    from_=rows_of(name),
                )
                for name in events
            ]
        )

    def _counted(
        self, reads: Sequence[CountedRead], events: Sequence[str]
    ) -> Mapping[tuple[CountedAtom, ...], Counted]:
        """The tuples that windows count, and the atoms in them."""
        if not reads:
            return {}
        order = [ascending(column(name)) for name in _ORDER]
        start, last = number(self.points.start), number(self.points.last)
        numbered = select(
            *columns((*POSITIONS, POINT, *_ORDER)),
            alias(row_number(columns((*POSITIONS, POINT)), order), "occurrence"),
            from_=subquery(self._at_all_points(events), "e"),
            where=[column(POINT) >= start, column(POINT) <= last],
        )
        tuples = self._made("tuples", _first_occurrences(numbered))
        counted: dict[tuple[CountedAtom, ...], Counted] = {}
        for i, read in enumerate(reads):
            nth = self._made(f"c{i}", self._numbered(tuples, read))
            atoms = {
                pattern.predicate: self._made(f"c{i}_s{j}", _at_points(pattern, nth, counts=True))
                for j, pattern in enumerate(read.patterns)
            }
            counted[read.counted] = Counted(nth, atoms)
        return counted

    def _numbered(self, tuples: str, read: CountedRead) -> exp.Query:
        """The tuples that some windows count and may have: `POSITIONS`, point, nth."""
        names = (*POSITIONS, POINT, *_ORDER)
        matches = [_match((triple,)) for triple in read.triples]
        counted = [any_of([all_of(match.on[0]) for match in matches])] if matches else []
        own = matches[0].aliases[0] if matches else None
        later = select(
            *columns(names),
            from_=rows_of(tuples, own),
            where=[column(POINT) >= number(self._oldest), *counted],
        )
        before = select(
            *columns(names),
            from_=rows_of(tuples, own),
            where=[
                column(POINT) < number(self._oldest),
                *(condition.copy() for condition in counted),
            ],
            order_by=[descending(column(name)) for name in _ORDER],
            limit=self.program.look_back.tuples,
        )
        together = union_all([later, select("*", from_=subquery(before, "before"))])
        nth = row_number([], [ascending(column(name)) for name in _ORDER])
        return select(
            *columns((*POSITIONS, POINT)), alias(nth, NTH), from_=subquery(together, "read")
        )

    def _graph(self, patterns: Sequence[AtomPattern]) -> str:
        """The interval relation of the triples that patterns of the graph may match."""
        log = scope_log(self.scope, self.points.last, predicates_read(patterns))
        held = select(
            *columns((*POSITIONS, *INTERVAL)), from_=subquery(integrate(log, POSITIONS), "i")
        )
        return self._made("graph", held)


def facts_of(engine: SqlEngine, facts: Sequence[Atom], start: int, prefix: str) -> dict[str, str]:
    """The relations of the facts of each predicate, which always hold.

    Args:
        engine: makes them.
        facts: in the text of a program.
        start: the first point.
        prefix: begins their names.
    """
    by_predicate: dict[str, dict[tuple[str, ...], None]] = {}
    for fact in facts:
        row = tuple(_constant(term) for term in fact.arguments)
        by_predicate.setdefault(fact.predicate, {})[row] = None
    made = {}
    for i, (predicate, rows) in enumerate(by_predicate.items()):
        made[predicate] = f"{prefix}_f{i}"
        (width,) = {len(terms) for terms in rows}
        columns_ = {
            name: pa.array([terms[place] for terms in rows], pa.string())
            for place, name in enumerate(arguments(width))
        }
        since = pa.array([start] * len(rows), pa.int64())
        until = pa.array([FOREVER] * len(rows), pa.int64())
        engine.load(made[predicate], pa.table({**columns_, "since": since, "until": until}))
    return made


def _at_points(pattern: AtomPattern, triples: str, *, counts: bool = False) -> exp.Query:
    """The atoms of a stream: arguments, point, and if tuples are counted nth."""
    match = _match(pattern.triples)
    key = arguments(len(pattern.arguments))
    (first, *_) = match.aliases
    on = [
        [*conditions, *([column(POINT, table).eq(column(POINT, first))] if i else [])]
        for i, (table, conditions) in enumerate(zip(match.aliases, match.on, strict=True))
    ]
    nth = [alias(least(*(column(NTH, table) for table in match.aliases)), NTH)] if counts else []
    rows = select(
        *match.cells(pattern.arguments),
        column(POINT, first),
        *nth,
        from_=rows_of(triples, first),
        joins=[
            inner_join(rows_of(triples, table), *conditions)
            for table, conditions in zip(match.aliases[1:], on[1:], strict=True)
        ],
        where=on[0],
    )
    if match.is_injective(pattern.arguments):
        return rows
    # Of the ways to make an atom, that of the newest triples.
    newest = [alias(exp.Max(this=column(NTH)), NTH)] if counts else []
    return select(
        *columns((*key, POINT)),
        *newest,
        from_=subquery(rows, "r"),
        group_by=columns((*key, POINT)),
    )


@dataclass(frozen=True, slots=True)
class _Match:
    """A join of triples: an alias and conditions of each pattern, the column of each variable."""

    aliases: tuple[str, ...]
    on: tuple[tuple[exp.Expr, ...], ...]
    bound: Mapping[str, exp.Column]

    def cells(self, names: Sequence[str]) -> list[exp.Expr]:
        """The arguments of an atom."""
        key = arguments(len(names))
        return [
            alias(self.bound[name].copy(), place) for name, place in zip(names, key, strict=True)
        ]

    def is_injective(self, names: Sequence[str]) -> bool:
        """Whether different solutions are different atoms."""
        return {*self.bound} <= {*names}


def _match(patterns: Sequence[TriplePattern]) -> _Match:
    bound: dict[str, exp.Column] = {}
    aliases = tuple(f"t{i}" for i in range(len(patterns)))
    every: list[tuple[exp.Expr, ...]] = []
    for name, pattern in zip(aliases, patterns, strict=True):
        on: list[exp.Expr] = []
        for position, node in zip(POSITIONS, pattern.nodes, strict=True):
            here = column(position, name)
            match node:
                case Constant(term):
                    on.append(here.eq(text(term)))
                case Variable(variable) if variable in bound:
                    on.append(here.eq(bound[variable]))
                case Variable(variable):
                    bound[variable] = here
        every.append(tuple(on))
    return _Match(aliases, tuple(every), bound)


def during(pattern: AtomPattern, graph: str) -> exp.Query:
    """The atoms of the graph: arguments, since, until."""
    match = _match(pattern.triples)
    key = arguments(len(pattern.arguments))
    aliases = match.aliases
    rows = select(
        *match.cells(pattern.arguments),
        alias(greatest(*(column("since", table) for table in aliases)), "since"),
        alias(least(*(column("until", table) for table in aliases)), "until"),
        from_=rows_of(graph, aliases[0]),
        joins=[
            inner_join(rows_of(graph, table), *conditions)
            for table, conditions in zip(aliases[1:], match.on[1:], strict=True)
        ],
        where=match.on[0],
    )
    if _keep(pattern) == "view":
        return rows
    held = select(
        *columns((*key, *INTERVAL)),
        from_=subquery(rows, "r"),
        where=[column("since") < column("until")],
    )
    return coalesced(held, key)


def _keep(pattern: AtomPattern) -> Keep:
    """How the atoms of the graph are stored: those of one triple are its rows."""
    return "view" if is_one_triple(pattern) else "cache"


def is_one_triple(pattern: AtomPattern) -> bool:
    """Whether each atom is one triple."""
    is_own = _match(pattern.triples).is_injective(pattern.arguments)
    return len(pattern.triples) == 1 and is_own


def _first_occurrences(numbered: exp.Query) -> exp.Select:
    return select(
        *columns((*POSITIONS, POINT, *_ORDER)),
        from_=subquery(numbered, "n"),
        where=[column("occurrence").eq(number(1))],
    )


def predicates_read(patterns: Sequence[AtomPattern]) -> frozenset[str] | None:
    """The predicates of the triples that patterns match; None if they may have any."""
    predicates = {triple.predicate for pattern in patterns for triple in pattern.triples}
    terms = {node.term for node in predicates if isinstance(node, Constant)}
    return frozenset(terms) if len(terms) == len(predicates) else None


def _constant(term: Constant | Variable) -> str:
    match term:
        case Constant(value):
            return value
        case Variable(name):
            raise ValueError(f"a fact has no variable: {name}")
