"""The front matter of a query file: YAML in `#+` lines at the head of the text."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from weir.catalog.yaml_head import Duration, Time, read_head
from weir.errors import ConfigurationError
from weir.lake.instants import INSTANT_0, microseconds
from weir.sparql.frontend.rspql.durations import parse_duration

WINDOW_KEYS = ("t0", "first", "bounds", "report", "corrects_back")
"""The keys that are for queries with windows."""
_NOT_WITH_WINDOWS = {
    "history": "the log of this one has every instant",
    "max_change": "the rows of this one have instants, and are not deleted",
}
"""The keys that are for queries without windows, and why."""


class FrontMatter(BaseModel):
    """What the `#+` lines of a query file may say."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    description: str = Field("", description="what the query is for, one sentence")
    owner: str = Field("", description="who to ask about it")
    tags: tuple[str, ...] = Field((), description="words to find it by")
    default_graph: Literal["union", "default"] = Field(
        "union",
        description="what patterns without FROM read: all graphs merged, or the unnamed one",
    )
    history: Literal["current", "full"] = Field(
        "current", description="on first registration: the current answer, or one delta per epoch"
    )
    max_rows: int | None = Field(None, ge=1, description="more rows in the answer fail validation")
    min_rows: int | None = Field(None, ge=1, description="fewer rows in the answer fail validation")
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


def read_front_matter(text: str, file: str) -> FrontMatter:
    """The YAML of the `#+` lines at the head of a query text.

    Raises:
        ConfigurationError: not YAML, not a mapping, an unknown key or a wrong value; with its line.
    """
    return read_head(text, file, FrontMatter, "#").values


def check_window_keys(front_matter: FrontMatter, text: str, file: str) -> None:
    """Refuse what the front matter of a query without windows says of windows.

    Raises:
        ConfigurationError: the first such key, with its line.
    """
    said = [key for key in WINDOW_KEYS if key in front_matter.model_fields_set]
    if said:
        places = read_head(text, file, FrontMatter, "#").places
        line, key = min((places[(key,)][0], key) for key in said)
        raise ConfigurationError(
            f"{key} is for queries with windows, and this one has none",
            f"{file}:{line}",
            "Delete the line, or declare a window with FROM NAMED WINDOW.",
        )


def check_staleness(front_matter: FrontMatter, text: str, file: str) -> None:
    """Refuse what the front matter of a query without SERVICE says of remotes.

    Raises:
        ConfigurationError: it has `max_staleness`; with its line.
    """
    if "max_staleness" in front_matter.model_fields_set:
        line, _ = read_head(text, file, FrontMatter, "#").places[("max_staleness",)]
        raise ConfigurationError(
            "max_staleness is for queries with SERVICE, and this one has none",
            f"{file}:{line}",
            "Delete the line.",
        )


def check_keys_without_windows(front_matter: FrontMatter, text: str, file: str) -> None:
    """Refuse in a query with windows what is for those without.

    Raises:
        ConfigurationError: the front matter has such a key; with its line.
    """
    for key, why in _NOT_WITH_WINDOWS.items():
        if key in front_matter.model_fields_set:
            line, _ = read_head(text, file, FrontMatter, "#").places[(key,)]
            raise ConfigurationError(
                f"{key} is for queries without windows: {why}",
                f"{file}:{line}",
                "Delete the line.",
            )
