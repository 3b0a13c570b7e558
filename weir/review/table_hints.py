"""Hints about keys of a table `current/<name>` in a project that has no such tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import ConfigDict

from weir.definitions.catalog import Catalog
from weir.definitions.checks import declared_checks
from weir.definitions.current_table import TableFrontMatter, no_tables
from weir.definitions.definition import Definition
from weir.definitions.front_matter import read_head
from weir.review.finding import Finding
from weir.settings import Settings


class _OfTable(TableFrontMatter):
    model_config = ConfigDict(extra="ignore", frozen=True)


def table_hints(settings: Settings, definitions: Sequence[Definition]) -> Iterator[Finding]:
    """`types` and `materialize: current` have no effect while `limits.current_rows` is 0.

    Checks of an answer use its types, table or not; also those with mistakes, once corrected.
    """
    if settings.limits.current_rows:
        return
    wanting = [(one, keys) for one in definitions if (keys := _keys(one))]
    if not wanting:
        return
    names = [definition.name for definition, _ in wanting]
    checked = declared_checks(settings.expectations, Catalog.of(settings), names).of_answers
    for definition, keys in wanting:
        what, hint = no_tables(definition.name)
        for key, place in keys.items():
            if key != "types" or definition.name not in checked:
                yield Finding("hint", f"{key}: {what}", str(definition.file), *place, hint=hint)


def _keys(definition: Definition) -> dict[str, tuple[int, int]]:
    """Line and column of the keys that ask for the table, or for types of its columns."""
    if not definition.current.is_wanted:
        return {}
    head = read_head(definition.text, str(definition.file), _OfTable, definition.kind.comment)
    return {key: head.places[key,] for key in ("materialize", "types") if (key,) in head.places}
