"""How the name of a source ends: its quads are retracted, or another name goes on with them.

Either is an epoch whose position says so; a position of a source never begins with `/`. The owners
of graphs follow from it: `settle_owners` writes them, also after a run that died in between.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Literal

import pyarrow as pa

from weir.ingest.changesets import AcceptedChangeSets, ChangeSet, SourcePosition, State
from weir.ingest.file_rows import SCHEMA
from weir.ingest.journal import JOB
from weir.ingest.reading import ChangeSetReading, Reader, SourceReading
from weir.ingest.rows import CHANGE_COLUMNS, Rows
from weir.ingest.sources.guards import Guards
from weir.ingest.sources.source import Source
from weir.lake.counted import counted
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import DOCUMENTS, GRAPHS, REPLICAS
from weir.progress.streams import stream_names
from weir.project import Project

DROPPED = "/dropped"
"""Position of the epoch that retracts all quads of a source."""
_RENAMED = re.compile(r"/renamed from (\w+) at \d+")


def renamed_from(old: str, epoch: int) -> str:
    """Position of the epoch at which a source goes on under a new name."""
    return f"/renamed from {old} at {epoch}"


def is_ending(position: str | None) -> bool:
    """Whether a position is that of an epoch that ends a name."""
    return position is not None and position.startswith("/")


def renamed(position: str) -> str | None:
    """The old name, if an epoch that ends a name says that another one goes on with it."""
    match = _RENAMED.fullmatch(position)
    return None if match is None else match[1]


def after_ending(
    positions: Mapping[str, SourcePosition], source: str, position: str, at: datetime
) -> Mapping[str, SourcePosition]:
    """How far each source is after an epoch that ends a name.

    Args:
        positions: before it.
        source: of the epoch: what was dropped, or the new name.
        position: of the epoch.
        at: when it was ingested.
    """
    if position == DROPPED:
        dropped = SourcePosition(ingested_at=at, ended="it was dropped")
        return {**positions, source: dropped}
    old = renamed(position)
    assert old is not None, "there is no other"
    before = positions.get(old, SourcePosition())
    return {
        **positions,
        old: SourcePosition(ingested_at=at, ended=f"it goes on as {source}", successor=source),
        source: replace(before, first_name=before.first_name or old, ingested_at=at),
    }


class Retraction(Source):
    """A source that is declared no longer, whose next state is empty."""

    kind: Literal["retraction"] = "retraction"

    @property
    def guards(self) -> Guards:
        """No limits: a person asked for the retraction."""
        return Guards()

    @property
    def change_set(self) -> ChangeSet:
        """The change set that makes all graphs of the source empty."""
        return ChangeSet(self, DROPPED, State())

    def pending(self, position: SourcePosition, project: Project) -> list[ChangeSet]:
        """One change set: the empty state."""
        del position, project
        return [self.change_set]

    def read(
        self, accepted: AcceptedChangeSets, position: SourcePosition, reader: Reader
    ) -> SourceReading:
        """No rows; the empty state makes all quads of the source vanish."""
        del position, reader
        nothing = pa.schema([SCHEMA.field(name) for name in CHANGE_COLUMNS]).empty_table()
        empty = ChangeSetReading(None, None, changes=0, rejections=0)
        return SourceReading(Rows((nothing,)), dict.fromkeys(accepted.of(self.name), empty))


def settle_owners(
    lake: Lake, positions: Mapping[str, SourcePosition], run_id: str, epoch: int
) -> None:
    """Give the graphs of sources that were renamed to their new names, and free those of others."""
    ended = {
        name: position.successor
        for name, position in positions.items()
        if position.ended is not None
    }
    if not ended or not lake.exists(GRAPHS.name):
        return
    rows = lake.rows(GRAPHS.name).to_pylist()
    settled = [row | {"source": owner} for row in rows if (owner := _owner(row["source"], ended))]
    if settled != rows:
        write(lake, GRAPHS, settled, Metadata(run_id, JOB, epoch), mode="overwrite")


def _owner(source: str, ended: Mapping[str, str | None]) -> str | None:
    """Who owns the graphs that a source wrote; None if it was dropped."""
    owner: str | None = source
    while owner is not None and owner in ended:
        owner = ended[owner]
    return owner


def undeclared_sources(
    lake: Lake, positions: Mapping[str, SourcePosition], declared: Collection[str]
) -> dict[str, int]:
    """How many quads stay of each source that is declared no longer.

    Not of streams, whose events no query reads then, and not of remotes and traversals, whose
    graphs are read only where a query names them.
    """
    streams = stream_names(lake)
    return {
        name: position.quads
        for name, position in sorted(positions.items())
        if name not in declared
        and position.quads
        and name not in streams
        and not lake.exists(REPLICAS.name(name))
        and not lake.exists(DOCUMENTS.name(name))
    }


def stays(quads: int) -> str:
    """What is to be said of a source that is declared no longer."""
    return f"it is no longer declared, and its {counted(quads, 'quad')} stay in the graph"


def what_to_do(source: str) -> str:
    """How the quads of a source that is declared no longer are retracted, or kept up to date."""
    return (
        f"`weir drop --source {source}` retracts them; if it has another name now,"
        f" `weir rename --source {source} NAME` goes on with them under that name."
    )
