"""Values of columns as people write them: plain, shortened by a prefix, or exact terms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from weir.definitions.definition import Definition
from weir.errors import ConfigurationError
from weir.rdf.terms import literal
from weir.text.near import meant
from weir.why.rows import Value


def named_values(
    definition: Definition, chosen: Iterable[tuple[str, str]], prefixes: Mapping[str, str]
) -> dict[str, list[Value]]:
    """By column, what values may stand for.

    Args:
        definition: whose columns they are of.
        chosen: columns and values.
        prefixes: IRIs by the prefix that shortens them.

    Raises:
        ConfigurationError: there is no such column.
    """
    names, values = [name for name, _ in definition.columns], defaultdict[str, list[Value]](list)
    for name, value in chosen:
        if name not in names:
            raise ConfigurationError(
                f"{name}={value}: {definition.name} has no column {name}",
                "",
                f"{meant(name, names)}Columns: {', '.join(names)}.",
            )
        if value[:1] in {"<", '"'}:
            values[name].append(Value([value]))
            continue
        prefix, _, local = value.partition(":")
        expanded = [f"<{prefixes[prefix]}{local}>"] if prefix in prefixes else []
        text = literal(value)
        values[name].append(Value([value, f"<{value}>", text, *expanded], text))
    return values
