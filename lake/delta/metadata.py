"""The metadata that Weir writes with a commit of rows, in Delta's `userMetadata`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

_MARK = "weir"
_FORMAT = 1


LOG_ID = "began"
"""A key in `extra` for a log that may be begun again: its value differs each time."""
BEGUN_TO = "begun_to"
"""A key in `extra` for a log that is begun again by several commits: the epoch of the last one.

Rows of the ledger about epochs up to it are about the log before.
"""
WHOLE_STATE = ("initial", "edited", "rebased", "migrated")
"""The modes of commits that replace all rows of an embedding table by the state at the base; up to
0.1.0 `edited` was called `migrated`."""
DISCARDS = "discards"
"""The mode of a commit that deletes rows of epochs that were never committed."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """Which run made a commit, and up to which epoch the table is complete after it.

    Attributes:
        run_id: the run that committed.
        job: `ingest`, `maintain`, `publish`, `compact`, ...
        watermark: the epoch up to which the table is complete.
        base: the epoch at which the table's rows are the whole state; later rows are deltas.
        fingerprint: of the query that the table belongs to, or empty.
        mode: `initial`, `incremental`, ... or empty.
        extra: further JSON values of the job.
    """

    run_id: str
    job: str
    watermark: int
    base: int = 0
    fingerprint: str = ""
    mode: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def to_json(self) -> str:
        """The text that goes into `userMetadata`."""
        return json.dumps({_MARK: _FORMAT, **asdict(self)}, separators=(",", ":"), sort_keys=True)

    @classmethod
    def from_json(cls, text: str | None) -> Self | None:
        """The metadata in a commit's `userMetadata`; None if it has none of Weir."""
        try:
            value = json.loads(text or "null")
        except json.JSONDecodeError:
            return None
        if not isinstance(value, dict) or value.pop(_MARK, None) != _FORMAT:
            return None
        return cls(**value)
