"""Values of the header of an RDF Patch: its id, the id of the patch before it, its time."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from weir.rdf.records import Header
from weir.rdf.terms import Blank, Iri, Literal, Term

_TIMES = tuple(f"http://www.w3.org/2001/XMLSchema#{name}" for name in ("dateTime", "dateTimeStamp"))
_FAR = re.compile(r"(?:-\d{4,}|0000|[1-9]\d{4,})-\d\d-\d\dT")
_TOO_FAR = "its time is not within the years 1 to 9999 of UTC"
_MIDNIGHT = re.compile(r"T24:00:00(?:\.0+)?")


class HeaderError(Exception):
    """A value of a header that cannot be used; the message is the reason."""


def with_value(header: Header, key: str, term: Term) -> Header:
    """The header with one more value; of several values of a key, the first counts.

    Raises:
        HeaderError: the value cannot be used.
    """
    match key, term:
        case "id", Iri(text) | Literal(text) if header.change_id is None:
            return replace(header, change_id=text)
        case "prev", Iri(text) | Literal(text) if header.previous_id is None:
            return replace(header, previous_id=text)
        case "id" | "prev", Blank():
            raise HeaderError("a blank node names nothing outside the file")
        case _, Literal(text, datatype) if datatype in _TIMES and header.event_time is None:
            return replace(header, event_time=_instant(text))
    return header


def _instant(text: str) -> datetime:
    try:
        # Python does not read 24:00:00, which is the beginning of the next day.
        moment = datetime.fromisoformat(_MIDNIGHT.sub("T00:00:00", text))
        if _MIDNIGHT.search(text):
            moment += timedelta(days=1)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except OverflowError:
        what = _TOO_FAR
    except ValueError as error:
        what = _TOO_FAR if _FAR.match(text) else f"not a date and time: {error}"
    raise HeaderError(what)
