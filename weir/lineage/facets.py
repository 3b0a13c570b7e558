"""Facets: what OpenLineage's events say of runs, jobs and datasets, by their published schemas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from weir.lake.tables import Table

SPECIFICATION = "https://openlineage.io/spec"
PRODUCER = f"pkg:pypi/weir@{version('weir')}"
"""A package URL: which program made the events, in which version."""
Facet = dict[str, Any]


def documentation(of: str, text: str) -> dict[str, Facet]:
    """What a `Job` or a `Dataset` is; nothing without a text."""
    facet = _facet(f"1-1-0/Documentation{of}Facet", description=text)
    return {"documentation": facet} if text else {}


def ownership(of: str, owner: str) -> dict[str, Facet]:
    """Who answers for a `Job` or a `Dataset`; nothing without an owner."""
    facet = _facet(f"1-0-1/Ownership{of}Facet", owners=[{"name": owner}])
    return {"ownership": facet} if owner else {}


def job_type(kind: str) -> dict[str, Facet]:
    """What a job is: a stage, a query or a program."""
    said = {"processingType": "BATCH", "integration": "WEIR", "jobType": kind}
    return {"jobType": _facet("2-0-4/JobTypeJobFacet", **said)}


def parent(run_id: str, namespace: str, name: str) -> dict[str, Facet]:
    """The run that a run is a part of."""
    job = {"namespace": namespace, "name": name}
    return {"parent": _facet("1-2-0/ParentRunFacet", run={"runId": run_id}, job=job)}


def engine() -> dict[str, Facet]:
    """The program that ran, and its version."""
    said = {"name": "weir", "version": version("weir")}
    return {"processing_engine": _facet("1-1-1/ProcessingEngineRunFacet", **said)}


def error_message(reason: str) -> dict[str, Facet]:
    """Why a run failed."""
    said = {"message": reason, "programmingLanguage": "PYTHON"}
    return {"errorMessage": _facet("1-0-1/ErrorMessageRunFacet", **said)}


def stored(namespace: str, location: str) -> dict[str, Facet]:
    """Where a table of the lake is, and in which format."""
    return {
        "dataSource": _facet("1-0-1/DatasourceDatasetFacet", name=namespace, uri=location),
        "storage": _facet("1-0-1/StorageDatasetFacet", storageLayer="delta", fileFormat="parquet"),
    }


def columns(table: Table) -> dict[str, Facet]:
    """The columns of a table, with types and comments."""
    fields = [
        {"name": column.name, "type": str(column.type)}
        | ({"description": column.comment} if column.comment else {})
        for column in table.columns
    ]
    return {"schema": _facet("1-2-0/SchemaDatasetFacet", fields=fields)} if fields else {}


def input_field(dataset: Mapping[str, Any], field: str, **transformation: str) -> Facet:
    """A column of a dataset, and what was done with it: type, subtype, description."""
    named = {"namespace": dataset["namespace"], "name": dataset["name"], "field": field}
    return named | {"transformations": [transformation]}


def column_lineage(
    fields: Mapping[str, Iterable[Facet]], dataset: Iterable[Facet] = ()
) -> dict[str, Facet]:
    """Where columns come from; nothing if no input is known.

    Args:
        fields: by column, an `input_field` for each transformation of an input.
        dataset: those that decide on all rows.
    """
    own = {name: {"inputFields": _by_field(inputs)} for name, inputs in fields.items()}
    known = {name: field for name, field in own.items() if field["inputFields"]}
    decided = _by_field(dataset)
    said = {"fields": known} | ({"dataset": decided} if decided else {})
    facet = _facet("1-2-0/ColumnLineageDatasetFacet", **said)
    return {"columnLineage": facet} if known or decided else {}


def _by_field(inputs: Iterable[Facet]) -> list[Facet]:
    """Each column once, with all that was done with it."""
    fields: dict[tuple[str, str, str], Facet] = {}
    for one in inputs:
        key = (one["namespace"], one["name"], one["field"])
        before = fields.setdefault(key, one | {"transformations": []})
        before["transformations"] += one["transformations"]
    return [*fields.values()]


def table_version(number: int | None) -> dict[str, Facet]:
    """The version of a Delta table that was committed; nothing without one."""
    facet = _facet("1-0-1/DatasetVersionDatasetFacet", datasetVersion=str(number))
    return {} if number is None else {"version": facet}


def rows_written(rows: int | None) -> dict[str, Facet]:
    """How many rows were written; nothing if it is not known."""
    facet = _facet("1-0-2/OutputStatisticsOutputDatasetFacet", rowCount=rows)
    return {} if rows is None else {"outputStatistics": facet}


def assertions(results: Sequence[dict[str, Any]]) -> dict[str, Facet]:
    """What was checked; nothing without a result."""
    facet = _facet("1-1-0/DataQualityAssertionsDatasetFacet", assertions=[*results])
    return {"dataQualityAssertions": facet} if results else {}


def _facet(schema: str, **said: Any) -> Facet:
    name = schema.partition("/")[2]
    url = f"{SPECIFICATION}/facets/{schema}.json#/$defs/{name}"
    return {"_producer": PRODUCER, "_schemaURL": url, **said}
