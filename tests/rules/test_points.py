"""Points of a program: of instants, and as terms."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from weir.compute.sql import alias, column, number, select, subquery, text
from weir.rules.points import PointAxis, PointRange

pytestmark = pytest.mark.usefixtures("sampled")

INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
DATE_TIME = "http://www.w3.org/2001/XMLSchema#dateTime"
_UNIX = datetime(1970, 1, 1, tzinfo=UTC)
_INSTANTS = st.integers(
    (datetime(1, 1, 1, tzinfo=UTC) - _UNIX) // timedelta(microseconds=1),
    (datetime(9999, 12, 31, tzinfo=UTC) - _UNIX) // timedelta(microseconds=1),
)


@settings(deadline=None)
@given(instant=_INSTANTS, unit=st.sampled_from([1, 7, 1_000_000, 86_400_000_000]), origin=_INSTANTS)
def test_an_instant_is_in_its_point(instant: int, unit: int, origin: int) -> None:
    axis = PointAxis(unit, origin)
    point = axis.point(instant)
    assert axis.instant(point) <= instant < axis.instant(point + 1)
    assert _value(axis.point_sql(number(instant))) == point
    assert _value(axis.instant_sql(number(point))) == axis.instant(point)


@settings(deadline=None, max_examples=30)
@given(instant=_INSTANTS)
def test_a_time_is_the_term_of_its_instant(instant: int) -> None:
    axis = PointAxis(terms="dateTime")
    time = (_UNIX + timedelta(microseconds=instant)).replace(tzinfo=None)
    whole, _, fraction = time.isoformat().partition(".")
    fraction = fraction.rstrip("0")
    term = f'"{whole}{"." if fraction else ""}{fraction}Z"^^<{DATE_TIME}>'
    assert _value(axis.term_sql(number(instant))) == term
    assert _value(axis.point_of_term_sql(text(term))) == instant


@settings(deadline=None)
@given(point=st.integers(-(10**17), 10**17))
def test_a_number_is_the_term_of_its_point(point: int) -> None:
    axis = PointAxis(unit=60_000_000, origin=5)
    term = f'"{point}"^^<{INTEGER}>'
    assert _value(axis.term_sql(number(point))) == term
    assert _value(axis.point_of_term_sql(text(term))) == point


@pytest.mark.parametrize(
    "term",
    [
        f'"04"^^<{INTEGER}>',
        f'"+4"^^<{INTEGER}>',
        f'"-0"^^<{INTEGER}>',
        '"4"^^<http://www.w3.org/2001/XMLSchema#decimal>',
        '"4"',
        "<http://example.org/4>",
        f'"{10**30}"^^<{INTEGER}>',
    ],
)
def test_a_term_that_is_not_that_of_a_number_is_no_point(term: str) -> None:
    assert _value(PointAxis().point_of_term_sql(text(term))) is None


@pytest.mark.parametrize(
    "time",
    [
        "2026-11-22T10:00:00",
        "2026-11-22T10:00:00+00:00",
        "2026-11-22T10:00:00.500Z",
        "2026-02-29T10:00:00Z",
        "1900-02-29T10:00:00Z",
        "2026-13-01T10:00:00Z",
        "2026-11-22T24:00:00Z",
        "2026-11-22T10:00:01Z",
    ],
)
def test_a_time_that_no_point_begins_with_is_no_point(time: str) -> None:
    axis = PointAxis(unit=60_000_000, terms="dateTime")
    assert _value(axis.point_of_term_sql(text(f'"{time}"^^<{DATE_TIME}>'))) is None


@pytest.mark.parametrize("time", ["2024-02-29T00:01:00Z", "2000-02-29T00:01:00Z"])
def test_a_leap_day_has_points(time: str) -> None:
    axis = PointAxis(unit=60_000_000, terms="dateTime")
    term = f'"{time}"^^<{DATE_TIME}>'
    point = _value(axis.point_of_term_sql(text(term)))
    assert isinstance(point, int)
    assert _value(axis.term_sql(number(point))) == term


@pytest.mark.parametrize(("start", "first", "last"), [(1, 0, 2), (0, 2, 1)])
def test_a_range_has_a_point_and_is_not_before_the_start(start: int, first: int, last: int) -> None:
    with pytest.raises(ValueError, match="no points"):
        PointRange(start, first, last)


def _value(expression: exp.Expr) -> object:
    query = select(column("x"), from_=subquery(select(alias(expression, "x")), "t"))
    ((value,),) = duckdb.execute(query.sql(dialect="duckdb")).fetchall()
    return value
