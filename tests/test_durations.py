"""Durations: two notations of one number of microseconds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.text.durations import CalendarDuration, parse_duration

_SECOND = 1_000_000


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("PT10M", 600 * _SECOND),
        ("10m", 600 * _SECOND),
        ("P1DT2H3M4.5S", (86_400 + 7_200 + 180 + 4) * _SECOND + 500_000),
        ("P2D", 172_800 * _SECOND),
        ("2d", 172_800 * _SECOND),
        ("PT0.000001S", 1),
        ("250ms", 250_000),
        ("90s", 90 * _SECOND),
        ("36h", 129_600 * _SECOND),
        ("1.5h", 5_400 * _SECOND),
        ("PT0S", 0),
        ("P100000D", 100_000 * 86_400 * _SECOND),
    ],
)
def test_a_duration_is_a_number_of_microseconds(text: str, microseconds: int) -> None:
    assert parse_duration(text) == microseconds


@pytest.mark.parametrize(
    "text",
    [
        *("", "P", "PT", "P1DT", "10", "10 m", "10M", "pt10m", "1.h", "PT1.5M", "-PT1S", "1w"),
        *(
            "P1W",
            "PT1S2M",
            "0.0015ms",
            "1h30m",
            "PT0.0000001S",
            "P100001D",
            "PT.5S",
            "PT1.S",
            "\u0661m",
        ),
    ],
)
def test_text_in_neither_notation_of_a_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"duration|days"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["P1M", "P1Y", "P1Y2M3DT4H", "P3MT5M"])
def test_months_and_years_are_named_as_such(text: str) -> None:
    with pytest.raises(CalendarDuration):
        parse_duration(text)


@given(
    days=st.integers(0, 999),
    hours=st.integers(0, 99),
    minutes=st.integers(0, 99),
    microseconds=st.integers(0, 99 * _SECOND),
)
def test_the_parts_of_a_duration_add_up(
    days: int, hours: int, minutes: int, microseconds: int
) -> None:
    seconds = f"{microseconds // _SECOND}.{microseconds % _SECOND:06d}"
    length = ((days * 24 + hours) * 60 + minutes) * 60 * _SECOND + microseconds
    assert parse_duration(f"P{days}DT{hours}H{minutes}M{seconds}S") == length
