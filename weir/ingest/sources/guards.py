"""The guards of a source: change sets beyond them are not ingested unless a person accepts them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from weir.ingest.reading import ChangeSetReading

FEW_QUADS = 100
"""Of a source with at most so many quads, any share may be deleted."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How many lines of a change set may be rejected: a number, or a share written as `1%`."""

    text: str
    number: int | None = None
    share: Fraction | None = None

    @classmethod
    def of(cls, value: Any) -> Self:
        """The tolerance that is written as `value`.

        Raises:
            ValueError: it is none.
        """
        match value:
            case bool():
                pass
            case int() if value >= 0:
                return cls(str(value), number=value)
            case str():
                try:
                    if not value.endswith("%"):
                        return cls.of(int(value))
                    share = Fraction(value[:-1].strip()) / 100
                except (ValueError, ZeroDivisionError):
                    share = Fraction(-1)
                if 0 <= share <= 1:
                    return cls(value, share=share)
        raise ValueError("not a number such as 10 or a share such as 1%")

    def allows(self, rejected: int, lines: int) -> bool:
        """Whether so many of the lines of a change set may be rejected."""
        if self.number is not None:
            return rejected <= self.number
        assert self.share is not None, "one of the two is there"
        return rejected <= self.share * lines

    def __str__(self) -> str:
        return self.text


NOTHING, ANYTHING = Tolerance.of(0), Tolerance.of("100%")


@dataclass(frozen=True, slots=True)
class Guards:
    """What a change set of a source may do.

    Attributes:
        allow_empty: leave the source without quads.
        max_deleted_share: delete this share of its quads, if it has more than `FEW_QUADS`.
        max_rejected: have rejected lines.
    """

    allow_empty: bool = True
    max_deleted_share: float = 1.0
    max_rejected: Tolerance = ANYTHING

    def exceeded_by(
        self, reading: ChangeSetReading, held: int, inserted: int, deleted: int
    ) -> list[str]:
        """What about a change set is beyond the guards, with the figures.

        Args:
            reading: what it holds.
            held: quads of the source before it.
            inserted: quads that appear by it.
            deleted: quads that vanish by it.
        """
        excesses = []
        if reading.cut_off is not None:
            excesses.append(f"is cut off: {reading.cut_off}")
        elif reading.broken is not None:
            excesses.append(f"is broken: {reading.broken}")
        lines = reading.changes + reading.malformed
        if not self.max_rejected.allows(reading.malformed, lines):
            excesses.append(
                f"has {reading.malformed:,} rejected of {lines:,} lines"
                f" (max_rejected: {self.max_rejected})"
            )
        if not self.allow_empty and held and held + inserted == deleted:
            excesses.append(f"leaves nothing of {held:,} quads (allow_empty: false)")
        elif held > FEW_QUADS and deleted > self.max_deleted_share * held:
            excesses.append(
                f"deletes {deleted:,} of {held:,} quads"
                f" (max_deleted_share: {self.max_deleted_share:g})"
            )
        return excesses
