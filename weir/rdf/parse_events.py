"""The events of parsing a file: batches of rows, and facts about the file."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import astuple, dataclass

import pyarrow as pa

from weir.rdf.records import REJECTIONS, Header, Rejection


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
        """The event with these rejections."""
        columns = zip(*map(astuple, rejections), strict=True)
        return cls(pa.RecordBatch.from_arrays([*map(pa.array, columns)], schema=REJECTIONS))


@dataclass(frozen=True, slots=True)
class Discarded:
    """An aborted transaction: the file's changes with since <= number < until are discarded.

    Changes are numbered from 0, in the order of the events.
    """

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


BASE64 = "base64:"
"""The prefix of rejected bytes that are recorded as base64; no other recorded text has it."""


def cut(text: bytes, size: int) -> str:
    """At most `size` bytes of a rejected text, unchanged or as base64 after `base64:`.

    Base64 is used if they are not UTF-8, or if they begin with `base64:` themselves.
    """
    kept = text[:size]
    try:
        shown = kept.decode()
    except UnicodeDecodeError as error:
        # A character that is cut in two is left out.
        is_cut = len(text) > size and error.reason == "unexpected end of data"
        if not is_cut:
            return BASE64 + b64encode(kept).decode()
        shown = kept[: error.start].decode()
    return BASE64 + b64encode(kept).decode() if shown.startswith(BASE64) else shown
