"""What there is to know of sources: which are stopped or wait, and whose input was rejected."""

from __future__ import annotations

from collections.abc import Iterator

from jobs.ingest.stopped_sources import stopped_sources
from lake.lake import Lake
from lake.tables import TRANSACTIONS


def source_notes(lake: Lake) -> Iterator[str]:
    """A line for each source that is stopped or waits, then for each with rejected input."""
    for name, each in sorted(stopped_sources(lake).items()):
        yield f"source {name} is {each.state} since {each.since:%Y-%m-%d %H:%M:%S}: {each.reason}"
    if not lake.exists(TRANSACTIONS.name):
        return
    columns = ["epoch", "source", "position", "rejected"]
    rows = lake.rows(TRANSACTIONS.name, columns, [("rejected", ">", 0)]).sort_by("epoch")
    totals: dict[str, int] = {}
    last: dict[str, str] = {}
    for row in rows.to_pylist():
        totals[row["source"]] = totals.get(row["source"], 0) + row["rejected"]
        last[row["source"]] = row["position"]
    for name, total in sorted(totals.items()):
        yield f"source {name}: {total:,} rejected so far, the last in {last[name]}"
