"""All that is ingested: the declared sources, and the replicas of the declared remotes."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from weir.errors import ConfigurationError
from weir.ingest.sources.declared import load_sources
from weir.ingest.sources.rounds import Rounds
from weir.ingest.sources.source import Source
from weir.remotes.declarations import load_remotes, place_of_name
from weir.settings import Settings


def all_sources(settings: Settings) -> tuple[Source, ...]:
    """The sources of a project, those of sources.yml first.

    Raises:
        ConfigurationError: sources.yml or remotes.yml is wrong, or both declare one name.
    """
    declared = load_sources(settings.sources)
    replicas = tuple(
        Rounds.of(remote, settings.lake) for remote in load_remotes(settings.remotes).values()
    )
    _check_names(declared, settings)
    return declared + replicas


def check_names(settings: Settings) -> None:
    """Check that no remote has the name of a source; other mistakes of sources.yml are ingest's.

    Raises:
        ConfigurationError: remotes.yml is wrong, or one has.
    """
    declared: tuple[Source, ...] = ()
    with suppress(ConfigurationError, OSError):
        declared = load_sources(settings.sources)
    _check_names(declared, settings)


def _check_names(declared: Iterable[Source], settings: Settings) -> None:
    names = {source.name for source in declared}
    for remote in load_remotes(settings.remotes).values():
        if remote.name in names:
            raise ConfigurationError(
                f"a source and a remote are named {remote.name}",
                place_of_name(settings.remotes, remote.name),
                "Rename one of them.",
            )
