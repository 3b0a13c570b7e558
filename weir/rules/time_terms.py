"""Instants as terms, `"2026-11-22T10:00:00Z"^^xsd:dateTime`, and back.

Each instant of the years 1 to 9999 has one term: in UTC, its fraction of a second without zeros at
the end. The calendar is that of dates, which both engines do alike; the rest is arithmetic.
"""

from __future__ import annotations

from sqlglot import exp

from weir.compute.sql import (
    as_text,
    bigint,
    case,
    cast,
    concatenated,
    divided,
    extracted,
    matches,
    number,
    quotient,
    small_number,
    text,
)

_TYPE = "http://www.w3.org/2001/XMLSchema#dateTime"
_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_MONTH_AND_DAY = (
    "(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|[12][0-9]))"
)
_TIME = (
    f"[0-9]{{4}}-{_MONTH_AND_DAY}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:[.][0-9]{{1,6}})?Z"
)
_TERM = f'^"({_TIME})".{{2}}<{_TYPE}>$'
_LEAP_DAY = "-02-29T"
_LEAP = "^(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-"
_ANY_TIME = "1970-01-01T00:00:00Z"


def term_of(instant: exp.Expr) -> exp.Expr:
    """The term of an instant."""
    day = quotient(instant.copy(), _DAY)
    within = exp.Paren(this=instant - day.copy() * number(_DAY))
    date = exp.DateAdd(
        this=cast(text("1970-01-01"), exp.DType.DATE),
        expression=cast(day, exp.DType.INT),
        unit=exp.Var(this="DAY"),
    )
    seconds = divided(within.copy(), _SECOND)
    digits = _padded(exp.Mod(this=within, expression=number(_SECOND)), 6)
    fraction = exp.RegexpReplace(
        this=concatenated(text("."), digits), expression=text("[.]?0*$"), replacement=text("")
    )

    def part(divisor: int, modulus: int) -> exp.Expr:
        whole = divided(exp.Paren(this=seconds.copy()), divisor)
        return _padded(exp.Mod(this=exp.Paren(this=whole), expression=number(modulus)), 2)

    return concatenated(
        text('"'),
        exp.Pad(
            this=as_text(cast(date, exp.DType.DATE)),
            expression=small_number(10),
            fill_pattern=text("0"),
            is_left=True,
        ),
        text("T"),
        part(3600, 24),
        text(":"),
        part(60, 60),
        text(":"),
        part(1, 60),
        fraction,
        text(f'Z"^^<{_TYPE}>'),
    )


def instant_of(term: exp.Expr) -> exp.Expr:
    """The instant of a time in UTC, whether or not it is the instant's term; null of another term.

    Engines may compute a part for every row, so what is no time is computed as some time.
    """
    lexical = extracted(term, _TERM)
    is_day = exp.or_(
        exp.not_(matches(lexical.copy(), _LEAP_DAY), copy=False),
        matches(lexical.copy(), _LEAP),
        copy=False,
    )
    valid = exp.and_(lexical.copy().neq(text("")), is_day, copy=False)
    safe = exp.Paren(this=case((valid.copy(), lexical), otherwise=text(_ANY_TIME)))

    def part(start: int, length: int) -> exp.Expr:
        return exp.Substring(
            this=safe.copy(), start=small_number(start), length=small_number(length)
        )

    day = exp.DateDiff(
        this=cast(part(1, 10), exp.DType.DATE),
        expression=cast(text("1970-01-01"), exp.DType.DATE),
        unit=exp.Var(this="DAY"),
    )
    seconds = bigint(day)
    for start, count in ((12, 24), (15, 60), (18, 60)):
        seconds = exp.Paren(this=seconds * number(count) + bigint(part(start, 2)))
    digits = exp.Pad(
        this=extracted(safe.copy(), "[.]([0-9]+)"),
        expression=small_number(6),
        fill_pattern=text("0"),
        is_left=False,
    )
    return case((valid, seconds * number(_SECOND) + bigint(digits)))


def _padded(value: exp.Expr, width: int) -> exp.Expr:
    return exp.Pad(
        this=as_text(bigint(value)),
        expression=small_number(width),
        fill_pattern=text("0"),
        is_left=True,
    )
