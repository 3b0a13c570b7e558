"""The views of derived predicates: their names, of which no two are the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from weir.definitions.definition import Definition, DerivedPredicate
from weir.errors import ConfigurationError

VIEW_ENDINGS = ("current", "changes", "intervals", "stream", "events")
"""How the name of no derived predicate may end: other views have names with these endings."""

VIEW_COLUMNS = ("since", "until", "weight")
"""The columns of the view of a predicate besides its arguments."""


def view_of(definition: str, predicate: str) -> str:
    """The name of the view of a predicate; in names of views case does not matter."""
    return f"{definition}_{predicate.lower()}"


def rival_views(definitions: Iterable[Definition]) -> Mapping[str, ConfigurationError]:
    """By name, what is wrong with definitions that have a view of the name of another's."""
    owners: dict[str, list[tuple[Definition, str, DerivedPredicate]]] = defaultdict(list)
    for definition in definitions:
        for name, predicate in definition.predicates.items():
            owners[view_of(definition.name, name)].append((definition, name, predicate))
    errors: dict[str, ConfigurationError] = {}
    for view, own in sorted(owners.items()):
        for definition, name, predicate in own:
            other = next((rival for rival, *_ in own if rival.name != definition.name), None)
            if other is None or definition.name in errors:
                continue
            errors[definition.name] = ConfigurationError(
                f"{name}: its view would be {view}, as that of a predicate of {other.file.name}",
                f"{definition.file}:{predicate.place}",
                "Rename one of the predicates, or one of the programs.",
            )
    return errors
