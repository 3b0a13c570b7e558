"""What is kept fresh within limits that are declared: a remote, a traversal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Words:
    """How reasons speak of what is asked for.

    Attributes:
        unit: one of it, as `key`.
        place: what is asked, as `endpoint`.
        too_large: what is said of those that are too large, with what can be done about it.
        suspect: what is said of those whose answer is not believed yet.
    """

    unit: str
    place: str
    too_large: str
    suspect: str


class Kept(Protocol):
    """What is kept fresh, as declared: a remote, a traversal."""

    @property
    def name(self) -> str: ...
    @property
    def every(self) -> str: ...
    @property
    def every_us(self) -> int: ...
    @property
    def inbox(self) -> str:
        """The table of its rounds."""
        ...

    @property
    def place(self) -> str:
        """Who is asked, for people."""
        ...

    @property
    def address(self) -> str:
        """What stands for where it is asked, and by which connection; shows neither."""
        ...

    @property
    def warn_after(self) -> str | None: ...
    @property
    def error_after(self) -> str | None: ...
    @property
    def min_fresh(self) -> float | None: ...
    @property
    def words(self) -> Words: ...
