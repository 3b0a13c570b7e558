"""`Retry-After` is read as RFC 9110 says, and never as more than an hour."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.remotes.http.retries import http_date, retry_after

NOW = datetime(2026, 11, 23, 12, 0, 0, tzinfo=UTC)
MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2068, 12, 31)).map(  # noqa: DTZ001
    lambda moment: moment.replace(microsecond=0, tzinfo=UTC)
)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@given(MOMENTS)
def test_a_date_is_read_as_email_utils_reads_it(moment: datetime) -> None:
    text = format_datetime(moment, usegmt=True)
    assert http_date(text, NOW) == parsedate_to_datetime(text) == moment


@given(MOMENTS)
def test_the_two_obsolete_forms_give_the_same_date(moment: datetime) -> None:
    _, day, month, year, time, _ = format_datetime(moment, usegmt=True).split()
    name = DAYS[moment.weekday()]
    assert http_date(f"{name}, {day}-{month}-{year[2:]} {time} GMT", NOW) == moment
    assert http_date(f"{name[:3]} {month} {moment.day:2d} {time} {year}", NOW) == moment


@given(MOMENTS)
def test_the_wait_until_a_date_is_between_nothing_and_an_hour(moment: datetime) -> None:
    wait = (moment - NOW).total_seconds()
    assert retry_after(format_datetime(moment, usegmt=True), NOW) == min(max(wait, 0), 3600)


@given(st.integers(min_value=0))
def test_seconds_are_at_most_an_hour(seconds: int) -> None:
    assert retry_after(f" {seconds} ", NOW) == min(seconds, 3600)


@given(st.text(max_size=40))
def test_text_that_is_neither_seconds_nor_a_date_gives_no_wait(text: str) -> None:
    if not re.fullmatch(r"[ \t]*[0-9]+[ \t]*", text):
        assert retry_after(text, NOW) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-1",
        "+5",
        "1.5",
        "٣",
        "1e3",
        "0x10",
        "Mon, 30 Feb 2026 00:00:00 GMT",
        "Mon, 23 Nov 2026 25:00:00 GMT",
        "Mon, 23 Nov 2026 12:00:00 CET",
        "Mon, 23 Nov 2026 12:00:00",
        "mon, 23 nov 2026 12:00:00 gmt",
        "2026-11-23T12:00:00Z",
    ],
)
def test_almost_valid_seconds_and_dates_give_no_wait(text: str) -> None:
    assert retry_after(text, NOW) is None


def test_a_leap_second_and_a_year_of_two_digits_are_read() -> None:
    assert http_date("Sat, 31 Dec 2016 23:59:60 GMT", NOW) == datetime(
        2016, 12, 31, 23, 59, 59, tzinfo=UTC
    )
    assert http_date("Sunday, 06-Nov-94 08:49:37 GMT", NOW) == datetime(
        1994, 11, 6, 8, 49, 37, tzinfo=UTC
    )
    in_a_minute = NOW + timedelta(minutes=1)
    assert retry_after(format_datetime(in_a_minute, usegmt=True), NOW) == 60.0
