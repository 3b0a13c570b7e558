"""The axis of a definition: the times at which its answer changes, and the streams that it reads.

What reads the graph alone has the epochs (`Epochs`), what reads streams has instants (`Instants`).

A window of range R and step B over a stream closes at the instants c = t0 + R + kB, k >= 0, and
then has what appeared in [c - R, c), or with the other `bounds` in (c - R, c]. With `first:
partial` it closes at the earlier c > t0 of the same grid, too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, assert_never

from weir.lake.tables import Table, embeddings, stream_embeddings
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
class Epochs:
    """The axis of a definition that reads the graph alone.

    Its answer is a state at each epoch, no epoch is evaluated twice, and a range of epochs is one
    leg.
    """

    windows: ClassVar[tuple[WindowClause, ...]] = ()
    output: ClassVar[StreamOperator | None] = None
    upstreams: ClassVar[tuple[Upstream, ...]] = ()
    has_states: ClassVar[bool] = True
    shares_legs: ClassVar[bool] = True
    identity: ClassVar[tuple[str, ...]] = ()

    def embeddings(self, name: str, width: int) -> Table:
        """The table of the stored rows of a definition with this axis."""
        return embeddings(name, width)


EPOCHS = Epochs()


@dataclass(frozen=True, slots=True)
class Upstream:
    """A definition whose output stream is read.

    Attributes:
        query: its name.
        stream: the IRI of the stream, N-Triples form.
        axis: of the definition.
        others: the names of the definitions whose streams and graphs it depends on.
    """

    query: str
    stream: str
    axis: Instants
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Instants:
    """The axis of a definition that reads streams: its windows and how they are evaluated.

    Its answer has rows at instants, all of them from the first one on; a leg evaluates some of them
    at some epochs (`weir.timeline.legs`).

    Attributes:
        windows: at least one, in the order of the text.
        t0: where the grid of windows with a step begins, microseconds since 1970-01-01T00:00:00Z.
        first: whether windows with a step that begin before `t0` are left out (`full`) or not.
        bounds: which end of a window with a step belongs to it.
        report: whether there are solutions while all windows are empty (`close`) or none.
        corrects_back: how far back a change of the graph may correct the answer, microseconds.
        output: which stream is made of the answer, None without one.
        upstreams: the definitions that give its streams; the others are of sources.
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

    has_states: ClassVar[bool] = False
    """Whether its answer at an epoch is a state, from which one computed again goes on."""
    shares_legs: ClassVar[bool] = False
    """Whether definitions that stand at one epoch have the same legs."""

    def embeddings(self, name: str, width: int) -> Table:
        """The table of the stored rows of a definition with this axis."""
        return stream_embeddings(name, width)

    @property
    def grid(self) -> Grid:
        """Which instants are evaluated as one."""
        return self.points or EVERY_INSTANT

    def upstream(self, stream: str) -> Upstream | None:
        """The query that gives a stream, None if a source does; an IRI in N-Triples form."""
        return next((upstream for upstream in self.upstreams if upstream.stream == stream), None)

    @property
    def identity(self) -> tuple[str, ...]:
        """What the fingerprint has of it: JSON; the order of the declarations does not matter.

        As in `weir.plan.stored_form`, the names last: renaming a field must not change them.
        """
        ordered = sorted(self.windows, key=lambda window: window.name)
        form = {
            "windows": [
                [window.name, window.stream, *_stored(window.content)] for window in ordered
            ],
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
        return (json.dumps(form, sort_keys=True),)


Axis: TypeAlias = Epochs | Instants


def _stored(content: WindowContent) -> list[str | int | None]:
    match content:
        case TimeWindow(range_us, step_us):
            return ["range", range_us, step_us]
        case CountWindow(elements, step):
            return ["elements", elements, step]
        case _:
            assert_never(content)
