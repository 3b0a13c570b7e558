"""The run events of one run: two per stage, and two per query that the stage read or wrote.

They are the start and the end of a run of OpenLineage; both are known when it has ended. The same
run of Weir gives the same events, whenever they are made, so what gets them twice has them once.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta
from functools import cached_property
from typing import Any

from weir.artifacts.contents import Contents, Model
from weir.definitions.definition import Definition
from weir.lake.counted import counted
from weir.lake.lake import Lake
from weir.lake.ledger.runs import FAILED
from weir.lake.tables import ANSWERS, DERIVED, EMBEDDINGS, OUTPUT_STREAMS, QUADS, TRIPLES
from weir.lineage import facets
from weir.lineage.columns import maintained_columns, published_columns
from weir.lineage.datasets import (
    Dataset,
    layout_of,
    source_dataset,
    table_dataset,
    table_filled_by,
    tables_read,
)
from weir.lineage.done import Done, Row
from weir.lineage.facets import PRODUCER, SPECIFICATION, Facet
from weir.progress.observed import Observed

_FAILURE = "errorMessage"
"""The facet of a run that has failed."""
_NOBODYS = "the run has ended without a reason"
Event = dict[str, Any]


@dataclass(frozen=True)
class Events:
    """What the events of a run are made of.

    Attributes:
        lake: has the tables.
        contents: what the project declares.
        done: what the run did.
        namespace: of the jobs.
    """

    lake: Lake
    contents: Contents
    done: Done
    namespace: str

    def __iter__(self) -> Iterator[Event]:
        models = {model.state.name: model for model in self.contents.models}
        read = tables_read(self.contents)
        for row in self.done.rows:
            stage, _, remote = row["job"].partition(":")
            query = row["query"]
            if query is not None and query not in models:
                continue
            end = (
                self._of_stage(row, stage, remote)
                if query is None
                else self._of_query(row, stage, models[query], read[query])
            )
            yield _start_of(end, row)
            yield end

    def _of_stage(self, row: Row, stage: str, remote: str) -> Event:
        inputs, outputs = list[Dataset](), list[Dataset]()
        if stage == "ingest":
            inputs, outputs = self._ingested(row)
        elif stage == "refresh":
            inputs, outputs = self._refreshed(row, remote)
        elif stage == "validate":
            inputs = self._checked_graph()
        name = f"{stage}.{remote}" if remote else stage
        return self._event(row, name, facets.job_type("STAGE"), {}, inputs, outputs)

    def _of_query(self, row: Row, stage: str, model: Model, read: Sequence[str]) -> Event:
        name = model.state.name
        maintained = self._table(EMBEDDINGS.name(name))
        inputs, outputs = [maintained], list[Dataset]()
        if stage == "maintain":
            inputs = [*map(self._table, read)]
            outputs = self._maintained(row, model)
        elif stage == "validate":
            maintained["inputFacets"] = facets.assertions(self._assertions(model))
        else:
            outputs = self._published(row, model)
        of_job = facets.job_type(model.declaration.kind.name.upper()) | _said("Job", model)
        of_run = facets.parent(self._run_id(stage), self.namespace, stage)
        return self._event(row, f"{stage}.{name}", of_job, of_run, inputs, outputs)

    def _ingested(self, row: Row) -> tuple[list[Dataset], list[Dataset]]:
        """Sources, and answers of remotes and documents that the run before has put down."""
        inputs, outputs = list[Dataset](), list[Dataset]()
        has_graph = has_streams = False
        for source in self.contents.sources:
            own = table_filled_by(source)
            if source.group in ("graph", "streams"):
                inputs.append(source_dataset(self.namespace, source))
            elif own is not None and self.lake.exists(own):
                inputs.append(self._table(own))
            has_graph |= source.group != "streams"
            if source.group == "streams" and own is not None and self.lake.exists(own):
                has_streams = True
                outputs.append(self._table(own))
        if has_graph:
            graph = [log.name for log in (QUADS, TRIPLES) if self.lake.exists(log.name)]
            outputs += [
                # The ledger has one number: of the changes of quads, and of events.
                self._written(row, name)
                if name == QUADS.name and not has_streams
                else self._table(name)
                for name in graph
            ]
        return inputs, outputs

    def _refreshed(self, row: Row, remote: str) -> tuple[list[Dataset], list[Dataset]]:
        for source in self.contents.sources:
            own = table_filled_by(source)
            if source.group in ("remotes", "traversals") and source.name == remote and own:
                return [source_dataset(self.namespace, source)], [self._written(row, own)]
        return [], []

    def _checked_graph(self) -> list[Dataset]:
        results = [_assertion(row) for row in self.done.checks if row["query"] is None]
        if not results:
            return []
        return [self._table(QUADS.name) | {"inputFacets": facets.assertions(results)}]

    def _maintained(self, row: Row, model: Model) -> list[Dataset]:
        """The rows of the answer, and the stream or graph that is made of them."""
        name = model.state.name
        stored, published = maintained_columns(self.lake, self.contents, model)
        outputs = [self._written(row, EMBEDDINGS.name(name), stored)]
        given = (OUTPUT_STREAMS.name(name), DERIVED.name(name))
        return [*outputs, *(self._table(own, published) for own in given if self.lake.exists(own))]

    def _published(self, row: Row, model: Model) -> list[Dataset]:
        """The log of the answer, and the table for readers, which follows it."""
        log, own = ANSWERS.name(model.state.name), model.table.name
        said, typed = _said("Dataset", model), facets.columns(model.table)
        of_log = said | published_columns(self.lake, model, "IDENTITY", "the term")
        if own == log:
            return [self._written(row, log, of_log | typed)]
        of_current = published_columns(self.lake, model, "TRANSFORMATION", "the value of the term")
        current = self._table(own, said | typed | of_current)
        return [self._written(row, log, of_log), current]

    def _table(self, name: str, said: dict[str, Facet] | None = None) -> Dataset:
        """A table of the lake, with its columns: readers join columns by the schemas of both."""
        layout = layout_of(self._definitions, name)
        columns = {} if layout is None else facets.columns(layout)
        return table_dataset(self.lake, name, columns | (said or {}))

    @cached_property
    def _definitions(self) -> dict[str, Definition]:
        models = self.contents.models
        return {m.state.name: m.definition for m in models if m.definition is not None}

    def _written(self, row: Row, table: str, said: dict[str, Facet] | None = None) -> Dataset:
        version = facets.table_version(row["table_version"])
        dataset = self._table(table, (said or {}) | version)
        return dataset | {"outputFacets": facets.rows_written(row["rows_out"])}

    def _assertions(self, model: Model) -> list[dict[str, Any]]:
        """What was checked of an answer: by the project's checks with their kind, and by Weir."""
        own = {check.name: check for check in model.checks}
        results = []
        for row in self.done.checks:
            if row["query"] != model.state.name:
                continue
            result, check = _assertion(row), own.get(row["expectation"])
            if check is not None:
                columns = [*check.arguments.columns.values()]
                result |= {"assertion": check.type, "severity": check.severity}
                result |= {"column": columns[0]} if len(columns) == 1 else {}
                result |= {"description": check.description} if check.description else {}
            results.append(result)
        return results

    def _event(
        self,
        row: Row,
        job: str,
        of_job: dict[str, Facet],
        of_run: dict[str, Facet],
        inputs: Sequence[Dataset],
        outputs: Sequence[Dataset],
    ) -> Event:
        has_failed = row["status"] == FAILED
        within = self.contents.within(row["reason"] or _NOBODYS)
        failure = facets.error_message(within) if has_failed else {}
        return {
            "eventType": "FAIL" if has_failed else "COMPLETE",
            "eventTime": row["recorded_at"].astimezone(UTC).isoformat(),
            "run": {"runId": self._run_id(job), "facets": facets.engine() | of_run | failure},
            "job": {"namespace": self.namespace, "name": job, "facets": of_job},
            "inputs": [*inputs],
            "outputs": [*outputs],
            "producer": PRODUCER,
            "schemaURL": f"{SPECIFICATION}/2-0-2/OpenLineage.json#/$defs/RunEvent",
        }

    def _run_id(self, job: str) -> str:
        """Equal for the same run of the same job over the same lake."""
        named = "\n".join((self.lake.root, self.namespace, self.done.run_id, job))
        return str(uuid.uuid5(uuid.NAMESPACE_URL, named))


def _start_of(end: Event, row: Row) -> Event:
    """The event of the start of a run that has ended; what it read and wrote says its end."""
    start = row["recorded_at"] - timedelta(seconds=row["seconds"] or 0.0)
    run = end["run"] | {"facets": {k: v for k, v in end["run"]["facets"].items() if k != _FAILURE}}
    own = {"eventType": "START", "eventTime": start.astimezone(UTC).isoformat(), "run": run}
    return end | own | {"inputs": [], "outputs": []}


def _said(of: str, model: Model) -> dict[str, Facet]:
    """What a definition says of itself: what its answer is, and who answers for it."""
    member = model.definition
    if member is None:
        return {}
    return facets.documentation(of, member.description) | facets.ownership(of, member.owner)


def _assertion(row: Row) -> dict[str, Any]:
    """The result of a check, without rows."""
    return {
        "assertion": row["expectation"],
        "name": row["expectation"],
        "success": row["success"],
        "description": Observed.from_json(row["observed"]).sentence,
        "actual": counted(row["unexpected_rows"] or 0, "unexpected row"),
    }
