"""Lineage of columns: from what is read to stored rows, and from those to what is published."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from weir.artifacts.column_lineage import Input, column_lineage
from weir.artifacts.contents import Contents, Model
from weir.lake.lake import Lake
from weir.lake.tables import EMBEDDINGS
from weir.lineage.datasets import table_dataset
from weir.lineage.facets import Facet, input_field
from weir.lineage.facets import column_lineage as facet_of


def maintained_columns(
    lake: Lake, contents: Contents, model: Model
) -> tuple[dict[str, Facet], dict[str, Facet]]:
    """The facets of what is maintained: by stored columns, `v<i>`, and by those of the stream or
    graph that is made of them.
    """
    definition = model.definition
    if definition is None:
        return {}, {}
    own = column_lineage(definition, contents.remotes)
    decided = [
        _field(lake, one, "INDIRECT", decision.upper().replace(" ", "_"))
        for decision, one in own.decisions
    ]

    def fields(columns: Mapping[str, Iterable[Input]]) -> dict[str, list[Facet]]:
        return {
            name: [_field(lake, one, "DIRECT", one.how.upper()) for one in inputs]
            for name, inputs in columns.items()
        }

    published = fields(own.columns)
    stored = {column: published.get(name, []) for name, column in definition.columns}
    made = published if own.elements is None else fields(own.elements)
    return facet_of(stored, decided), facet_of(made, decided)


def published_columns(lake: Lake, model: Model, subtype: str, text: str) -> dict[str, Facet]:
    """The facet of a published table: each column from the one of the stored rows."""
    definition = model.definition
    if definition is None:
        return {}
    maintained = table_dataset(lake, EMBEDDINGS.name(model.state.name))
    said = {"type": "DIRECT", "subtype": subtype, "description": text}
    return facet_of(
        {name: [input_field(maintained, own, **said)] for name, own in definition.columns}
    )


def _field(lake: Lake, one: Input, type_: str, subtype: str) -> Facet:
    said = {"type": type_, "subtype": subtype, "description": one.description}
    return input_field(table_dataset(lake, one.table), one.column, **said)
