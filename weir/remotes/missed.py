"""Keys that an evaluation of a remote was to ask for in vain, and why (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from weir.lake.counted import counted


@dataclass(frozen=True, slots=True)
class Missed:
    """Keys that the newest evaluation was to ask for, without an answer that is taken.

    Attributes:
        failed: whose request failed.
        too_large: with more mappings than `max_rows`.
        suspect: that came back empty, with so many others that it is not believed yet.
        refused: that were not asked for because the project allows no request to the remote.
        failure: why the newest of `failed` was not answered, or why no request is allowed.
    """

    failed: int = 0
    too_large: int = 0
    suspect: int = 0
    refused: int = 0
    failure: str = ""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """As a row of `freshness` has it."""
        refused = row["not_asked"] if row["stop"] == "refused" else 0
        missed = (row["failed"], row["too_large"], row["suspect"], refused)
        return cls(*missed, row.get("failure") or "")

    @property
    def keys(self) -> int:
        """How many they are."""
        return self.failed + self.too_large + self.suspect + self.refused

    def reasons(self, max_rows: int) -> Iterator[str]:
        """Why, with what can be done about it: a text per kind."""
        because = f": {self.failure}" if self.failure else ""
        if self.refused:
            yield f"{counted(self.refused, 'key')} not asked for{because}"
        if self.failed:
            yield f"{counted(self.failed, 'key')} failed{'' if self.refused else because}"
        if self.too_large:
            yield (
                f"{counted(self.too_large, 'key')} had more mappings than `max_rows`"
                f" ({max_rows:,}) and kept what they had: raise it, or narrow the block"
            )
        if self.suspect:
            yield (
                f"{counted(self.suspect, 'key')} came back empty at once and kept what they had:"
                " the next evaluation has to say the same"
            )


NOTHING_MISSED: Final = Missed()
