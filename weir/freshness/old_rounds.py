"""Commits of rounds that ingest has taken and a check has seen leave the log of an inbox."""

from __future__ import annotations

from weir.freshness.checked_rounds import checked_rounds
from weir.lake.lake import Lake
from weir.lake.tables import LOG_COMMITS, REPLICAS
from weir.lake.upkeep.old_commits import delete_old_commits
from weir.remotes.inbox import rounds_of


def delete_old_rounds(lake: Lake, remote: str, ingested: int) -> int:
    """Delete the old commits of an inbox, but for those that somebody has still to read.

    Its rows stay. Ingest reads the commits of the rounds that change a mapping; a check those of
    all rounds since the one that it saw last, and of changes that were not ingested then. A lake
    without checks keeps none for them.

    Args:
        lake: which holds it.
        remote: its name.
        ingested: the newest round that is an epoch; 0 before the first.

    Returns:
        How many files of the log were deleted.
    """
    newest = lake.version(REPLICAS.name(remote))
    if newest is None:
        return 0
    before = newest - LOG_COMMITS
    checked = checked_rounds(lake, run_id="").get(remote)
    changes = ingested if checked is None else min(ingested, checked.ingested)
    for each in rounds_of(lake, remote):
        before = min(before, each.version)
        is_seen = checked is None or each.mark.round <= checked.round
        if is_seen and each.mark.changed_round <= changes:
            break
    return delete_old_commits(lake, REPLICAS.name(remote), before)
