"""Points: instants counted in units of a program, and the terms that stand for them in rules."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from jobs.compute.sql import (
    as_text,
    bigint,
    case,
    column,
    concatenated,
    extracted,
    number,
    text,
)

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
    """The point p is the instants [origin + p * unit, origin + (p + 1) * unit), in microseconds."""

    unit: int = 1
    origin: int = 0

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
        if self.unit == 1:
            return instant - number(self.origin) if self.origin else instant
        since = exp.Paren(this=instant - number(self.origin))
        before = exp.Paren(this=number(self.origin) - instant + number(self.unit - 1))
        # The quotient of both engines rounds towards zero.
        return case(
            (since.copy() >= number(0), bigint(_quotient(since, self.unit))),
            otherwise=-bigint(_quotient(before, self.unit)),
        )

    def instant_sql(self, point: exp.Expr) -> exp.Expr:
        """The first instant of a point."""
        if self.unit == 1:
            return point + number(self.origin) if self.origin else point
        return number(self.origin) + exp.Paren(this=point * number(self.unit))

    def term_sql(self, point: exp.Expr) -> exp.Expr:
        """The term of a point, as rules compare it with other terms."""
        return concatenated(text('"'), as_text(point), text(f'"^^<{_INTEGER}>'))

    def point_of_term_sql(self, term: exp.Expr) -> exp.Expr:
        """The point that a term stands for; null if it stands for none."""
        digits = extracted(term, _POINT)
        return case((digits.neq(text("")), bigint(digits.copy())))


def _quotient(dividend: exp.Expr, divisor: int) -> exp.Expr:
    return exp.Paren(this=exp.IntDiv(this=dividend, expression=number(divisor)))


def within_points(points: PointRange) -> exp.Expr:
    """Whether the interval of a row has a point of the range."""
    return exp.And(
        this=column("until") > number(points.first), expression=column("since") < number(points.end)
    )
