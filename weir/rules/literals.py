"""Literals of a body: the relations that say when they hold, and for which values of variables.

A literal's relation depends on its predicate, its window and its modality only, so that rules share
it. What the arguments ask (constants, a variable that occurs twice) is asked where a body reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.relations import Keep, Statement
from weir.compute.sql import alias, column, columns, number, rows_of, select, subquery, text
from weir.engine.relations import INTERVAL
from weir.lars.syntax import (
    At,
    Box,
    Condition,
    CountingWindow,
    Literal,
    Modality,
    PointWindow,
    Rule,
    Window,
)
from weir.rules.derived import background_intervals, box, derived_intervals
from weir.rules.points import PointAxis, PointRange
from weir.rules.products import ProductLimit
from weir.rules.relations import POINT, Derived, Given, arguments
from weir.rules.windows import stream_intervals
from weir.sparql.algebra.expressions import Constant, Variable
from weir.sparql.algebra.scoping import variables_of

_MANY = 10_000
"""Of so many atoms, sorting takes longer than a statement."""


@dataclass(frozen=True, slots=True)
class RuleColumns:
    """The columns of a rule's variables: `v<number>` of a term, `p<number>` of a point.

    A variable that is only the point of `@T` is a point; one that is also an argument or part of an
    expression is a term.
    """

    terms: Mapping[str, str]
    points: Mapping[str, str]

    @classmethod
    def of(cls, rule: Rule) -> RuleColumns:
        """The columns of the variables of `rule`."""
        names = dict.fromkeys(rule.head.variables)
        as_terms = {*rule.head.atom.variables}
        for element in rule.body:
            match element:
                case Literal():
                    names |= dict.fromkeys(element.variables)
                    as_terms.update(element.atom.variables)
                case Condition():
                    as_terms |= variables_of(element.expression)
                case _:
                    names[element.variable] = None
                    as_terms |= {element.variable, *variables_of(element.expression)}
        numbered = {name: i for i, name in enumerate(names)}
        return cls(
            {name: f"v{i}" for name, i in numbered.items() if name in as_terms},
            {name: f"p{i}" for name, i in numbered.items() if name not in as_terms},
        )

    def column(self, variable: str) -> str:
        """The column of a variable."""
        return self.terms.get(variable) or self.points[variable]


Kind = tuple[str, Window | None, type[Modality] | None]
"""What literals that read the same relation have in common: predicate, window, modality."""


def kind_of(literal: Literal) -> Kind:
    """The kind of a literal."""
    modality = None if literal.modality is None else type(literal.modality)
    return literal.atom.predicate, literal.window, modality


@dataclass(slots=True)
class Literals:
    """The relations of the literals of a program at some points.

    Attributes:
        engine: makes relations.
        given: what the program reads.
        points: at which rules are evaluated.
        axis: turns points to terms.
        prefix: begins the names of relations.
        shared: the kinds that are read more than once.
        derived: by predicate, what has been derived so far.
        keep: how a relation that is read more than once is stored.
        products: the limit of products; None for none.
        timeless: whether rows of literals lack since and until, as if they always held.
    """

    engine: SqlEngine
    given: Given
    points: PointRange
    axis: PointAxis
    prefix: str
    shared: frozenset[Kind]
    derived: dict[str, Derived] = field(default_factory=dict)
    keep: Keep = "cache"
    products: ProductLimit | None = None
    timeless: bool = False
    _made: dict[Kind, str | None] = field(default_factory=dict)
    _sizes: dict[str, int] = field(default_factory=dict)
    _names: int = 0

    def make(self, query: exp.Query, keep: Keep | None = None) -> str:
        """Make a relation under a new name."""
        name = f"{self.prefix}_r{self._names}"
        self._names += 1
        self.engine.make(Statement(name, query, keep or self.keep))
        return name

    def rows(self, literal: Literal, names: RuleColumns) -> exp.Query | None:
        """The values of a literal's variables, and when it holds; None if it never does.

        `negated` does not count.

        Returns:
            the columns of the variables, since, until.
        """
        intervals = self._intervals(literal)
        return None if intervals is None else self.matching(literal, intervals, names)

    def rows_of_derived(
        self, literal: Literal, derived: Derived, names: RuleColumns, new: Derived | None = None
    ) -> exp.Query | None:
        """The same of a literal over a predicate that is not derived completely yet.

        Args:
            literal: the literal.
            derived: what is known of its predicate.
            names: the columns of the variables.
            new: what the last round has added; only what follows from it is asked for.
        """
        key = arguments(len(literal.atom.arguments))
        read = derived if new is None else new
        if derived.is_empty or read.is_empty:
            return None
        window = _point_window(literal)
        if isinstance(literal.modality, Box):
            # The points of one box are of several rounds.
            assert window is not None, "a box is read in a window"
            intervals = box(derived, key, window, self.points.start, new)
        else:
            intervals = derived_intervals(read, key, window, literal.modality, self.points.start)
        return self.matching(literal, intervals, names)

    def is_large(self, literal: Literal) -> bool:
        """Whether DuckDB has many atoms of a literal's predicate.

        A statement more then costs less than sorting what need not be sorted. On Spark it does not.
        """
        predicate = literal.atom.predicate
        derived = self.derived.get(predicate, Derived())
        names = (self.given.stream.get(predicate), derived.plain, derived.placed)
        for name in filter(None, names):
            if name not in self._sizes:
                on_driver = self.engine.is_on_driver(name)
                self._sizes[name] = self.engine.count(name) if on_driver else 0
        return any(self._sizes[name] > _MANY for name in filter(None, names))

    def matching(self, literal: Literal, intervals: exp.Query, names: RuleColumns) -> exp.Select:
        """The values of a literal's variables in the intervals of its kind."""
        where: list[exp.Expr] = []
        bound: dict[str, exp.Expr] = {}

        def bind(variable: str, value: exp.Expr) -> None:
            name = names.column(variable)
            if name in bound:
                where.append(bound[name].eq(value))
            else:
                bound[name] = value

        key = arguments(len(literal.atom.arguments))
        for name, term in zip(key, literal.atom.arguments, strict=True):
            match term:
                case Constant(value):
                    where.append(column(name).eq(text(value)))
                case Variable(variable):
                    bind(variable, column(name))
                case _:
                    assert_never(term)
        match literal.time:
            case None:
                pass
            case Variable(variable) if variable in names.points:
                bind(variable, column(POINT))
            case Variable(variable):
                bind(variable, self.axis.term_sql(column(POINT)))
            case point:
                where.append(column(POINT).eq(number(point)))
        times = columns(INTERVAL)
        if self.timeless:
            # A row has at least one column.
            times = [] if bound else [alias(number(0), "since")]
        return select(
            *(alias(value.copy(), name) for name, value in bound.items()),
            *times,
            from_=subquery(intervals, "i"),
            where=where,
        )

    def _intervals(self, literal: Literal) -> exp.Query | None:
        """The intervals of the literal's kind: the arguments, with `At` the point, since, until."""
        kind = kind_of(literal)
        if kind not in self.shared:
            return self._of_kind(literal)
        if kind not in self._made:
            query = self._of_kind(literal)
            self._made[kind] = None if query is None else self.make(query)
        name = self._made[kind]
        if name is None:
            return None
        point = (POINT,) if isinstance(literal.modality, At) else ()
        key = (*arguments(len(literal.atom.arguments)), *point)
        return select(*columns((*key, *INTERVAL)), from_=rows_of(name))

    def _of_kind(self, literal: Literal) -> exp.Query | None:
        """The same, computed; a predicate has one origin."""
        predicate, window, modality = literal.atom.predicate, literal.window, literal.modality
        key = arguments(len(literal.atom.arguments))
        if predicate in self.given.stream:
            stream, tuples = self.given.stream[predicate], None
            if isinstance(window, CountingWindow):
                counted = self.given.counted[window.counted]
                stream, tuples = counted.atoms[predicate], counted.tuples
            many = self.is_large(literal)
            return stream_intervals(stream, key, window, modality, self.points, tuples, many=many)
        if predicate in self.given.background:
            background = self.given.background[predicate]
            return background_intervals(background, key, window, modality, self.points)
        derived = self.derived.get(predicate, Derived())
        if derived.is_empty:
            return None
        start = self.points.start
        return derived_intervals(derived, key, _point_window(literal), modality, start)


def _point_window(literal: Literal) -> PointWindow | None:
    if isinstance(literal.window, CountingWindow):
        raise ValueError("tuples of a stream are counted, not derived atoms")
    return literal.window
