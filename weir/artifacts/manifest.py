"""`manifest.json`: what is declared, with texts, columns, checks, and what reads what."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from weir.artifacts.contents import Contents, Model, SourceNode
from weir.artifacts.lineage import PROJECT, check_id
from weir.checks.arguments import UnexpectedRows
from weir.checks.declared import Check
from weir.lake.tables import Table, split_name
from weir.settings import Settings

_NOT_HERE = (
    *("macros", "docs", "exposures", "metrics", "groups", "selectors", "disabled", "group_map"),
    *("saved_queries", "semantic_models", "unit_tests"),
)
"""What a project of dbt may have besides."""


def manifest(contents: Contents) -> dict[str, Any]:
    """The document, by dbt's schema of version 12."""
    settings = contents.settings
    nodes: dict[str, dict[str, Any]] = {}
    for model in contents.models:
        nodes[model.id] = _model(model, settings)
        for check in model.checks:
            test = _check(model, check, settings)
            nodes[test["unique_id"]] = test
    sources = {source.id: _source(source, settings) for source in contents.sources}
    parents = {id_: node["depends_on"]["nodes"] for id_, node in nodes.items()}
    children: dict[str, list[str]] = {id_: [] for id_ in (*nodes, *sources)}
    for id_, read in parents.items():
        for parent in read:
            children[parent].append(id_)
    # Delta's types are called as Spark's.
    more = {"project_name": PROJECT, "adapter_type": "spark"}
    return {
        "metadata": contents.head("manifest/v12") | more,
        "nodes": nodes,
        "sources": sources,
        "parent_map": parents | {id_: [] for id_ in sources},
        "child_map": children,
        **{name: {} for name in _NOT_HERE},
    }


def relation(table: Table) -> str:
    """The name of a table of the lake in SQL."""
    return ".".join(f'"{part}"' for part in (PROJECT, *split_name(table.name)))


def _model(model: Model, settings: Settings) -> dict[str, Any]:
    member, declared, table = model.definition, model.declaration, model.table
    tags, meta = list[str](), {"kind": declared.kind.name}
    if member is not None:
        tags = [*member.tags]
        meta |= {"form": member.output.form} | ({"owner": member.owner} if member.owner else {})
    schema, name = split_name(table.name)
    folder = declared.kind.folder
    return _node("model", model.id, schema, name, folder, declared.file, settings) | {
        "alias": name,
        "checksum": {"name": "sha256", "checksum": hashlib.sha256(model.text.encode()).hexdigest()},
        "config": {"materialized": "incremental", "tags": tags, "meta": meta},
        "tags": tags,
        "description": "" if member is None else member.description,
        "columns": {
            column.name: {
                "name": column.name,
                "description": column.comment,
                "data_type": str(column.type),
                "meta": {},
                "tags": [],
            }
            for column in table.columns
        },
        "meta": meta,
        "relation_name": relation(table),
        # No `compiled_code`: readers parse it as SQL.
        "raw_code": model.text,
        # dbt knows another one, python; DataHub shows no text of that.
        "language": "sql",
        "depends_on": {"macros": [], "nodes": [*model.reads]},
    }


def _check(model: Model, check: Check, settings: Settings) -> dict[str, Any]:
    """A check as a generic test of dbt, by the names under which catalogues know its kind."""
    said, columns = check.arguments, [*check.arguments.columns.values()]
    column = {"column_name": columns[0]} if len(columns) == 1 else {}
    schema, name = split_name(model.table.name)
    id_, file = check_id(name, check.name), Path(check.place.rpartition(":")[0])
    return _node("test", id_, schema, check.name, name, file, settings) | {
        "alias": check.name,
        "checksum": {"name": "none", "checksum": ""},
        "config": {"materialized": "test", "severity": check.severity.upper()},
        "description": check.description,
        "raw_code": said.unexpected_rows_query if isinstance(said, UnexpectedRows) else "",
        "depends_on": {"macros": [], "nodes": [model.id]},
        "attached_node": model.id,
        "test_metadata": {
            "name": check.type,
            "namespace": "dbt_expectations" if check.type.startswith("expect_") else None,
            "kwargs": said.model_dump(mode="json", exclude_defaults=True) | column,
        },
        **column,
    }


def _source(source: SourceNode, settings: Settings) -> dict[str, Any]:
    group, name = source.group, source.name
    files = {"remotes": settings.remotes, "traversals": settings.traversals}
    file = files.get(group, settings.sources)
    return _node("source", source.id, group, name, group, file, settings) | {
        "source_name": group,
        "source_description": "",
        "loader": PROJECT,
        "identifier": name,
    }


def _node(
    kind: str, id_: str, schema: str, name: str, within: str, file: Path, settings: Settings
) -> dict[str, Any]:
    """What all nodes have; files are relative to the project."""
    if file.is_relative_to(settings.project):
        file = file.relative_to(settings.project)
    return {
        "resource_type": kind,
        "unique_id": id_,
        "database": PROJECT,
        "schema": schema,
        "name": name,
        "package_name": PROJECT,
        "fqn": [PROJECT, within, name],
        "path": file.name,
        "original_file_path": str(file),
        "tags": [],
        "meta": {},
        "columns": {},
    }
