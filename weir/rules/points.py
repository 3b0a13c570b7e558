"""Points: instants counted in units of a program, and the terms that stand for them in rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from sqlglot import exp

from weir.compute.sql import as_text, bigint, case, concatenated, extracted, number, quotient, text
from weir.lars.program import TimeTerms
from weir.rules.time_terms import instant_of, term_of

_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
# Points have at most 18 digits: every term that is longer is none.
_POINT = f'^"(0|-?[1-9][0-9]{{0,17}})".{{2}}<{_INTEGER}>$'


@dataclass(frozen=True, slots=True)
class PointRange:
    """The points first, .., last at which rules are evaluated.

    Attributes:
        start: the first point of the stream, t1 of the definitions: nothing is before it.
        first: at least `start`.
        last: at least `first`.
    """

    start: int
    first: int
    last: int

    def __post_init__(self) -> None:
        if not self.start <= self.first <= self.last:
            raise ValueError(f"no points: {self}")

    @property
    def end(self) -> int:
        """The point after the last: `until` of what holds to the end."""
        return self.last + 1


@dataclass(frozen=True, slots=True)
class PointAxis:
    """The points of a program.

    The point p is the instants [origin + p * unit, origin + (p + 1) * unit), in microseconds. Its
    term is the number p, or the time of its first instant.
    """

    unit: int = 1
    origin: int = 0
    terms: TimeTerms = "integer"

    def __post_init__(self) -> None:
        if self.unit < 1:
            raise ValueError("a unit is at least a microsecond")

    def point(self, instant: int) -> int:
        """The point of an instant."""
        return (instant - self.origin) // self.unit

    def instant(self, point: int) -> int:
        """The first instant of a point."""
        return self.origin + point * self.unit

    def point_sql(self, instant: exp.Expr) -> exp.Expr:
        """The point of an instant."""
        since = instant - number(self.origin) if self.origin else instant
        return since if self.unit == 1 else quotient(since, self.unit)

    def instant_sql(self, point: exp.Expr) -> exp.Expr:
        """The first instant of a point."""
        since = point if self.unit == 1 else point * number(self.unit)
        return exp.Paren(this=number(self.origin) + since) if self.origin else since

    def term_sql(self, point: exp.Expr) -> exp.Expr:
        """The term of a point, as rules compare it with other terms."""
        match self.terms:
            case "integer":
                return concatenated(text('"'), as_text(point), text(f'"^^<{_INTEGER}>'))
            case "dateTime":
                return term_of(exp.Paren(this=self.instant_sql(point)))
            case _:
                assert_never(self.terms)

    def point_of_term_sql(self, term: exp.Expr) -> exp.Expr:
        """The point whose term this is; null if it is that of none."""
        match self.terms:
            case "integer":
                digits = extracted(term, _POINT)
                # Engines may compute a part for every row.
                safe = case((digits.neq(text("")), digits.copy()), otherwise=text("0"))
                return case((digits.copy().neq(text("")), bigint(safe)))
            case "dateTime":
                point = self.point_sql(exp.Paren(this=instant_of(term.copy())))
                return case((self.term_sql(point.copy()).eq(term), point))
            case _:
                assert_never(self.terms)
