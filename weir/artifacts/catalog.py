"""`catalog.json`: the published tables, their columns with types and comments, and their rows."""

from __future__ import annotations

from typing import Any

from weir.artifacts.contents import Contents
from weir.artifacts.lineage import PROJECT
from weir.lake.tables import Table, split_name


def catalog(contents: Contents) -> dict[str, Any]:
    """The document, by dbt's schema of version 1; what is not published yet is not in it."""
    nodes, sources = {}, {}
    for model in contents.models:
        published, member = model.state.published, model.definition
        if published is not None:
            rows = ("Rows", published.metadata.extra["rows"])
            stats = _stats(num_rows=rows, epoch=("Epoch", published.epoch))
            owner = (member.owner or None) if member is not None else None
            nodes[model.id] = _table(model.id, "table", model.table, owner, stats)
    for source in contents.sources:
        if source.ingested is not None:
            table = Table(f"{source.group}/{source.name}", "", ())
            stats = _stats(epoch=("Epoch", source.ingested.epoch))
            sources[source.id] = _table(source.id, "rdf", table, None, stats)
    head = contents.head("catalog/v1")
    return {"metadata": head, "nodes": nodes, "sources": sources, "errors": None}


def _table(
    id_: str, kind: str, table: Table, owner: str | None, stats: dict[str, Any]
) -> dict[str, Any]:
    schema, name = split_name(table.name)
    return {
        "unique_id": id_,
        "metadata": {
            "type": kind,
            "database": PROJECT,
            "schema": schema,
            "name": name,
            "comment": table.comment,
            "owner": owner,
        },
        "columns": {
            column.name: {
                "type": str(column.type),
                "index": index,
                "name": column.name,
                "comment": column.comment,
            }
            for index, column in enumerate(table.columns, 1)
        },
        "stats": stats,
    }


def _stats(**values: tuple[str, int]) -> dict[str, Any]:
    # Without `has_stats`, pages of dbt show none.
    stats = {id_: (label, float(value), True) for id_, (label, value) in values.items()}
    return {
        id_: {"id": id_, "label": label, "value": value, "include": shown, "description": ""}
        for id_, (label, value, shown) in (stats | {"has_stats": ("", True, False)}).items()
    }
