"""Which rounds of a remote were checked, as the ledger remembers it.

A row of the ledger about the remote names the commit of `quality` that has the results, and the
metadata of that commit says up to which round they go. So the cost of a check does not depend on
how many were checked before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

import pyarrow.compute as pc

from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.ledger.runs import FAILED
from weir.lake.ledger.summary import read_ledger

JOB: Final[Literal["freshness"]] = "freshness"
_CHECKED, _BEFORE = "checked", "before"


@dataclass(frozen=True, slots=True)
class CheckedRounds:
    """How far the rounds of a remote were checked.

    Attributes:
        round: the newest one that was; 0 before the first.
        ingested: the newest one that was an epoch at that time; 0 if none was.
        epoch: the newest epoch at that time.
    """

    round: int = 0
    ingested: int = 0
    epoch: int = 0


def remembered(before: CheckedRounds, after: CheckedRounds) -> Mapping[str, Any]:
    """What the ledger remembers of a check: JSON values."""
    return {_BEFORE: asdict(before), _CHECKED: asdict(after)}


def checked_rounds(lake: Lake, run_id: str) -> dict[str, CheckedRounds]:
    """Up to where each remote was checked, by name.

    What the same run has found wrong before is checked again: the retry of a task must not succeed
    because the first attempt has reported the failure.
    """
    about = (pc.field("job") == JOB) & ~pc.field("query").is_null()
    columns = ["query", "run_id", "number", "status", "commit_metadata"]
    rows = read_ledger(lake).rows.filter(about).select(columns).to_pylist()
    found: dict[str, CheckedRounds] = {}
    for row in sorted(rows, key=lambda each: int(each["number"])):
        metadata = Metadata.from_json(row["commit_metadata"])
        if metadata is not None:
            is_retry = row["run_id"] == run_id and row["status"] == FAILED
            kept = metadata.extra[row["query"]][_BEFORE if is_retry else _CHECKED]
            found[row["query"]] = CheckedRounds(**kept)
    return found
