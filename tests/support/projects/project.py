"""A project in a folder: what it declares, its stages, and what they leave in its lake."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, Self

import yaml

from tests.support.opened import no_spark, on_spark
from tests.support.stages import STAGES
from weir.compute.session import Spark
from weir.door import guarded
from weir.ingest.stage import IngestResult, ingest_changes
from weir.maintain.outcome import MaintainResult
from weir.maintain.stage import maintain_queries
from weir.progress.completion import Completion
from weir.project import Project as Opened
from weir.project import open_lake
from weir.publish.stage import PublishResult, publish_answers
from weir.settings import CONFIG_FILE, Settings
from weir.validate.stage import ValidateResult, validate_answers

PATCHES = {"name": "p", "kind": "patches", "location": "changes"}
SNAPSHOTS = {"name": "s", "kind": "snapshots", "location": "versions"}
LOOKED_UP = {"bulk_share": 1e6, "bulk_quads": 0}
"""Limits by which neighbourhoods are looked up in any graph; those of tests are small."""
TABLES = ("quads", "triples", "transactions", "graphs", "rejected", "source_files")
_OWN_TO_A_RUN = ("file", "modified", "run_id", "ingested_at", "quads_version", "triples_version")

Rows = list[tuple[Any, ...]]
Solution = tuple[tuple[str, str], ...]
"""The bound variables and their terms, sorted, so that the order of columns does not matter."""
Change = tuple[int, int, Solution]
"""epoch, weight, solution."""


def solution(row: Mapping[str, Any]) -> Solution:
    """The bound variables of a row; its event time is none."""
    bound = ((name, str(term)) for name, term in row.items() if term is not None)
    return tuple(sorted(pair for pair in bound if pair[0] != "event_time"))


_accepting = count(1)


def _run_of(accept: Collection[str] | None) -> str:
    """The id of a run: another one for each that accepts, as it knows what others stopped at."""
    return f"accepting{next(_accepting)}" if accept else "test"


@dataclass(eq=False)
class Project:
    """A folder with weir.toml and a folder of queries, which are made if they are missing."""

    folder: Path

    def __post_init__(self) -> None:
        self.folders("queries")
        if not (self.folder / CONFIG_FILE).exists():
            self.configure()

    def configure(self, **limits: float | str) -> None:
        """Write the configuration; unless it says otherwise, neighbourhoods are looked up."""
        named = LOOKED_UP | limits
        lines = (f"{name} = {json.dumps(limit)}" for name, limit in named.items())
        self.write(CONFIG_FILE, "\n".join(['lake = "lake"', "[limits]", *lines]))

    def declare(self, *sources: Mapping[str, Any], **limits: float | str) -> Self:
        """Write the configuration and the sources."""
        self.configure(**limits)
        self.write("sources.yml", yaml.safe_dump({"sources": [*sources]}))
        return self

    def remotes(self, *remotes: Mapping[str, Any]) -> None:
        """Write the remotes."""
        self.write("remotes.yml", yaml.safe_dump({"remotes": [*remotes]}))

    def folders(self, *names: str) -> None:
        """Make folders."""
        for name in names:
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    def write(self, path: str, text: str) -> None:
        """Write a file."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def query(self, name: str, text: str) -> None:
        """Register a query, or edit it."""
        self.write(f"queries/{name}.rq", text)

    def remove_query(self, name: str) -> None:
        """Take a query out of the registry."""
        (self.folder / f"queries/{name}.rq").unlink()

    def program(self, name: str, text: str) -> None:
        """Register a program, or edit it."""
        self.write(f"programs/{name}.lars", text)

    def patch(
        self, path: str, *lines: str, id_: str = "", previous: str = "", time: str = ""
    ) -> None:
        """Write an RDF Patch."""
        head = [f"H id <{id_}> ."] if id_ else []
        head += [f"H prev <{previous}> ."] if previous else []
        head += [f'H time "{time}"^^<http://www.w3.org/2001/XMLSchema#dateTime> .'] if time else []
        self.write(path, "\n".join([*head, "TX .", *lines, "TC .", ""]))

    @property
    def change_sets(self) -> list[Path]:
        """The files of the folder `changes`, in their order."""
        return sorted((self.folder / "changes").glob("*"))

    def change_set(self, *lines: str) -> None:
        """Write the next change set of `A ...` and `D ...` lines."""
        file = f"changes/{len(self.change_sets) + 1:04}.rdfp"
        self.patch(file, *(f"{line.removesuffix(' .')} ." for line in lines))

    def change(self, *lines: str) -> None:
        """Write the next change set and ingest it."""
        self.change_set(*lines)
        self.ingest()

    def copy(self, folder: Path) -> Self:
        """The same project in another folder."""
        shutil.copytree(self.folder, folder)
        return replace(self, folder=folder)

    @property
    def settings(self) -> Settings:
        return Settings.load(self.folder / CONFIG_FILE)

    def stages(self, *names: str, spark: Spark = no_spark, run_id: str = "test") -> None:
        """Run some stages as one run; without a session, they must not need one."""
        self._in_one_run(names, spark, run_id)

    def _in_one_run(self, names: Sequence[str], spark: Spark, run_id: str) -> dict[str, Any]:
        """The results of stages, by name, which share what is opened as those of `weir run` do."""

        def run(opened: Opened) -> dict[str, Any]:
            return {name: STAGES[name](opened, run_id) for name in names}

        return on_spark(spark, run, self.settings)

    def ingest(self, spark: Spark = no_spark, **options: Any) -> IngestResult:
        """Run ingest."""
        run_id = _run_of(options.get("accept"))
        return on_spark(spark, ingest_changes, self.settings, run_id, **options)

    def deliver(
        self, accept: Collection[str] = (), spark: Spark = no_spark, run_id: str | None = None
    ) -> IngestResult:
        """Run ingest as a run does: past the doors of shapes."""

        def ingest(opened: Opened, run_id: str, **options: Any) -> IngestResult:
            return guarded(ingest_changes, opened, run_id, **options)

        return on_spark(spark, ingest, self.settings, run_id or _run_of(accept), accept=accept)

    def deliver_and_run(self, accept: Collection[str] = ()) -> IngestResult:
        """Run all stages in one process, past the doors of shapes."""

        def run(opened: Opened, run_id: str, **options: Any) -> IngestResult:
            result = guarded(ingest_changes, opened, run_id, **options)
            for stage in (maintain_queries, validate_answers, publish_answers):
                stage(opened, run_id)
            return result

        return on_spark(no_spark, run, self.settings, _run_of(accept), accept=accept)

    def maintain(self, spark: Spark = no_spark, **options: Any) -> MaintainResult:
        """Run maintain."""
        return on_spark(spark, maintain_queries, self.settings, "test", **options)

    def validate(self, spark: Spark = no_spark, **options: Any) -> ValidateResult:
        """Run validate."""
        return on_spark(spark, validate_answers, self.settings, "test", **options)

    def publish(self, spark: Spark = no_spark) -> PublishResult:
        """Run publish."""
        return on_spark(spark, publish_answers, self.settings, "test")

    def run(self, spark: Spark = no_spark) -> MaintainResult:
        """Run all stages; returns the result of maintain."""
        result: MaintainResult = self._in_one_run([*STAGES], spark, "test")["maintain"]
        return result

    def table(self, name: str) -> list[dict[str, Any]]:
        """The rows of a table."""
        return open_lake(self.settings).rows(name).to_pylist()

    def columns(self, name: str) -> list[str]:
        """The columns of a table."""
        return open_lake(self.settings).rows(name).column_names

    def rows(self, table: str, *columns: str) -> Rows:
        """The rows of a table, sorted."""
        rows = open_lake(self.settings).rows(table, columns=columns or None).to_pylist()
        return sorted(
            (tuple(row.values()) for row in rows), key=lambda row: json.dumps(row, default=str)
        )

    def state(self, epoch: int) -> set[tuple[object, ...]]:
        """The quads that hold at an epoch."""
        held: Counter[tuple[object, ...]] = Counter()
        columns = ("epoch", "weight", "graph", "subject", "predicate", "object")
        for row in open_lake(self.settings).rows("quads", columns=columns).to_pylist():
            at, weight, *quad = (row[column] for column in columns)
            if at <= epoch:
                held[tuple(quad)] += weight
        return {*+held}

    def contents(self) -> dict[str, Rows]:
        """Everything that ingest writes, without the columns that differ from run to run."""
        names = {table: self.columns(table) for table in TABLES}
        return {
            table: self.rows(table, *(name for name in columns if name not in _OWN_TO_A_RUN))
            for table, columns in names.items()
        }

    def signed(self, name: str) -> list[Change]:
        """The rows of the published log as they are stored, without event times, sorted."""
        rows = self.table(f"answers/{name}")
        return sorted(
            ((row.pop("epoch"), row.pop("weight"), solution(row)) for row in rows), key=repr
        )

    def answer(self, name: str, epoch: int | None = None) -> Counter[Solution]:
        """The published answer, or what it was at an epoch."""
        held: Counter[Solution] = Counter()
        for at, weight, row in self.signed(name):
            if epoch is None or at <= epoch:
                held[row] += weight
        assert min(held.values(), default=0) >= 0, "a negative multiplicity"
        return +held

    def watermark(self, name: str) -> int:
        """The epoch up to which the embeddings of a query are complete."""
        maintained = Completion.read(open_lake(self.settings)).maintained(name)
        assert maintained is not None
        return maintained.epoch

    def ledger(self, job: str) -> dict[str, dict[str, Any]]:
        """Per query, its row by the last run of a job; the row of the run itself is under ""."""
        rows = [row for row in self.table("runs") if row["job"] == job]
        last = max(row["number"] for row in rows)
        return {
            row["query"] or "": row
            for row in rows
            if row["number"] == last and row["status"] != "claimed"
        }

    def versions(self) -> dict[str, int | None]:
        """The newest version of every table of the lake, but for the ledger and its summary."""
        folder, lake = Path(self.settings.lake), open_lake(self.settings)
        names = {str(log.parent.relative_to(folder)) for log in folder.rglob("_delta_log")}
        return {name: lake.version(name) for name in sorted(names - {"runs", "ledger_summary"})}
