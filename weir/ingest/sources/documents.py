"""The kind `documents`: the rounds of a traversal, an epoch per round that changes a document.

It is not declared in sources.yml: each traversal of traversals.yml is one. With `epoch_per:
document` each document is an epoch, in the order of retrieval.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weir.ingest.changesets import AcceptedChangeSets, ChangeSet, SourcePosition
from weir.ingest.file_rows import SCHEMA
from weir.ingest.reading import ChangeSetReading, Reader, SourceReading
from weir.ingest.rows import CHANGE_COLUMNS, Rows
from weir.ingest.sources.guards import Guards
from weir.ingest.sources.source import Source
from weir.lake.delta.commit_files import LOG
from weir.lake.instants import time_at
from weir.lake.tables import DOCUMENTS
from weir.project import Project
from weir.rdf.canonical_nquads import Lines, split_terms
from weir.rdf.reserved_graphs import parts_of_web
from weir.traversals.declarations import Traversal
from weir.traversals.inbox import document_inbox

_FIELDS = pa.schema([SCHEMA.field(name) for name in CHANGE_COLUMNS])


class TraversalRounds(Source):
    """The inbox of a traversal. The position is the number of a round, or that and an ordinal."""

    kind: Literal["documents"] = "documents"
    watched: ClassVar[str] = LOG
    is_per_document: bool = False

    @property
    def guards(self) -> Guards:
        """None: what is believed of a host is decided when it is asked."""
        return Guards()

    @property
    def reserved(self) -> str:
        """What the names of the graphs of its documents begin with."""
        return parts_of_web(self.name)[0]

    @property
    def traversal(self) -> str:
        """Its name."""
        return self.name

    @classmethod
    def of(cls, traversal: Traversal, lake: str) -> TraversalRounds:
        """The source that a declared traversal is, in a lake."""
        return cls(
            name=traversal.name,
            location=f"{lake}/{DOCUMENTS.name(traversal.name)}",
            is_per_document=traversal.epoch_per == "document",
        )

    def pending(self, position: SourcePosition, project: Project) -> list[ChangeSet]:
        """The rounds after `position` that change a document, or their documents."""
        lake, inbox, change_sets = project.lake, document_inbox(self.name), []
        number, ordinal = _number(position)
        for stored in inbox.changed(lake, number - 1 if ordinal else number):
            at = time_at(stored.mark.evaluation)
            if not self.is_per_document and stored.mark.round > number:
                change_sets.append(ChangeSet(self, str(stored.mark.round), event_time=at))
            elif self.is_per_document:
                rows = inbox.rows_of(lake, stored)
                for own in _changed(rows)["ordinal"].to_pylist():
                    if (stored.mark.round, own) > (number, ordinal):
                        name = f"{stored.mark.round}-{own}"
                        change_sets.append(ChangeSet(self, name, event_time=at))
        return change_sets

    def read(
        self, accepted: AcceptedChangeSets, position: SourcePosition, reader: Reader
    ) -> SourceReading:
        """The quads that appear and vanish by each round, or document."""
        lake, inbox = reader.project.lake, document_inbox(self.name)
        number, ordinal = _number(position)
        stored_rounds = inbox.changed(lake, number - 1 if ordinal else number)
        rounds = {stored.mark.round: stored for stored in stored_rounds}
        document = reader.next_document()
        tables, readings = [], {}
        rows_of: dict[int, pa.Table] = {}
        for place, change_set in accepted.of(self.name).items():
            round_, own = _number_of(change_set.position)
            if round_ not in rows_of:
                rows_of[round_] = _changed(inbox.rows_of(lake, rounds[round_]))
            rows = rows_of[round_]
            if own:
                rows = rows.filter(pc.field("ordinal") == own)
            changes = [
                _table(place, document, rows, "deleted"),
                _table(place, document, rows, "inserted"),
            ]
            tables += changes
            size = sum(table.num_rows for table in changes)
            readings[place] = ChangeSetReading(None, change_set.event_time, size, rejections=0)
        return SourceReading(Rows(tuple(tables)), readings)


def _changed(rows: pa.Table) -> pa.Table:
    """The rows of a round that change a document, in the order of retrieval."""
    chosen = pc.or_(pc.is_valid(rows["inserted"]), pc.is_valid(rows["deleted"]))
    return rows.filter(chosen).sort_by("ordinal")


def _number(position: SourcePosition) -> tuple[int, int]:
    return (0, 0) if position.last is None else _number_of(position.last)


def _number_of(position: str) -> tuple[int, int]:
    round_, _, ordinal = position.partition("-")
    return int(round_), int(ordinal or 0)


def _table(place: int, document: int, rows: pa.Table, name: str) -> pa.Table:
    """The assertions of one sign; no quad both appears and vanishes in a round."""
    text = "".join(value for value in rows[name].to_pylist() if value)
    lines = Lines.of(text.encode())
    terms = split_terms(lines, np.arange(len(lines)))
    size = len(lines)
    columns = {
        "ordinal": pa.array(np.full(size, place)),
        "document": pa.array(np.full(size, document)),
        "line": pa.array(np.arange(1, size + 1)),
        "insert": pa.array(np.full(size, name == "inserted")),
        "graph": terms.graph,
        "subject": terms.subject,
        "predicate": terms.predicate,
        "object": terms.object,
    }
    arrays = [
        columns[field.name].cast(field.type)
        if field.name in columns
        else pa.nulls(size, field.type)
        for field in _FIELDS
    ]
    return pa.Table.from_arrays(arrays, schema=_FIELDS)
