"""How fresh every declared remote and traversal is now, from the tables alone (no Spark)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from weir.definitions.catalog import Catalog
from weir.lake.lake import Lake
from weir.project import open_lake
from weir.remotes.current import newest_rows, services_of
from weir.remotes.declarations import Remote, load_remotes
from weir.remotes.freshness import RemoteState, remote_state
from weir.remotes.replica_inbox import why_not_stored
from weir.remotes.schedule import asking_queries
from weir.remotes.states import Row
from weir.settings import Settings
from weir.traversals.declarations import Traversal, load_traversals
from weir.traversals.freshness import traversal_state


def declared(settings: Settings) -> tuple[Remote | Traversal, ...]:
    """The declared remotes, then the traversals, in the order of their files.

    Raises:
        ConfigurationError: remotes.yml or traversals.yml is wrong.
    """
    traversals = load_traversals(settings.traversals).values()
    return (
        *load_remotes(settings.remotes).values(),
        *(traversal.traversal for traversal in traversals),
    )


def current_states(settings: Settings, now: datetime) -> list[RemoteState]:
    """The state of each declared remote and traversal, in the order of their declaration.

    Raises:
        ConfigurationError: remotes.yml or traversals.yml is wrong, or there is no folder of
            queries.
    """
    of_all = declared(settings)
    if not of_all:
        return []
    lake = open_lake(settings)
    newest = [(own, newest_rows(lake, own.name)) for own in of_all]
    return states_of(settings, lake, newest, now)


def states_of(
    settings: Settings,
    lake: Lake,
    newest: Sequence[tuple[Remote | Traversal, Sequence[Row]]],
    now: datetime,
) -> list[RemoteState]:
    """The state of some remotes and traversals.

    Args:
        settings: of the project.
        lake: has the tables.
        newest: each with the rows of `freshness` of its last evaluation.
        now: the time.

    Raises:
        ConfigurationError: there is no folder of queries.
    """
    services, asking = services_of(lake), _asking_names(settings)
    readers = _readers(settings)
    states = []
    for own, rows in newest:
        if isinstance(own, Traversal):
            states.append(traversal_state(own, rows, readers.get(own.name, ()), now))
        else:
            not_stored = why_not_stored(lake, own, services)
            states.append(remote_state(own, rows, services, asking, not_stored, now))
    return states


def _asking_names(settings: Settings) -> Mapping[str, tuple[str, ...]]:
    """By the id of a pattern, the names of the queries that ask for it."""
    names: dict[str, dict[str, None]] = {}
    for query in asking_queries(settings):
        for block in query.services.blocks:
            names.setdefault(block.pattern, {})[query.name] = None
    return {pattern: tuple(queries) for pattern, queries in names.items()}


def _readers(settings: Settings) -> Mapping[str, tuple[str, ...]]:
    """By the name of a traversal, the names of the queries that read it."""
    names: dict[str, list[str]] = {}
    for member in Catalog.of(settings).members:
        for name in dict.fromkeys(named.name for named in member.traversals):
            names.setdefault(name, []).append(member.name)
    return {name: tuple(queries) for name, queries in names.items()}
