"""All that is ingested: the declared sources, and the inboxes of remotes and traversals."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from weir.errors import ConfigurationError
from weir.files.yaml_file import place_of_entry
from weir.ingest.sources.declared import load_sources
from weir.ingest.sources.documents import TraversalRounds
from weir.ingest.sources.rounds import Rounds
from weir.ingest.sources.source import Source
from weir.remotes.declarations import load_remotes
from weir.settings import Settings
from weir.traversals.declarations import load_traversals


def all_sources(settings: Settings) -> tuple[Source, ...]:
    """The sources of a project, those of sources.yml first.

    Raises:
        ConfigurationError: sources.yml, remotes.yml or traversals.yml is wrong, or two of them
            declare one name.
    """
    declared = sources_of_file(settings)
    replicas = tuple(
        Rounds.of(remote, settings.lake) for remote in load_remotes(settings.remotes).values()
    )
    traversals = tuple(
        TraversalRounds.of(own.traversal, settings.lake)
        for own in load_traversals(settings.traversals).values()
    )
    _check_names(declared, settings)
    return (*declared, *replicas, *traversals)


def sources_of_file(settings: Settings) -> tuple[Source, ...]:
    """The sources of sources.yml, as they are read.

    Raises:
        ConfigurationError: it is wrong.
    """
    store = settings.store
    return tuple(source.in_store(store) for source in load_sources(settings.sources))


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
                place_of_entry(settings.remotes, "remotes", remote.name),
                "Rename one of them.",
            )
        names.add(remote.name)
    for name in load_traversals(settings.traversals):
        if name in names:
            raise ConfigurationError(
                f"a traversal and a source or remote are named {name}",
                place_of_entry(settings.traversals, "traversals", name),
                "Rename one of them.",
            )
