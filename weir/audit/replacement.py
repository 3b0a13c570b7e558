"""Puts the rebuilt log of the graph in the place of the damaged one.

`quads` is taken out first and put in last. Without it no stage runs, so a repair that was killed
has to be repeated; it finds the old `quads` where it was moved to.
"""

from __future__ import annotations

from weir.audit.from_sources import RebuiltGraph
from weir.audit.rebuild_folders import discard_replaced, put_in, take_out
from weir.ingest import clock
from weir.ingest.epochs import Transaction
from weir.ingest.journal import JOB
from weir.lake.delta import file_commits
from weir.lake.delta.commit import checkpoint, write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.ledger.claims import require_held
from weir.lake.tables import QUADS, TRANSACTIONS, TRIPLES


def put_in_place(lake: Lake, rebuilt: RebuiltGraph, run_id: str) -> None:
    """Replace the log of the graph by the rebuilt one.

    Raises:
        Superseded: another run has taken over a claim of this one; nothing is replaced.
    """
    until = max(rebuilt.head, rebuilt.until)
    # Moving a table passes no fence, but this commit does: a run that has taken a claim over and
    # not committed yet is refused its first commit of epochs.
    file_commits.append(lake.existing(TRANSACTIONS.name), (), guard=lake.guard(TRANSACTIONS.name))
    lake.committed(TRANSACTIONS.name)
    for table in (QUADS, TRIPLES):
        checkpoint(f"repair:before:take:{table.name}")
        require_held(lake)
        take_out(lake, table)
    checkpoint("repair:after:take:triples")
    rows = lake.rows(TRANSACTIONS.name).to_pylist()
    if rebuilt.corrected:
        corrected = Transaction(
            epoch=until,
            source=rebuilt.corrected,
            position=None,
            ingested_at=clock.now(),
            run_id=run_id,
        )
        rows.append({name: getattr(corrected, name, None) for name in TRANSACTIONS.column_names})
    # The change feeds of the new tables begin with the commits that have all rows.
    named = {f"{table.name}_version": version for table, version in rebuilt.versions.items()}
    metadata = Metadata(run_id, JOB, until)
    write(lake, TRANSACTIONS, [row | named for row in rows], metadata, mode="overwrite")
    for table in (TRIPLES, QUADS):
        checkpoint(f"repair:before:put:{table.name}")
        require_held(lake)
        put_in(lake, table)
    checkpoint("repair:after:put:quads")
    discard_replaced(lake)
