"""Rows of a definition that were computed before the epochs that they are of were committed."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class EarlyRows:
    """The rows that maintain would append to an embedding table for some epochs.

    Attributes:
        fingerprint: of the definition.
        version: of the newest commit of the table, from whose rows they follow.
        after: the epoch that the table was complete to.
        until: the last epoch of the rows.
        rows: those of the table, without an order.
    """

    fingerprint: str
    version: int
    after: int
    until: int
    rows: pa.Table
