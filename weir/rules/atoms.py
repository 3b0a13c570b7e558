"""The atoms that rules read: of the events of streams, of the graph, and of facts.

An atom of a stream is at a point for each solution of its pattern over the set of triples there. A
tuple is a triple at a point, whether or not it is part of an atom; an atom of several triples is
among the last tuples if all its triples are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.relations import Keep, Statement
from weir.compute.sql import (
    alias,
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
from weir.lars.reads import LookBack
from weir.lars.syntax import Atom
from weir.plan.scope import Scope
from weir.rules.points import PointAxis, PointRange
from weir.rules.relations import NTH, POINT, Given, arguments
from weir.sparql.algebra.expressions import Constant, Variable
from weir.sparql.algebra.patterns import TriplePattern

_ORDER = ("instant", "epoch", "line")
"""The order of events."""


@dataclass(frozen=True, slots=True)
class AtomReader:
    """Makes the relations of the atoms that a program reads.

    Attributes:
        engine: has the relations that are read.
        points: at which rules are evaluated.
        axis: turns instants to points.
        back: how far the windows of the program look back.
        prefix: begins the names of relations.
        graph: the interval relation of the graph, if it is made already.
    """

    engine: SqlEngine
    points: PointRange
    axis: PointAxis
    back: LookBack
    prefix: str
    graph: str | None = None

    def given(
        self, patterns: Iterable[AtomPattern], facts: Sequence[Atom], events: Sequence[str]
    ) -> Given:
        """All that a program reads.

        Args:
            patterns: of the predicates that are read of streams or of the graph.
            facts: of the program.
            events: relations of the events of streams (`weir.engine.windows.EVENT`). If `patterns`
                has one of the graph, there is also the log `triples` by point.
        """
        of_stream = [pattern for pattern in patterns if pattern.origin == "stream"]
        of_graph = [pattern for pattern in patterns if pattern.origin == "graph"]
        background = self._facts(facts)
        stream: dict[str, str] = {}
        tuples = None
        if of_stream:
            triples = self._triples(of_stream, events)
            stream = {
                pattern.predicate: self._made(f"s{i}", self._at_points(pattern, triples))
                for i, pattern in enumerate(of_stream)
            }
            if self.back.tuples:
                tuples = triples
        if of_graph:
            graph = self.graph or self._graph(of_graph)
            background |= {
                pattern.predicate: self._made(f"b{i}", _during(pattern, graph), _keep(pattern))
                for i, pattern in enumerate(of_graph)
            }
        return Given(stream, background, tuples)

    def _made(self, name: str, query: exp.Query, keep: Keep = "cache") -> str:
        relation = f"{self.prefix}_{name}"
        self.engine.make(Statement(relation, query, keep))
        return relation

    def _triples(self, patterns: Sequence[AtomPattern], events: Sequence[str]) -> str:
        """The triples at points that windows may have: subject, predicate, object, point, nth."""
        first, start = self.points.first, self.points.start
        oldest = start if self.back.points is None else max(start, first - self.back.points)
        known = predicates_read(patterns)
        at_points = union_all(
            [
                select(
                    *columns((*POSITIONS, *_ORDER)),
                    alias(self.axis.point_sql(column("instant")), POINT),
                    from_=rows_of(name),
                )
                for name in events
            ]
        )
        if not self.back.tuples:
            inside: list[exp.Expr] = [
                column(POINT) >= number(oldest),
                column(POINT) <= number(self.points.last),
            ]
            if known is not None:
                inside.append(one_of(column("predicate"), sorted(known)))
            distinct = select(
                *columns((*POSITIONS, POINT)),
                from_=subquery(at_points, "e"),
                where=inside,
                distinct=True,
            )
            return self._made("triples", distinct)
        order = [ascending(column(name)) for name in _ORDER]
        numbered = select(
            *columns((*POSITIONS, POINT, *_ORDER)),
            alias(row_number(columns((*POSITIONS, POINT)), order), "occurrence"),
            from_=subquery(at_points, "e"),
            where=[column(POINT) >= number(start), column(POINT) <= number(self.points.last)],
        )
        tuples = self._made("tuples", _first_occurrences(numbered))
        later = select(
            *columns((*POSITIONS, POINT, *_ORDER)),
            from_=rows_of(tuples),
            where=[column(POINT) >= number(oldest)],
        )
        before = select(
            *columns((*POSITIONS, POINT, *_ORDER)),
            from_=rows_of(tuples),
            where=[column(POINT) < number(oldest)],
            order_by=[descending(column(name)) for name in _ORDER],
            limit=self.back.tuples,
        )
        read = union_all([later, select("*", from_=subquery(before, "before"))])
        nth = row_number([], [ascending(column(name)) for name in _ORDER])
        return self._made(
            "triples",
            select(*columns((*POSITIONS, POINT)), alias(nth, NTH), from_=subquery(read, "read")),
        )

    def _at_points(self, pattern: AtomPattern, triples: str) -> exp.Query:
        """The atoms of a stream: arguments, point, and where tuples are counted nth."""
        match = _match(pattern.triples)
        key = arguments(len(pattern.arguments))
        (first, *_) = match.aliases
        on = [
            [*conditions, *([column(POINT, table).eq(column(POINT, first))] if i else [])]
            for i, (table, conditions) in enumerate(zip(match.aliases, match.on, strict=True))
        ]
        counted = self.back.tuples > 0
        nth = (
            [alias(least(*(column(NTH, table) for table in match.aliases)), NTH)] if counted else []
        )
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
        newest = [alias(exp.Max(this=column(NTH)), NTH)] if counted else []
        return select(
            *columns((*key, POINT)),
            *newest,
            from_=subquery(rows, "r"),
            group_by=columns((*key, POINT)),
        )

    def _graph(self, patterns: Sequence[AtomPattern]) -> str:
        """The interval relation of the triples that patterns of the graph may match."""
        log = scope_log(Scope(), self.points.last, predicates_read(patterns))
        held = select(
            *columns((*POSITIONS, *INTERVAL)), from_=subquery(integrate(log, POSITIONS), "i")
        )
        return self._made("graph", held)

    def _facts(self, facts: Sequence[Atom]) -> dict[str, str]:
        """The relations of the facts of each predicate, which always hold."""
        by_predicate: dict[str, dict[tuple[str, ...], None]] = {}
        for fact in facts:
            row = tuple(_constant(term) for term in fact.arguments)
            by_predicate.setdefault(fact.predicate, {})[row] = None
        made = {}
        for i, (predicate, rows) in enumerate(by_predicate.items()):
            made[predicate] = f"{self.prefix}_f{i}"
            (width,) = {len(terms) for terms in rows}
            columns_ = {
                name: pa.array([terms[place] for terms in rows], pa.string())
                for place, name in enumerate(arguments(width))
            }
            since = pa.array([self.points.start] * len(rows), pa.int64())
            until = pa.array([FOREVER] * len(rows), pa.int64())
            self.engine.load(
                made[predicate], pa.table({**columns_, "since": since, "until": until})
            )
        return made


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


def _during(pattern: AtomPattern, graph: str) -> exp.Query:
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
    is_own = _match(pattern.triples).is_injective(pattern.arguments)
    return "view" if len(pattern.triples) == 1 and is_own else "cache"


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
