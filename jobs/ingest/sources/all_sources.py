"""All that is ingested: the declared sources, and the replicas of the declared remotes."""

from __future__ import annotations

from jobs.errors import ConfigurationError
from jobs.ingest.sources.declared import load_sources
from jobs.ingest.sources.rounds import Rounds
from jobs.ingest.sources.source import Source
from jobs.replicas.remotes import load_remotes
from jobs.settings import Settings


def all_sources(settings: Settings) -> tuple[Source, ...]:
    """The sources of a project, those of sources.yml first.

    Raises:
        ConfigurationError: sources.yml or remotes.yml is wrong, or both declare one name.
    """
    declared = load_sources(settings.sources)
    replicas = tuple(
        Rounds.of(remote, settings.lake) for remote in load_remotes(settings.remotes).values()
    )
    names = {source.name for source in declared}
    for replica in replicas:
        if replica.name in names:
            raise ConfigurationError(
                f"a source and a remote are named {replica.name}",
                str(settings.remotes),
                "Rename one of them.",
            )
    return declared + replicas
