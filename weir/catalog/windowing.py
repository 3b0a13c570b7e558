"""The windows of a definition with what its front matter says of them: what, and at which instants.

A window of range R and step B over a stream closes at the instants c = t0 + R + kB, k >= 0, and
then has what appeared in [c - R, c), or with the other `bounds` in (c - R, c]. With `first:
partial` it closes at the earlier c > t0 of the same grid, too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal, Self, assert_never

from weir.catalog.front_matter import FrontMatter
from weir.sparql.algebra.windows import (
    CountWindow,
    StreamOperator,
    TimeWindow,
    WindowClause,
    WindowContent,
)


@dataclass(frozen=True, slots=True)
class Grid:
    """The instants [origin + k * unit, origin + (k + 1) * unit) count as one; in microseconds."""

    unit: int = 1
    origin: int = 0

    def begin(self, instant: int) -> int:
        """The first of the instants that count as one with this."""
        return instant - (instant - self.origin) % self.unit

    def next_begin(self, instant: int) -> int:
        """The first one that begins at this instant, or later."""
        return -((self.origin - instant) // self.unit) * self.unit + self.origin

    def lengthened(self, duration: int) -> int:
        """A duration as a whole number of units, at least as long."""
        return -(-duration // self.unit) * self.unit


EVERY_INSTANT = Grid()
"""Of queries: each microsecond counts by itself."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """A query whose output stream is read.

    Attributes:
        query: its name.
        stream: the IRI of the stream, N-Triples form.
        windowing: of the query.
    """

    query: str
    stream: str
    windowing: Windowing


@dataclass(frozen=True, slots=True)
class Windowing:
    """The windows of a query and how they are evaluated.

    Attributes:
        windows: at least one, in the order of the text.
        t0: where the grid of windows with a step begins, microseconds since 1970-01-01T00:00:00Z.
        first: whether windows with a step that begin before `t0` are left out (`full`) or not.
        bounds: which end of a window with a step belongs to it.
        report: whether there are solutions while all windows are empty (`close`) or none.
        corrects_back: how far back a change of the graph may correct the answer, microseconds.
        output: which stream is made of the answer, None without one.
        upstreams: the queries among those that give its streams; the others are of sources.
        points: of a program, which instants are evaluated as one; None for a query.
        starts: its first instant; None if that is the first one of its streams.
    """

    windows: tuple[WindowClause, ...]
    t0: int
    first: Literal["full", "partial"]
    bounds: Literal["[)", "(]"]
    report: Literal["close", "non_empty"]
    corrects_back: int
    output: StreamOperator | None = None
    upstreams: tuple[Upstream, ...] = ()
    points: Grid | None = None
    starts: int | None = None

    @classmethod
    def of(
        cls,
        windows: tuple[WindowClause, ...],
        front_matter: FrontMatter,
        output: StreamOperator | None = None,
    ) -> Self | None:
        """The windows of a query with this front matter, None without windows."""
        if not windows:
            return None
        return cls(
            windows,
            front_matter.t0_us,
            front_matter.first,
            front_matter.bounds,
            front_matter.report,
            front_matter.corrects_back_us,
            output,
        )

    @property
    def grid(self) -> Grid:
        """Which instants are evaluated as one."""
        return self.points or EVERY_INSTANT

    def upstream(self, stream: str) -> Upstream | None:
        """The query that gives a stream, None if a source does; an IRI in N-Triples form."""
        return next((each for each in self.upstreams if each.stream == stream), None)

    def stored_form(self) -> str:
        """What the fingerprint is made of, as JSON; the order of the declarations does not matter.

        As in `weir.plan.stored_form`, the names last: renaming a field must not change them.
        """
        ordered = sorted(self.windows, key=lambda window: window.name)
        form = {
            "windows": [[each.name, each.stream, *_stored(each.content)] for each in ordered],
            "t0": self.t0,
            "first": self.first,
            "bounds": self.bounds,
            "report": self.report,
            "corrects_back": self.corrects_back,
        }
        if self.output is not None:
            form["output"] = self.output
        if self.points is not None:
            form["grid"] = [self.points.unit, self.points.origin]
        if self.starts is not None:
            form["starts"] = self.starts
        return json.dumps(form, sort_keys=True)


def _stored(content: WindowContent) -> list[str | int | None]:
    match content:
        case TimeWindow(range_us, step_us):
            return ["range", range_us, step_us]
        case CountWindow(elements, step):
            return ["elements", elements, step]
        case _:
            assert_never(content)
