"""A lake written by hand, as ingest and maintain would leave it, for the later stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
from deltalake import CommitProperties, write_deltalake

from tests.support.projects.project import Project
from weir.definitions.catalog import Catalog
from weir.lake.delta.commit import arrow_schema, create_if_missing, write
from weir.lake.delta.metadata import Metadata
from weir.lake.ledger.runs import SUCCEEDED, LedgerRow, record
from weir.lake.tables import (
    GRAPHS,
    QUADS,
    QUALITY,
    RUNS,
    TRANSACTIONS,
    TRIPLES,
    answers,
    embeddings,
)
from weir.progress.backlog import DIFFERENCE_AT
from weir.project import open_lake
from weir.settings import Settings

FIRST_EVENT = datetime(2026, 1, 1, tzinfo=UTC)

Change = tuple[Any, ...]
"""epoch, weight, then the values of v0, v1, ..."""


@dataclass(slots=True)
class HandMadeLake:
    """Tables of the lake of a project, written without the stages under test."""

    project: Project
    epochs: int = 0
    runs: int = 0

    @property
    def settings(self) -> Settings:
        return self.project.settings

    def copy(self, folder: Path) -> Self:
        """The same lake in a copy of its project."""
        return replace(self, project=self.project.copy(folder))

    def query(self, name: str, text: str) -> None:
        """Register a query, or edit it."""
        self.project.query(name, text)

    def ingest(self, epochs: int, *, weight: int = 1) -> None:
        """Add epochs that assert a quad each; another weight makes an invalid quad."""
        metadata = Metadata("ingest", "ingest", watermark=self.epochs + epochs)
        new = range(self.epochs + 1, self.epochs + epochs + 1)
        quads = [
            {
                "graph": "",
                "subject": f"<http://a/{epoch}>",
                "predicate": "<http://a/p>",
                "object": '"o"',
                "epoch": epoch,
                "weight": weight,
            }
            for epoch in new
        ]
        quads_version = write(open_lake(self.settings), QUADS, quads, metadata)
        triples = [{key: quad[key] for key in quad if key != "graph"} for quad in quads]
        triples_version = write(open_lake(self.settings), TRIPLES, triples, metadata)
        transactions = [
            {
                "epoch": epoch,
                "source": "s",
                "position": str(epoch),
                "event_time": event_time(epoch),
                "ingested_at": event_time(epoch),
                "inserted": 1,
                "deleted": 0,
                "rejected": 0,
                "quads_version": quads_version,
                "triples_version": triples_version,
                "run_id": "ingest",
            }
            for epoch in new
        ]
        graphs = [{"graph": "", "source": "s", "run_id": "ingest"}]
        write(open_lake(self.settings), GRAPHS, graphs if self.epochs == 0 else [], metadata)
        write(open_lake(self.settings), TRANSACTIONS, transactions, metadata)
        self.epochs += epochs

    def maintain(
        self, name: str, changes: Sequence[Change], *, base: int = 0, mode: str = "incremental"
    ) -> None:
        """Commit new rows of a query up to the newest epoch; all rows unless `incremental`."""
        query = Catalog.of(self.settings).member(name)
        table = embeddings(name, query.width)
        columns = [[shown, int(column[1:])] for shown, column in query.columns]
        metadata = Metadata(
            run_id=f"maintain-{self.runs}",
            job="maintain",
            watermark=self.epochs,
            base=base,
            fingerprint=query.fingerprint,
            mode=mode,
            extra={"columns": columns, "is_set": query.is_set},
        )
        self.runs += 1
        numbers = [number for _, number in columns]
        rows = [
            {"node": "answer", "epoch": epoch, "weight": weight}
            | {f"v{n}": value for n, value in zip(numbers, values, strict=True)}
            for epoch, weight, *values in changes
        ]
        if mode == "incremental":
            write(open_lake(self.settings), table, rows, metadata)
            return
        create_if_missing(open_lake(self.settings), table)
        write_deltalake(
            open_lake(self.settings).location(table.name),
            pa.Table.from_pylist(rows, schema=arrow_schema(table)),
            mode="overwrite",
            schema_mode="overwrite",
            commit_properties=CommitProperties(
                custom_metadata={"userMetadata": metadata.to_json()}
            ),
        )

    def leave_untouched(self, name: str, from_epoch: int) -> None:
        """The ledger row of a maintain run in which no change touched the query."""
        row = LedgerRow(
            "maintain", "maintain", 1, SUCCEEDED, name, "untouched", None, from_epoch, self.epochs
        )
        record(open_lake(self.settings), [row])

    def rows(self, table: str) -> list[dict[str, Any]]:
        """All rows of a table."""
        return self.project.table(table)

    def answers(self, name: str) -> list[tuple[Any, ...]]:
        """The published log: (epoch, weight, values...) without event times, sorted."""
        columns = (name for name in self.project.columns(f"answers/{name}") if name != "event_time")
        return sorted(self.project.rows(f"answers/{name}", *columns), key=repr)

    def versions(self) -> dict[str, int | None]:
        """The version of every table that validate and publish write."""
        names = [QUALITY.name, RUNS.name]
        names += [f"answers/{file.stem}" for file in self.settings.queries.glob("*.rq")]
        return {name: open_lake(self.settings).version(name) for name in names}


def event_time(epoch: int) -> datetime:
    """When the change of an epoch happened."""
    return FIRST_EVENT + timedelta(days=epoch)


def publish_by_hand(
    lake: HandMadeLake,
    name: str,
    columns: Sequence[str],
    changes: Sequence[Change],
    *,
    watermark: int,
    stored: Sequence[str] = (),
    base: int = 0,
    is_maintained: bool = False,
    mode: str = "initial",
    difference_at: int | None = None,
) -> None:
    """Commit rows of an answer table as publish would; `stored` are columns of earlier texts.

    With `is_maintained` they are those of the text that the query has.
    """
    fingerprint = Catalog.of(lake.settings).member(name).fingerprint if is_maintained else ""
    known = (*columns, *stored)
    rows = [
        {"epoch": epoch, "weight": weight, "event_time": event_time(epoch)}
        | dict(zip(known, values, strict=False))
        for epoch, weight, *values in changes
    ]
    extra = {
        "columns": [[column, number] for number, column in enumerate(columns)],
        "rows": sum(weight for _, weight, *_ in changes),
        "embeddings_version": 1,
    }
    extra |= {} if difference_at is None else {DIFFERENCE_AT: difference_at}
    metadata = Metadata("publish", "publish", watermark, base, fingerprint, mode, extra)
    write(open_lake(lake.settings), answers(name, known), rows, metadata)
