"""The keys of a query's front matter, and which are for queries with windows, or SERVICE."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from pydantic import Field

from weir.definitions.current_table import TableFrontMatter
from weir.definitions.derived_keys import Entailment, Graph, Reads
from weir.definitions.front_matter import (
    Duration,
    Head,
    MaxRows,
    MinRows,
    Time,
)
from weir.lake.instants import INSTANT_0, microseconds
from weir.text.durations import parse_duration

WINDOW_KEYS = ("t0", "first", "bounds", "report", "corrects_back")
"""The keys that are for queries with windows."""
SERVICE_KEYS = ("max_staleness", "push_filters")
"""The keys that are for queries with SERVICE."""
_NOT_WITH_WINDOWS = {
    "history": "the log of this one has every instant",
    "max_change": "the rows of this one have instants, and are not deleted",
    "entailment": "nothing is derived from the content of a window; `reads` names derived graphs",
    "graph": "REGISTER names the stream that this one gives",
}
"""The keys that are for queries without windows, and why."""


class QueryFrontMatter(TableFrontMatter):
    """What the `#+` lines of a query file may say."""

    description: str = Field("", description="what the query is for, one sentence")
    default_graph: Literal["union", "default"] = Field(
        "union",
        description="what patterns without FROM read: all graphs merged, or the unnamed one",
    )
    entailment: Entailment = "none"
    graph: Graph = None
    reads: Reads = ()
    history: Literal["current", "full"] = Field(
        "current", description="on first registration: the current answer, or one delta per epoch"
    )
    max_rows: MaxRows = None
    min_rows: MinRows = None
    max_change: float = Field(
        0.5,
        ge=0,
        le=1,
        description="without windows: the answer is held if a larger share of its published rows"
        " is deleted at once, and it had more than 100; 1 permits all",
    )
    allow_product: bool = Field(False, description="permit a product of large components")
    t0: Time = Field(
        INSTANT_0, description="with windows: where the grid of windows with a step begins"
    )
    first: Literal["full", "partial"] = Field(
        "full",
        description="with windows: `full`, or `partial`: those that begin before `t0` close, too",
    )
    bounds: Literal["[)", "(]"] = Field(
        "[)", description="with windows: which end of one with a step belongs to it, `[)` or `(]`"
    )
    report: Literal["close", "non_empty"] = Field(
        "close",
        description="with windows: `non_empty` has no solutions while all windows are empty",
    )
    corrects_back: Duration = Field(
        "PT0S",
        description="with windows: how far back a change of the graph may correct the answer",
    )

    max_staleness: Duration | None = Field(
        None,
        description="with SERVICE: no answer is published while it depends on an older answer of a"
        " remote",
    )

    push_filters: bool = Field(
        False,
        description="with SERVICE: remotes apply FILTERs around its blocks, too; if it is switched"
        " on or off, all keys are asked for again",
    )

    @property
    def staleness(self) -> timedelta | None:
        """`max_staleness` as a time."""
        if self.max_staleness is None:
            return None
        return timedelta(microseconds=parse_duration(self.max_staleness))

    @property
    def t0_us(self) -> int:
        """Microseconds from 1970-01-01T00:00:00Z to `t0`."""
        return microseconds(self.t0)

    @property
    def corrects_back_us(self) -> int:
        """The microseconds of `corrects_back`."""
        return parse_duration(self.corrects_back)


def check_keys(head: Head[QueryFrontMatter], *, windows: bool, services: bool) -> None:
    """Refuse the keys that are for other queries.

    Args:
        head: of a query.
        windows: whether it declares windows.
        services: whether it has SERVICE.

    Raises:
        ConfigurationError: the head has such a key; with its line.
    """
    if windows:
        for key, why in _NOT_WITH_WINDOWS.items():
            head.refuse({key: f"{key} is for queries without windows: {why}"}, "Delete the line.")
    else:
        head.refuse(
            {
                key: f"{key} is for queries with windows, and this one has none"
                for key in WINDOW_KEYS
            },
            "Delete the line, or declare a window with FROM NAMED WINDOW.",
        )
    if not services:
        what = "is for queries with SERVICE, and this one has none"
        head.refuse({key: f"{key} {what}" for key in SERVICE_KEYS}, "Delete the line.")
