"""The keys below `stream:` of a source that gives events: how they are dated, and what is late."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from weir.lake.instants import microseconds
from weir.rdf.terms import iri_term

_DURATION = re.compile(
    r"P(?=[\dT])(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d{1,6})?)S)?)?"
)


@dataclass(frozen=True, slots=True)
class TimeOfSubject:
    """The object of `predicate` dates all triples of the subject in the change set."""

    predicate: str


@dataclass(frozen=True, slots=True)
class TimeOfGraph:
    """The object of `predicate`, whose subject is a graph, dates all quads of that graph."""

    predicate: str


EventTime: TypeAlias = Literal["column", "transaction"] | TimeOfSubject | TimeOfGraph
"""Where the time of an event stands."""


def _duration(value: Any) -> Any:
    """The microseconds of an xsd:dayTimeDuration."""
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError("not a duration such as PT30S, PT10M or P14D")
    days, hours, minutes = (int(part or 0) for part in match.groups()[:3])
    whole, _, fraction = (match[4] or "0").partition(".")
    seconds = ((days * 24 + hours) * 60 + minutes) * 60 + int(whole)
    return seconds * 1_000_000 + int(fraction.ljust(6, "0"))


def _event_time(value: Any) -> Any:
    match value:
        case "column" | "transaction":
            return value
        case {"predicate": str(iri), **others} if not others:
            return TimeOfSubject(iri_term(iri))
        case {"graph": str(iri), **others} if not others:
            return TimeOfGraph(iri_term(iri))
    raise ValueError("not `column`, `transaction`, {predicate: IRI} or {graph: IRI}")


def _start(value: Any) -> Any:
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        time = None
    if not isinstance(time, datetime) or time.tzinfo is None:
        raise ValueError("not a time with a zone such as 2026-01-01T00:00:00Z")
    return time


Duration: TypeAlias = Annotated[int, BeforeValidator(_duration)]
"""Microseconds; written as xsd:dayTimeDuration."""


class Stream(BaseModel):
    """How the events of a source are dated, and which of them are late; times in microseconds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    time: Annotated[EventTime, BeforeValidator(_event_time)] = Field(
        description="where the time of an event stands: `column`, in `columns.time` of a Delta"
        " table; `transaction`, in the header of the patch, else when the file was written or the"
        " commit made; `{predicate: IRI}`, the object of this predicate dates all triples of its"
        " subject in the same change set; `{graph: IRI}`, the object of this predicate dates all"
        " quads of the graph that is its subject",
    )
    delay: Duration = Field(
        0, description="how far behind the newest event others may still come and be on time"
    )
    lateness: Duration = Field(
        0, description="how far before the frontier an event is still taken, as a correction"
    )
    ahead: Duration = Field(
        300_000_000, description="how far after the time of ingest an event may be dated"
    )
    idle: Duration | None = Field(
        None, gt=0, description="after so long without input, time passes without events"
    )
    keep: Duration | None = Field(
        None,
        gt=0,
        description="how long events are needed at least: compaction deletes those that are older,"
        " before the frontier, and that no query needs; without it none",
    )
    starts: Annotated[datetime, BeforeValidator(_start)] | None = Field(
        None,
        description="first instant of the stream; without it, that of the earliest event of the"
        " first epoch with events",
    )
    timezone: str | None = Field(
        None, description="of times without a zone, such as `Europe/Vienna`; else these are errors"
    )
    max_late_share: float = Field(
        1.0, ge=0, le=1, description="a larger share of late events in an epoch fails validation"
    )

    @field_validator("timezone")
    @classmethod
    def _is_known(cls, timezone: str | None) -> str | None:
        if timezone is not None:
            try:
                ZoneInfo(timezone)
            except (ZoneInfoNotFoundError, ValueError, OSError):
                raise ValueError("not the name of a time zone such as Europe/Vienna") from None
        return timezone

    @property
    def starts_at(self) -> int | None:
        """The declared first instant."""
        return None if self.starts is None else microseconds(self.starts)
