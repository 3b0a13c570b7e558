r"""Times as text to instants: microseconds since 1970-01-01T00:00:00Z, exactly.

A time is an xsd:dateTime of the years 1 to 9999 of UTC, as text or as a literal in N-Triples form,
or a number of microseconds. Digits beyond microseconds are cut off. The calendar is arithmetic on
integers, which both engines do alike; the patterns mean the same to Java and to RE2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

import pyarrow as pa
from sqlglot import exp

from weir.compute.sql import (
    alias,
    all_of,
    any_of,
    bigint,
    case,
    cast,
    coalesce,
    column,
    columns,
    extracted,
    is_not_null,
    is_null,
    left_join,
    matches,
    negated,
    number,
    rows_of,
    select,
    small_number,
    subquery,
    text,
)
from weir.lake.instants import FIRST, LAST, microseconds

NO_TIME, NOT_A_TIME, NO_ZONE, TOO_FAR = (
    "it has no time",
    "its time is not an xsd:dateTime",
    "its time has no time zone",
    "its time is not within the years 1 to 9999 of UTC",
)
"""Why something has no instant."""

_XSD = "http://www\\.w3\\.org/2001/XMLSchema#"
_LITERAL = rf'\A"([^"\\]*)"(?:\^\^<{_XSD}dateTime(?:Stamp)?>)?\z'
_LEAP = "(?:0[48]|[2468][048]|[13579][26])"
_YEAR = r"(?:000[1-9]|00[1-9]\d|0[1-9]\d\d|[1-9]\d\d\d)"
_DAY = (
    rf"(?:{_YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])"
    r"|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))"
    rf"|(?:\d\d{_LEAP}|{_LEAP}00)-02-29)"
)
_TIME = r"(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?|24:00:00(?:\.0+)?)"
_ZONE = r"(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))"
_DATE_TIME = rf"\A{_DAY}T{_TIME}{_ZONE}?\z"
_FAR = (
    r"\A(?:-\d{4,}|0000|[1-9]\d{4,})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
    rf"T{_TIME}{_ZONE}?\z"
)
"""Other years of xsd:dateTime; whether the day exists is not looked at."""
_NUMBER, _FAR_NUMBER = r"\A-?\d{1,18}\z", r"\A-?\d{19,}\z"
_SECOND = 1_000_000


def with_instants(rows: exp.Query, names: Sequence[str], offsets: str) -> exp.Select:
    """The columns `names` of `rows`, instant, and reason: why instant is null, else null.

    Args:
        rows: the columns `names` and time, which is text or null.
        names: columns to keep.
        offsets: the relation of `zone_offsets`.
    """
    is_literal = matches(column("time"), r'\A"')
    lexical = case((is_literal, extracted(column("time"), _LITERAL)), otherwise=column("time"))
    is_number = all_of([negated(matches(column("time"), r'\A"')), matches(column("time"), _NUMBER)])
    written = select(
        *columns((*names, "time")),
        alias(lexical, "lexical"),
        alias(is_number, "is_number"),
        from_=subquery(rows, "timed"),
    )
    valid = matches(column("lexical"), _DATE_TIME)
    # Engines may compute both branches of a case for every row.
    safe = case((valid, column("lexical")), otherwise=text("1970-01-01T00:00:00"))
    checked = select(
        *columns((*names, "time", "is_number")),
        alias(matches(column("lexical"), _DATE_TIME), "is_date_time"),
        alias(
            any_of([matches(column("lexical"), _FAR), matches(column("time"), _FAR_NUMBER)]),
            "is_far",
        ),
        alias(case((column("is_number"), column("time")), otherwise=text("0")), "digits"),
        alias(safe, "safe"),
        from_=subquery(written, "written"),
    )
    local = select(
        *columns((*names, "time", "is_number", "is_date_time", "is_far", "digits")),
        alias(_local_instant(), "local"),
        alias(extracted(column("safe"), rf"({_ZONE})\z"), "zone"),
        from_=subquery(checked, "checked"),
    )
    instant = case(
        (column("is_number", "local"), bigint(column("digits", "local"))),
        (
            column("is_date_time", "local"),
            column("local", "local") - coalesce(_written_offset(), column("offset", "offsets")),
        ),
    )
    dated = select(
        *columns((*names, "time", "is_date_time", "is_far"), "local"),
        alias(instant, "found"),
        from_=subquery(local, "local"),
        joins=[
            left_join(
                rows_of(offsets, "offsets"),
                column("zone", "local").eq(text("")),
                column("local", "local") >= column("since", "offsets"),
                column("local", "local") < column("until", "offsets"),
            )
        ],
    )
    is_within = all_of([column("found") >= number(FIRST), column("found") <= number(LAST)])
    reason = case(
        (is_null(column("time")), text(NO_TIME)),
        (is_within, cast(exp.null(), exp.DType.TEXT)),
        (any_of([column("is_far"), is_not_null(column("found"))]), text(TOO_FAR)),
        (column("is_date_time"), text(NO_ZONE)),
        otherwise=text(NOT_A_TIME),
    )
    return select(
        *columns(names),
        alias(case((is_within, column("found"))), "instant"),
        alias(reason, "reason"),
        from_=subquery(dated, "dated"),
    )


@lru_cache(16)
def zone_offsets(timezone: str | None) -> pa.Table:
    """What is subtracted from times without a zone: since, until, offset; in microseconds.

    since and until are local times, until exclusive. Of a local time that occurs twice, the first
    is meant; one that clocks skip is read as if they had not been set yet. Without a time zone
    there are no rows.
    """
    rows = [] if timezone is None else _offsets(ZoneInfo(timezone))
    schema = pa.schema([(name, pa.int64()) for name in ("since", "until", "offset")])
    return pa.Table.from_pylist(
        [dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema
    )


def _local_instant() -> exp.Expr:
    """The microseconds of `safe` on its own clock."""

    def part(start: int, length: int) -> exp.Expr:
        return bigint(_substring(start, length))

    day = exp.DateDiff(
        this=cast(_substring(1, 10), exp.DType.DATE),
        expression=cast(text("1970-01-01"), exp.DType.DATE),
        unit=exp.Var(this="DAY"),
    )
    seconds = ((bigint(day) * 24 + part(12, 2)) * 60 + part(15, 2)) * 60 + part(18, 2)
    digits = exp.Pad(
        this=extracted(column("safe"), r"\.(\d+)"),
        expression=small_number(6),
        fill_pattern=text("0"),
        is_left=False,
    )
    return exp.paren(seconds) * number(_SECOND) + bigint(digits)


def _written_offset() -> exp.Expr:
    """The microseconds that the zone of a time is ahead of UTC; null without one."""

    def zone() -> exp.Expr:
        return column("zone", "local")

    def part(start: int) -> exp.Expr:
        digits = _substring(start, 2, zone())
        return bigint(case((matches(zone(), r"\A[+-]"), digits), otherwise=text("0")))

    sign = case((matches(zone(), r"\A-"), number(-1)), otherwise=number(1))
    ahead = exp.paren(part(2) * 60 + part(5)) * number(60 * _SECOND) * sign
    return case((zone().neq(text("")), ahead))


def _substring(start: int, length: int, of: exp.Expr | None = None) -> exp.Expr:
    return exp.Substring(
        this=column("safe") if of is None else of,
        start=small_number(start),
        length=small_number(length),
    )


_SINCE, _UNTIL = datetime(1900, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
_EVER = 2**62


def _offsets(zone: ZoneInfo) -> list[tuple[int, int, int]]:
    """The intervals of local time with one offset each; those at both ends have no end.

    Local times are written as if they were UTC.
    """

    def offset(local: datetime) -> timedelta:
        difference = local.replace(tzinfo=zone).utcoffset()
        assert difference is not None, "a zone has an offset at all times"
        return difference

    edges = [(-_EVER, offset(_SINCE))]
    day = _SINCE
    while day < _UNTIL:
        following = day + timedelta(days=1)
        if offset(day) != offset(following):
            edges.append((microseconds(_edge(offset, day, following)), offset(following)))
        day = following
    untils = [*(since for since, _ in edges[1:]), _EVER]
    return [
        (since, until, difference // timedelta(microseconds=1))
        for (since, difference), until in zip(edges, untils, strict=True)
    ]


def _edge(offset: Callable[[datetime], timedelta], before: datetime, after: datetime) -> datetime:
    """The first second after `before` with the offset of `after`."""
    while after - before > timedelta(seconds=1):
        middle = before + timedelta(seconds=int((after - before).total_seconds()) // 2)
        if offset(middle) == offset(before):
            before = middle
        else:
            after = middle
    return after
