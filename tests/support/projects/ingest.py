"""A project in a folder: sources, a lake, and what is in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import duckdb
import yaml

from jobs.ingest_changes import IngestResult, ingest_changes
from jobs.settings import Settings

QUAD = ("graph", "subject", "predicate", "object")
TABLES = ("quads", "triples", "transactions", "graphs", "rejected", "source_files")
_OWN_TO_A_RUN = ("file", "modified", "run_id", "ingested_at", "quads_version", "triples_version")

Rows = list[tuple[Any, ...]]


def no_spark() -> NoReturn:
    """A session that must not be started: the run has to work without Spark."""
    raise AssertionError("Spark was asked for")


@dataclass(frozen=True)
class Project:
    """A folder with weir.toml and sources.yml."""

    folder: Path

    def declare(self, *sources: Mapping[str, Any], **limits: float | str) -> None:
        """Write the configuration and the sources."""
        lines = [
            'lake = "lake"',
            "[limits]",
            *(f"{name} = {json.dumps(n)}" for name, n in limits.items()),
        ]
        (self.folder / "weir.toml").write_text("\n".join(lines))
        (self.folder / "sources.yml").write_text(yaml.safe_dump({"sources": [*sources]}))

    def write(self, path: str, text: str) -> None:
        """Write a file of a source."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def patch(self, path: str, *lines: str, id_: str = "", previous: str = "") -> None:
        """Write an RDF Patch."""
        head = [f"H id <{id_}> ."] if id_ else []
        head += [f"H prev <{previous}> ."] if previous else []
        self.write(path, "\n".join([*head, "TX .", *lines, "TC .", ""]))

    @property
    def settings(self) -> Settings:
        return Settings.load(self.folder / "weir.toml")

    def ingest(self, spark: Any = no_spark) -> IngestResult:
        """Run ingest in this process; without a session, it must not need one."""
        return ingest_changes(spark, self.settings, "test")

    def rows(self, table: str, *columns: str) -> Rows:
        """The rows of a table of the lake, sorted."""
        found = self.settings.open_lake().rows(table, columns=columns or None).to_pylist()
        return sorted(
            (tuple(row.values()) for row in found), key=lambda row: json.dumps(row, default=str)
        )

    def state(self, epoch: int) -> set[tuple[object, ...]]:
        """The quads that hold at an epoch."""
        quads = self.settings.open_lake().rows("quads")
        connection = duckdb.connect()
        connection.register("quads", quads)
        found = connection.execute(
            "SELECT graph, subject, predicate, object FROM quads WHERE epoch <= ?"
            " GROUP BY ALL HAVING SUM(weight) > 0",
            [epoch],
        ).fetchall()
        return {*found}

    def contents(self) -> dict[str, Rows]:
        """Everything that ingest writes, without the columns that differ from run to run."""
        found = {}
        for table in TABLES:
            names = self.settings.open_lake().rows(table).column_names
            found[table] = self.rows(table, *(n for n in names if n not in _OWN_TO_A_RUN))
        return found

    def versions(self) -> dict[str, int | None]:
        """The newest version of every table."""
        return {table: self.settings.open_lake().version(table) for table in TABLES}
