"""What parsing a file yields: batches of rows and facts about the file, as they are found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass

import pyarrow as pa

from jobs.rdf.records import REJECTIONS, Header, Rejection


@dataclass(frozen=True, slots=True)
class Changes:
    """Some changes; schema `CHANGES`."""

    batch: pa.RecordBatch


@dataclass(frozen=True, slots=True)
class Rejections:
    """Some rejected lines; schema `REJECTIONS`."""

    batch: pa.RecordBatch

    @classmethod
    def of(cls, rejections: Sequence[Rejection]) -> Rejections:
        """As columns."""
        columns = zip(*map(astuple, rejections), strict=True)
        return cls(pa.RecordBatch.from_arrays([*map(pa.array, columns)], schema=REJECTIONS))


@dataclass(frozen=True, slots=True)
class Discarded:
    """An aborted transaction: changes of the lines since <= line < until are discarded."""

    since: int
    until: int


@dataclass(frozen=True, slots=True)
class Unusable:
    """The file is rejected as a whole: all its changes are discarded."""

    rejection: Rejection


@dataclass(frozen=True, slots=True)
class CutOff:
    """The file ends in the middle of its last line, or of its compressed content."""

    reason: str


ParseEvent = Changes | Rejections | Discarded | Unusable | CutOff | Header


def cut(text: bytes, size: int) -> str:
    """At most `size` bytes of UTF-8 of a rejected text; bytes that are no UTF-8 are replaced."""
    shown = text[:size].decode(errors="replace").encode()
    return shown[:size].decode(errors="ignore")
