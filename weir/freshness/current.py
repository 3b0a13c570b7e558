"""How fresh the replica of every declared remote is now, from the tables alone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from weir.freshness.reading import newest_rows, services_of
from weir.freshness.remote_state import RemoteState, remote_state
from weir.project import open_lake
from weir.remotes.declarations import load_remotes
from weir.remotes.renamed import why_not_stored
from weir.remotes.schedule import asking_queries
from weir.settings import Settings


def current_states(settings: Settings, now: datetime) -> list[RemoteState]:
    """The state of each declared remote, in the order of their declaration.

    Raises:
        ConfigurationError: remotes.yml is wrong, or there is no folder of queries.
    """
    remotes = load_remotes(settings.remotes).values()
    if not remotes:
        return []
    lake = open_lake(settings)
    services, asking = services_of(lake), asking_names(settings)
    return [
        remote_state(
            remote,
            newest_rows(lake, remote.name),
            services,
            asking,
            why_not_stored(lake, remote, services),
            now,
        )
        for remote in remotes
    ]


def asking_names(settings: Settings) -> Mapping[str, tuple[str, ...]]:
    """By the id of a pattern, the names of the queries that ask for it.

    Raises:
        ConfigurationError: there is no folder of queries.
    """
    found: dict[str, dict[str, None]] = {}
    for query in asking_queries(settings):
        for block in query.services.blocks:
            found.setdefault(block.pattern, {})[query.name] = None
    return {pattern: tuple(names) for pattern, names in found.items()}
