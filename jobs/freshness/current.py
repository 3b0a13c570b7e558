"""How fresh the replica of every declared remote is now, from the tables alone."""

from __future__ import annotations

from datetime import datetime

from jobs.freshness.reading import newest_rows, services_of
from jobs.freshness.remote_state import RemoteState, remote_state
from jobs.replicas.remotes import load_remotes
from jobs.replicas.renamed import why_not_stored
from jobs.settings import Settings


def current_states(settings: Settings, now: datetime) -> list[RemoteState]:
    """The state of each declared remote, in the order of their declaration.

    Raises:
        ConfigurationError: remotes.yml is wrong.
    """
    remotes = load_remotes(settings.remotes).values()
    if not remotes:
        return []
    lake = settings.open_lake()
    services = services_of(lake)
    return [
        remote_state(
            remote,
            newest_rows(lake, remote.name),
            services,
            why_not_stored(lake, remote, services),
            now,
        )
        for remote in remotes
    ]
