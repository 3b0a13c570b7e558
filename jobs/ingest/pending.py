"""The pending change sets of the sources, and how they are divided into batches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from jobs.compute.placement import Placement
from jobs.errors import WeirError
from jobs.ingest.changesets import ChangeSet, SourcePosition
from jobs.ingest.journal import Transaction
from jobs.ingest.sources.errors import errors_of
from jobs.ingest.sources.source import Source
from jobs.settings import Limits, Settings
from lake.lake import Lake
from lake.tables import TRANSACTIONS


def source_positions(lake: Lake) -> Mapping[str, SourcePosition]:
    """How far each source is ingested, by `transactions`; from the beginning for a new source.

    All positions are read: a folder of files is compared with them, so that a file that appears
    among earlier ones is noticed.
    """
    if not lake.exists(TRANSACTIONS.name):
        return _advanced({}, ())
    version = lake.version(TRANSACTIONS.name)
    known = lake.derived(TRANSACTIONS.name)
    if isinstance(known, _Read) and known.version == version:
        return known.positions
    columns = ["epoch", "source", "position", "change_id"]
    rows = lake.rows(TRANSACTIONS.name, columns).sort_by("epoch").to_pylist()
    found = _advanced({}, [(row["source"], row["position"], row["change_id"]) for row in rows])
    lake.derive(TRANSACTIONS.name, _Read(version, found))
    return found


@dataclass(frozen=True, slots=True)
class _Read:
    """The positions by a version of `transactions`."""

    version: int | None
    positions: Mapping[str, SourcePosition]


def positions_after(
    positions: Mapping[str, SourcePosition], transactions: Iterable[Transaction]
) -> Mapping[str, SourcePosition]:
    """How far each source is ingested after further transactions, in the order of their epochs."""
    return _advanced(positions, [(t.source, t.position, t.change_id) for t in transactions])


def _advanced(
    positions: Mapping[str, SourcePosition], steps: Iterable[tuple[str, str, str | None]]
) -> Mapping[str, SourcePosition]:
    """`positions` after further steps: source, position, change id."""
    new: dict[str, list[str]] = defaultdict(list)
    last_ids: dict[str, str | None] = {}
    for source, position, change_id in steps:
        new[source].append(position)
        last_ids[source] = change_id
    found = defaultdict(SourcePosition, positions)
    for source, last_id in last_ids.items():
        found[source] = SourcePosition((*found[source].positions, *new[source]), last_id)
    return found


def pending_change_sets(
    settings: Settings, sources: Sequence[Source], consumed: Mapping[str, SourcePosition]
) -> tuple[list[ChangeSet], dict[str, WeirError]]:
    """The pending change sets, source by source, and why some sources have none."""
    queue: list[ChangeSet] = []
    errors: dict[str, WeirError] = {}
    for source in sources:
        try:
            with errors_of(source):
                queue += source.pending(consumed[source.name], settings)
        except WeirError as error:
            errors[source.name] = error
    return queue, errors


def next_batch(queue: list[ChangeSet], limits: Limits) -> tuple[list[ChangeSet], list[ChangeSet]]:
    """The next batch, and the rest.

    Files and foreign tables, which need Spark, are in batches apart; of files there are as many as
    the driver may parse, if it may parse the first.
    """
    in_files = [bool(each.documents) for each in queue]
    sizes = accumulate(sum(file.size for file in each.documents) for each in queue)
    fits = [*map(Placement.of(limits).parses, sizes)]
    length = 0
    for index in range(min(len(queue), limits.batch_epochs)):
        if in_files[index] != in_files[0] or fits[index] != fits[0]:
            break
        length = index + 1
    return queue[:length], queue[length:]
