"""Sources of kind `replica`: the rounds of a remote; an epoch per round that changes a mapping.

It is not declared in sources.yml: each remote of remotes.yml is one.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar, Literal

import pyarrow as pa

from weir.ingest.changesets import AcceptedChangeSets, ChangeSet, SourcePosition
from weir.ingest.file_rows import SCHEMA
from weir.ingest.reading import ChangeSetReading, Reader, SourceReading
from weir.ingest.rows import CHANGE_COLUMNS, Rows
from weir.ingest.sources.errors import SourceError
from weir.ingest.sources.guards import Guards
from weir.ingest.sources.source import Source
from weir.lake.delta.commit_files import LOG
from weir.lake.instants import time_at
from weir.lake.lake import Lake
from weir.lake.tables import REPLICAS, SERVICES
from weir.project import Project
from weir.rdf.reserved_graphs import replica_graph
from weir.remotes.declarations import Remote
from weir.remotes.replica_inbox import StoredRound, replica_inbox
from weir.remotes.replica_quads import Quad, RowPattern, changes_of

_FIELDS = pa.schema([SCHEMA.field(name) for name in CHANGE_COLUMNS])


class Rounds(Source):
    """The inbox of a remote. The position is the number of a round."""

    kind: Literal["replica"] = "replica"
    watched: ClassVar[str] = LOG
    remote: str

    @property
    def guards(self) -> Guards:
        """No limits: which answers of a remote are believed is decided when it is asked."""
        return Guards()

    @property
    def reserved(self) -> str:
        """The graph with its rows."""
        return replica_graph(self.remote)

    @classmethod
    def of(cls, remote: Remote, lake: str) -> Rounds:
        """The source that a declared remote is, in a lake."""
        location = f"{lake}/{REPLICAS.name(remote.name)}"
        return cls(name=remote.name, location=location, remote=remote.term)

    def pending(self, position: SourcePosition, project: Project) -> list[ChangeSet]:
        """The rounds after `position` that change a mapping."""
        rounds = replica_inbox(self.name).changed(project.lake, _number(position))
        return [
            ChangeSet(self, str(changed.mark.round), event_time=time_at(changed.mark.evaluation))
            for changed in rounds
        ]

    def read(
        self, accepted: AcceptedChangeSets, position: SourcePosition, reader: Reader
    ) -> SourceReading:
        """The quads that appear and vanish by each round."""
        lake = reader.project.lake
        rounds = {
            str(changed.mark.round): changed
            for changed in replica_inbox(self.name).changed(lake, _number(position))
        }
        patterns = self._patterns(lake)
        document = reader.next_document()
        tables, readings = [], {}
        for ordinal, change_set in accepted.of(self.name).items():
            stored = rounds[change_set.position]
            changes = self._changes(lake, stored, patterns)
            tables.append(_table(ordinal, document, changes))
            readings[ordinal] = ChangeSetReading(
                None, change_set.event_time, len(changes), rejections=0
            )
        return SourceReading(Rows(tuple(tables)), readings)

    def _changes(
        self, lake: Lake, stored: StoredRound, patterns: dict[str, RowPattern]
    ) -> list[tuple[bool, Quad]]:
        rows: list[dict[str, Any]] = replica_inbox(self.name).rows_of(lake, stored).to_pylist()
        try:
            return [*changes_of(rows, patterns)]
        except KeyError as unknown:
            raise SourceError(
                f"source {self.name}: round {stored.mark.round} is of a pattern that `services`"
                f" does not have: {unknown}",
                self.location,
                "The lake was changed by other means: restore the table `services`.",
            ) from None

    def _patterns(self, lake: Lake) -> dict[str, RowPattern]:
        # The IRI may be another one in remotes.yml by now: a graph is named by that of its rows.
        rows = lake.rows(SERVICES.name, ["pattern", "iri", "certain"]).to_pylist()
        return {
            row["pattern"]: RowPattern(row["iri"], row["pattern"], not json.loads(row["certain"]))
            for row in rows
        }


def _number(position: SourcePosition) -> int:
    return 0 if position.last is None else int(position.last)


def _table(ordinal: int, document: int, changes: list[tuple[bool, Quad]]) -> pa.Table:
    rows = [
        (ordinal, document, line, insert, *quad, None)
        for line, (insert, quad) in enumerate(changes, 1)
    ]
    columns = zip(*rows, strict=True) if rows else ((),) * len(CHANGE_COLUMNS)
    arrays = [
        pa.array([*values], field.type) for values, field in zip(columns, _FIELDS, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=_FIELDS)
