"""The log of the graph, replaced by the one that was rebuilt from the sources.

`quads` goes first and comes last: without it no stage works, and a repair that was killed is
repeated, with what could be read of the old one.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from weir.audit.from_sources import RebuiltGraph
from weir.audit.rebuild_folders import discard_replaced, folder_of, new_table, replaced_lake
from weir.ingest import clock
from weir.ingest.journal import JOB, Transaction
from weir.lake.delta import file_commits
from weir.lake.delta.commit import checkpoint, write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.ledger.claims import require_held
from weir.lake.tables import QUADS, TRANSACTIONS, TRIPLES, Table


def put_in_place(lake: Lake, rebuilt: RebuiltGraph, run_id: str) -> None:
    """Replace the log of the graph by the rebuilt one.

    Raises:
        Superseded: another run has taken a claim of this one over; nothing is replaced.
    """
    folder, until = folder_of(lake), max(rebuilt.head, rebuilt.until)
    # A folder that is renamed passes no fence. A commit does: a run that took a claim over and has
    # not committed yet is refused its first commit of epochs.
    file_commits.append(lake.existing(TRANSACTIONS.name), (), guard=lake.guard(TRANSACTIONS.name))
    lake.committed(TRANSACTIONS.name)
    for table in (QUADS, TRIPLES):
        checkpoint(f"repair:before:take:{table.name}")
        require_held(lake)
        _take_out(lake, folder, table)
    checkpoint("repair:after:take:triples")
    rows = lake.rows(TRANSACTIONS.name).to_pylist()
    if rebuilt.corrected:
        now = Transaction(until, rebuilt.corrected, None, None, None, clock.now(), 0, 0, 0, run_id)
        rows.append({name: getattr(now, name, None) for name in TRANSACTIONS.column_names})
    # Their feeds begin with a commit that has all rows.
    named = {f"{table.name}_version": version for table, version in rebuilt.versions.items()}
    metadata = Metadata(run_id, JOB, until)
    write(lake, TRANSACTIONS, [row | named for row in rows], metadata, mode="overwrite")
    for table in (TRIPLES, QUADS):
        checkpoint(f"repair:before:put:{table.name}")
        require_held(lake)
        made = folder_of(rebuilt.temporary) / new_table(table).name
        made.rename(folder / table.name)
        lake.forget(table.name)
    checkpoint("repair:after:put:quads")
    discard_replaced(lake)


def _take_out(lake: Lake, folder: Path, table: Table) -> None:
    """Take a table out of the lake; one that is out already stays as it is."""
    if (folder / table.name).exists():
        replaced = folder_of(replaced_lake(lake)) / table.name
        shutil.rmtree(replaced, ignore_errors=True)
        replaced.parent.mkdir(parents=True, exist_ok=True)
        (folder / table.name).rename(replaced)
    lake.forget(table.name)
