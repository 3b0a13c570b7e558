"""How long an answer lasts, and how it is asked for again: RFC 9111, from headers alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.remotes.http.caching import (
    LONGEST_HEURISTIC,
    Stored,
    conditions,
    directives,
    renewed,
    stored,
)
from weir.remotes.http.request import is_header_field

AT = datetime(2026, 11, 27, 12, 0, 0, tzinfo=UTC)
WEEK = timedelta(days=7)
DATE = "Fri, 27 Nov 2026 12:00:00 GMT"
ACCEPT = "text/turtle"


def lifetime(headers: Mapping[str, str], recheck_after: timedelta = WEEK) -> float:
    return (stored(headers, ACCEPT, AT, recheck_after).expires_at - AT).total_seconds()


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"date": DATE}, 0),
        # section 5.2.2: of the response
        ({"cache-control": "max-age=60"}, 60),
        ({"cache-control": "MAX-AGE=60, Private"}, 60),
        ({"cache-control": 'max-age="60"'}, 60),
        ({"cache-control": "public,max-age=60;x=y"}, 0),
        ({"cache-control": "max-age=60, must-revalidate"}, 60),
        ({"cache-control": "max-age = 60"}, 0),
        ({"cache-control": "max-age=3600", "age": "600"}, 3000),
        ({"cache-control": "max-age=60", "age": "100"}, 0),
        ({"cache-control": "max-age=60", "age": "soon"}, 60),
        ({"cache-control": "max-age=60", "age": "-5"}, 60),
        ({"cache-control": "no-store"}, 0),
        ({"cache-control": "no-store, max-age=60"}, 0),
        ({"cache-control": "max-age=60, no-cache"}, 0),
        ({"cache-control": 'max-age=60, no-cache="set-cookie"'}, 0),
        ({"cache-control": 'max-age=60, ext="no-store, no-cache"'}, 60),
        ({"cache-control": "max-age=60, no-storex"}, 60),
        # section 5.3: max-age goes before Expires, which is shared or private
        ({"cache-control": "max-age=60", "date": DATE, "expires": "0"}, 60),
        ({"cache-control": "s-maxage=60"}, 0),
        ({"date": DATE, "expires": "Fri, 27 Nov 2026 13:00:00 GMT"}, 3600),
        ({"expires": "Fri, 27 Nov 2026 13:00:00 GMT"}, 3600),
        # a clock of the server that is an hour ahead
        ({"date": "Fri, 27 Nov 2026 13:00:00 GMT", "expires": "Fri, 27 Nov 2026 13:01:00 GMT"}, 60),
        ({"date": DATE, "expires": "Fri, 27 Nov 2026 11:00:00 GMT"}, 0),
        ({"date": DATE, "expires": "0"}, 0),
        ({"date": DATE, "expires": "-1"}, 0),
        ({"expires": "tomorrow", "last-modified": "Wed, 27 Nov 2024 12:00:00 GMT"}, 0),
        # section 5.3: the three forms of a date
        ({"date": DATE, "expires": "Friday, 27-Nov-26 12:01:00 GMT"}, 60),
        ({"date": DATE, "expires": "Fri Nov 27 12:01:00 2026"}, 60),
        # section 4.2.2: 10 % of the time since it was changed
        ({"date": DATE, "last-modified": "Fri, 27 Nov 2026 02:00:00 GMT"}, 3600),
        ({"last-modified": "Fri, 27 Nov 2026 02:00:00 GMT"}, 3600),
        ({"date": DATE, "last-modified": "Wed, 27 Nov 2024 12:00:00 GMT"}, 86400),
        ({"date": DATE, "last-modified": "Sat, 28 Nov 2026 12:00:00 GMT"}, 0),
        ({"date": DATE, "last-modified": "once"}, 0),
        ({"cache-control": "no-cache", "last-modified": "Wed, 27 Nov 2024 12:00:00 GMT"}, 0),
        # section 4.2.1: of several, and of one that is none, the answer is rather stale
        ({"cache-control": "max-age=60, max-age=30"}, 30),
        ({"cache-control": "max-age=soon"}, 0),
        ({"cache-control": "max-age=-1"}, 0),
        ({"cache-control": "max-age=1.5"}, 0),
        ({"cache-control": "max-age"}, 0),
        ({"cache-control": "max-age=60, max-age=x"}, 0),
        # section 4.1: nothing matches it
        ({"cache-control": "max-age=60", "vary": "*"}, 0),
        ({"cache-control": "max-age=60", "vary": "Accept, *"}, 0),
        # a week at most, but for what is immutable (RFC 8246)
        ({"cache-control": "max-age=31536000"}, 604800),
        ({"cache-control": "max-age=31536000, immutable"}, 31536000),
        ({"cache-control": "immutable"}, 0),
        ({"date": DATE, "expires": "Sat, 27 Nov 2027 12:00:00 GMT"}, 604800),
        ({"cache-control": f"max-age={'9' * 400}, immutable"}, 2**31),
    ],
)  # fmt: skip
def test_a_lifetime_is_that_of_the_standard(headers: dict[str, str], seconds: float) -> None:
    assert lifetime(headers) == seconds


def test_a_guess_is_at_most_the_time_of_recheck() -> None:
    headers = {"date": DATE, "last-modified": "Wed, 27 Nov 2024 12:00:00 GMT"}
    assert lifetime(headers, timedelta(minutes=5)) == 300
    assert lifetime(headers | {"cache-control": "immutable"}, timedelta(minutes=5)) == 300


@pytest.mark.parametrize(
    ("headers", "heuristic"),
    [
        ({}, False),
        ({"last-modified": "Fri, 27 Nov 2026 02:00:00 GMT"}, True),
        ({"last-modified": "Fri, 27 Nov 2026 02:00:00 GMT", "cache-control": "max-age=1"}, False),
        ({"last-modified": "Fri, 27 Nov 2026 02:00:00 GMT", "expires": "0"}, False),
    ],
)
def test_a_guess_is_named_as_one(headers: dict[str, str], heuristic: bool) -> None:
    assert stored(headers, ACCEPT, AT, WEEK).heuristic is heuristic


@pytest.mark.parametrize(
    ("headers", "sent"),
    [
        ({}, ()),
        ({"etag": '"33a6"'}, (("If-None-Match", '"33a6"'),)),
        ({"etag": 'W/"33a6"'}, (("If-None-Match", 'W/"33a6"'),)),
        ({"etag": '""'}, (("If-None-Match", '""'),)),
        ({"etag": ' "a" '}, (("If-None-Match", '"a"'),)),
        ({"etag": '"a"', "last-modified": DATE}, (("If-None-Match", '"a"'),)),
        ({"etag": '"a"', "vary": "accept"}, (("If-None-Match", '"a"'),)),
        ({"last-modified": DATE}, (("If-Modified-Since", DATE),)),
        ({"last-modified": DATE, "vary": "Origin, Cookie"}, (("If-Modified-Since", DATE),)),
        ({"last-modified": DATE, "vary": "Accept"}, ()),
        ({"last-modified": DATE, "vary": "Accept-Encoding,ACCEPT"}, ()),
        ({"last-modified": DATE, "vary": "*"}, ()),
        # what is no validator is not sent back
        ({"etag": "33a6"}, ()),
        ({"etag": '"a", "b"'}, ()),
        ({"etag": 'w/"a"'}, ()),
        ({"etag": '"a b"'}, ()),
        ({"etag": '"a\r\nHost: evil"'}, ()),
        ({"etag": '"é"'}, ()),
        ({"etag": f'"{"a" * 1000}"'}, ()),
        ({"last-modified": "yesterday"}, ()),
        ({"etag": "33a6", "last-modified": DATE}, (("If-Modified-Since", DATE),)),
    ],
)
def test_an_answer_is_asked_for_again_by_its_validator(
    headers: dict[str, str], sent: tuple[tuple[str, str], ...]
) -> None:
    assert conditions(stored(headers, ACCEPT, AT, WEEK), ACCEPT) == sent


def test_validators_are_dropped_when_another_type_is_asked_for() -> None:
    before = stored({"etag": '"a"', "last-modified": DATE}, ACCEPT, AT, WEEK)
    assert conditions(before, "application/ld+json") == ()


LATER = AT + timedelta(hours=2)


@pytest.mark.parametrize(
    ("before", "with_304", "seconds"),
    [
        ({"cache-control": "max-age=60"}, {}, 60),
        ({"cache-control": "max-age=60"}, {"cache-control": "max-age=30"}, 30),
        ({"cache-control": "max-age=60"}, {"cache-control": "no-cache"}, 0),
        ({"cache-control": "max-age=60"}, {"expires": "Fri, 27 Nov 2026 14:00:10 GMT"}, 10),
        ({"expires": "Fri, 27 Nov 2026 13:00:00 GMT"}, {}, 0),
        (
            {"expires": "Fri, 27 Nov 2026 13:00:00 GMT"},
            {"expires": "Fri, 27 Nov 2026 15:00:00 GMT"},
            3600,
        ),
        # an `Expires` that is over is not replaced by a guess
        ({"expires": "Fri, 27 Nov 2026 13:00:00 GMT", "last-modified": DATE}, {}, 0),
        ({"last-modified": DATE}, {}, 720),
        ({}, {}, 0),
        ({}, {"cache-control": "max-age=5"}, 5),
    ],
)
def test_a_304_renews_the_lifetime(
    before: dict[str, str], with_304: dict[str, str], seconds: float
) -> None:
    again = renewed(stored(before, ACCEPT, AT, WEEK), with_304, LATER, WEEK)
    assert (again.expires_at - LATER).total_seconds() == seconds


def test_a_304_keeps_the_headers_that_it_does_not_have() -> None:
    before = stored({"etag": '"a"', "vary": "Accept", "last-modified": DATE}, ACCEPT, AT, WEEK)
    again = renewed(before, {}, LATER, WEEK)
    assert again == replace(before, expires_at=again.expires_at)
    changed = renewed(before, {"etag": '"b"'}, LATER, WEEK)
    assert (changed.etag, changed.last_modified, changed.vary) == ('"b"', DATE, "accept")


@pytest.mark.parametrize(
    ("header", "read"),
    [
        ("", {}),
        ("no-store", {"no-store": [""]}),
        ('private="a, b", max-age=1', {"private": ["a, b"], "max-age": ["1"]}),
        (",, max-age=1 ,", {"max-age": ["1"]}),
        ("max-age=1, max-age=2", {"max-age": ["1", "2"]}),
    ],
)
def test_directives_are_read_with_their_values(header: str, read: dict[str, list[str]]) -> None:
    assert directives(header) == read


VALUES = (
    st.text()
    | st.sampled_from([DATE, '"a"', 'W/"a"', "*", "Accept", "0", "60", "max-age=60", "no-cache"])
    | st.lists(
        st.sampled_from(["max-age=", "1", "9" * 30, ",", "immutable", '"', "no-store", "=", " "])
    ).map("".join)
)
NAMES = ["cache-control", "expires", "date", "age", "etag", "last-modified", "vary", "other"]
HEADERS = st.dictionaries(st.sampled_from(NAMES), VALUES)
TIMES = st.integers(0, 253_402_300_799).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))
RECHECKS = st.timedeltas(timedelta(0), timedelta(days=400))


def is_sound(kept: Stored, at: datetime, recheck_after: timedelta) -> bool:
    sent = conditions(kept, kept.accept)
    lasts = kept.expires_at - at
    longest = (
        timedelta(seconds=2**31) if "immutable" in kept.cache_control.lower() else recheck_after
    )
    return (
        timedelta(0) <= lasts <= longest
        and (not kept.heuristic or lasts <= min(LONGEST_HEURISTIC, recheck_after))
        and all(is_header_field(value) and len(value) <= 1000 for _, value in sent)
        and len(sent) <= 1
    )


@given(HEADERS, TIMES, RECHECKS)
def test_no_header_raises_and_a_lifetime_is_bounded(
    headers: dict[str, str], at: datetime, recheck_after: timedelta
) -> None:
    assert is_sound(stored(headers, ACCEPT, at, recheck_after), at, recheck_after)


@given(HEADERS, HEADERS, TIMES, TIMES, RECHECKS)
def test_no_header_of_a_304_raises_either(
    headers: dict[str, str],
    with_304: dict[str, str],
    at: datetime,
    later: datetime,
    recheck_after: timedelta,
) -> None:
    before = stored(headers, ACCEPT, at, recheck_after)
    assert is_sound(renewed(before, with_304, later, recheck_after), later, recheck_after)


@given(HEADERS, st.integers(0, 10**9), st.integers(0, 10**9), st.booleans())
def test_an_answer_that_must_not_be_stored_is_stale_at_once(
    headers: dict[str, str], seconds: int, age: int, stored_nowhere: bool
) -> None:
    word = "no-store" if stored_nowhere else "no-cache"
    said = {**headers, "cache-control": f"max-age={seconds}, {word}", "age": str(age)}
    assert lifetime(said) == 0


@given(st.integers(0, 10**7), st.integers(0, 10**7))
def test_the_age_is_taken_off(seconds: int, age: int) -> None:
    headers = {"cache-control": f"max-age={seconds}", "age": str(age)}
    assert lifetime(headers) == min(max(seconds - age, 0), WEEK.total_seconds())
