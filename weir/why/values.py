"""Values of columns as people write them: plain, shortened by a prefix, or exact terms."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from weir.definitions.definition import Definition
from weir.errors import ConfigurationError
from weir.rdf.terms import literal
from weir.text.near import meant
from weir.why.rows import Value

_PREFIXED = re.compile(r"([A-Za-z][\w.-]*|):(?!//)")


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
            values[name].append(Value([value], written=value))
            continue
        prefix, _, local = value.partition(":")
        expanded = [f"<{prefixes[prefix]}{local}>"] if prefix in prefixes else []
        text = literal(value)
        known = _PREFIXED.match(value)
        undeclared = "" if known is None or known[1] in prefixes else known[0]
        terms = [value, f"<{value}>", text, *expanded]
        values[name].append(Value(terms, text, value, undeclared))
    return values


def undeclared_prefix(name: str, values: Iterable[Value]) -> str:
    """A sentence about the first value that may be short for an IRI, but has no known prefix.

    Args:
        name: of the definition.
        values: of its columns.
    """
    for value in values:
        if value.undeclared:
            return (
                f" If {value.written} is short for an IRI: neither {name} nor `[prefixes]` of"
                f" weir.toml declares {value.undeclared}"
            )
    return ""
