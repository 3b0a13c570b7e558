"""How long an answer may be used without asking again, and how to ask then.

RFC 9111 for a private cache, from headers alone: pure functions, and no header makes them raise.
https://www.rfc-editor.org/rfc/rfc9111
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from weir.remotes.http.retries import http_date

LONGEST_HEURISTIC = timedelta(days=1)
_NOTHING = timedelta(0)
_MOST_SECONDS = 2**31
"""What a longer `delta-seconds` counts as (section 1.2.2)."""
_SECONDS = re.compile(r"[0-9]+")
_LONGEST_VALIDATOR = 1000
_LONGEST_VARY = 1000
# https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3, its part in ASCII
_ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e]*"')
# https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_DIRECTIVE = re.compile(
    rf'(?P<name>{_TOKEN})(?:=(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<plain>[^,"]*)))?'
)

Headers = Mapping[str, str]
"""By lower-case name; several of a name as their list."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What is kept of the headers of an answer.

    expires_at: until then it may be used without asking.
    heuristic: whether that is a guess from its age.
    etag, last_modified: validators, "" without a usable one.
    vary: names of request headers in lower case, sorted, with ", " between them.
    cache_control: the header as sent, "" without one.
    accept: the `Accept` that was sent.
    """

    expires_at: datetime
    heuristic: bool
    etag: str
    last_modified: str
    vary: str
    cache_control: str
    accept: str


def stored(headers: Headers, accept: str, at: datetime, recheck_after: timedelta) -> Stored:
    """What to keep of an answer of status 200.

    at: when it came, in UTC.
    recheck_after: the longest lifetime, unless the answer is immutable (RFC 8246).
    """
    lifetime, heuristic = _lifetime(headers, at, recheck_after)
    return Stored(
        _later(at, lifetime),
        heuristic,
        _etag(headers.get("etag", "")),
        _last_modified(headers.get("last-modified", ""), at),
        _vary(headers.get("vary", "")),
        headers.get("cache-control", ""),
        accept,
    )


def renewed(before: Stored, headers: Headers, at: datetime, recheck_after: timedelta) -> Stored:
    """What to keep after a 304: its headers replace those from before (section 3.2)."""
    old = {
        "etag": before.etag,
        "last-modified": before.last_modified,
        "vary": before.vary,
        "cache-control": before.cache_control,
    }
    if not before.heuristic and not _says_lifetime(before.cache_control):
        old["expires"] = "0"  # it had one, which is over, or nothing from which to guess
    if "cache-control" in headers or "expires" in headers:
        # It has a lifetime of its own, with which the old one must not count.
        old |= {"cache-control": "", "expires": ""}
    kept = {name: value for name, value in old.items() if value}
    return stored({**kept, **headers}, before.accept, at, recheck_after)


def conditions(before: Stored, accept: str) -> tuple[tuple[str, str], ...]:
    """The headers with which an answer is asked for again.

    None if another `Accept` is sent now. Two representations may have one date: so no date where
    the answer varies by `Accept`.
    """
    if accept != before.accept:
        return ()
    if before.etag:
        return (("If-None-Match", before.etag),)
    if before.last_modified and not {"accept", "*"} & set(before.vary.split(", ")):
        return (("If-Modified-Since", before.last_modified),)
    return ()


def directives(cache_control: str) -> dict[str, list[str]]:
    """The values of each directive by lower-case name; "" where it has none."""
    read: dict[str, list[str]] = {}
    for match in _DIRECTIVE.finditer(cache_control):
        value = match["quoted"] if match["quoted"] is not None else (match["plain"] or "")
        read.setdefault(match["name"].lower(), []).append(value.strip())
    return read


def _lifetime(headers: Headers, at: datetime, recheck_after: timedelta) -> tuple[timedelta, bool]:
    """How long an answer is fresh from `at` on, and whether that is a guess."""
    said = directives(headers.get("cache-control", ""))
    if "no-store" in said or "no-cache" in said or "*" in _vary(headers.get("vary", "")):
        return _NOTHING, False
    date = http_date(headers.get("date", "").strip(), at) or at
    heuristic = False
    if "max-age" in said:
        # Of several, and of one that is no number, the answer is rather stale (section 4.2.1).
        age = _seconds(headers.get("age", "0")) or _NOTHING
        lifetime = min(_seconds(value) or _NOTHING for value in said["max-age"]) - age
    elif "expires" in headers:
        expires = http_date(headers["expires"].strip(), at)
        lifetime = expires - date if expires else _NOTHING
    else:
        modified = http_date(headers.get("last-modified", "").strip(), at)
        heuristic = modified is not None and modified <= date
        lifetime = (date - modified) / 10 if modified and heuristic else _NOTHING
        lifetime = min(lifetime, LONGEST_HEURISTIC)
    if heuristic or "immutable" not in said:
        lifetime = min(lifetime, recheck_after)
    return max(lifetime, _NOTHING), heuristic


def _says_lifetime(cache_control: str) -> bool:
    return not directives(cache_control).keys().isdisjoint({"max-age", "no-store", "no-cache"})


def _seconds(text: str) -> timedelta | None:
    text = text.strip()
    if not _SECONDS.fullmatch(text):
        return None
    return timedelta(seconds=_MOST_SECONDS if len(text) > 10 else min(int(text), _MOST_SECONDS))


def _later(at: datetime, lifetime: timedelta) -> datetime:
    try:
        return at + lifetime
    except OverflowError:
        return datetime.max.replace(tzinfo=at.tzinfo)


def _etag(value: str) -> str:
    value = value.strip()
    return value if len(value) <= _LONGEST_VALIDATOR and _ETAG.fullmatch(value) else ""


def _last_modified(value: str, at: datetime) -> str:
    value = value.strip()
    return value if http_date(value, at) else ""


def _vary(value: str) -> str:
    names = {name.strip().lower() for name in value.split(",")}
    if any(len(name) > 0 and not re.fullmatch(_TOKEN, name) for name in names):
        names = {"*"}
    text = ", ".join(sorted(names - {""}))
    return text if len(text) <= _LONGEST_VARY else "*"
