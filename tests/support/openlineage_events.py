"""Events of lineage as the classes of OpenLineage's client library, which come of its schemas.

https://openlineage.io/docs/client/python
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import attr
from openlineage.client import event_v2
from openlineage.client import facet_v2 as facets
from openlineage.client.serde import Serde

Event = dict[str, Any]
FACETS: Mapping[str, Mapping[str, type]] = {
    "Run": {
        "errorMessage": facets.error_message_run.ErrorMessageRunFacet,
        "parent": facets.parent_run.ParentRunFacet,
        "processing_engine": facets.processing_engine_run.ProcessingEngineRunFacet,
    },
    "Job": {
        "documentation": facets.documentation_job.DocumentationJobFacet,
        "jobType": facets.job_type_job.JobTypeJobFacet,
        "ownership": facets.ownership_job.OwnershipJobFacet,
    },
    "Dataset": {
        "columnLineage": facets.column_lineage_dataset.ColumnLineageDatasetFacet,
        "dataSource": facets.datasource_dataset.DatasourceDatasetFacet,
        "documentation": facets.documentation_dataset.DocumentationDatasetFacet,
        "ownership": facets.ownership_dataset.OwnershipDatasetFacet,
        "schema": facets.schema_dataset.SchemaDatasetFacet,
        "storage": facets.storage_dataset.StorageDatasetFacet,
        "version": facets.dataset_version_dataset.DatasetVersionDatasetFacet,
    },
    "InputDataset": {
        "dataQualityAssertions": (
            facets.data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet
        ),
    },
    "OutputDataset": {
        "outputStatistics": (
            facets.output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet
        ),
    },
}
"""The facets that Weir writes, by what has them: the classes that the library has for them."""


def as_the_library_writes(event: Event) -> Event:
    """An event built of the library's classes, and written again as JSON.

    Raises:
        AssertionError: a key is unknown or missing, or a value is of another type.
    """
    return Serde.to_dict(_built(event_v2.RunEvent, event))


def without_empty(value: Any) -> Any:
    """A value without the lists and objects in it that are empty: the library adds such."""
    if isinstance(value, dict):
        parts = {name: without_empty(part) for name, part in value.items()}
        return {name: part for name, part in parts.items() if part not in ({}, [])}
    return [without_empty(part) for part in value] if isinstance(value, list) else value


def _built(hint: Any, value: Any) -> Any:
    """A value of a type that the library says, from JSON."""
    origin, parts = get_origin(hint), get_args(hint)
    if NoneType in parts:
        (hint,) = (part for part in parts if part is not NoneType)
        return _built(hint, value)
    if origin is list:
        return [_built(parts[0], part) for part in value]
    if origin is dict:
        return {name: _built(parts[1], part) for name, part in value.items()}
    if attr.has(hint):
        return _instance(hint, value)
    if issubclass(hint, Enum):
        return hint(value)
    assert isinstance(value, hint), f"{value!r} is no {hint.__name__}"
    return value


def _instance(of: type, value: Any) -> Any:
    """An instance of a class of the library."""
    hints, names = get_type_hints(of), {own.name: own for own in attr.fields(of)}
    said = {}
    assert {*value} <= {*names}, f"{of.__name__} has no {', '.join({*value} - {*names})}"
    for name, part in value.items():
        if not names[name].init:
            # The address of the schema, which the class says itself.
            continue
        if name.lower().endswith("facets"):
            known = _facets_of(of, name)
            assert {*part} <= {*known}, f"{of.__name__} has no facets {', '.join({*part})}"
            said[name] = {facet: _built(known[facet], own) for facet, own in part.items()}
        else:
            said[names[name].alias] = _built(hints[name], part)
    required = [own.name for own in names.values() if own.init and own.default is attr.NOTHING]
    missing = {*required} - {*value}
    assert not missing, f"{of.__name__} must have {', '.join(missing)}"
    return of(**said)


def _facets_of(of: type, name: str) -> Mapping[str, type]:
    """The facets that a key of an object may have: a dataset has them in two places."""
    is_dataset = issubclass(of, event_v2.Dataset) and name == "facets"
    return FACETS["Dataset" if is_dataset else of.__name__]
