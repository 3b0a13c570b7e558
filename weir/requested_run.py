"""A run as a person asks for it: by names and selections, from a command or from Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weir.definitions.names import declarations, folders_of, no_query
from weir.ingest.stopped_sources import stopped_sources
from weir.lake.names import Name
from weir.pending import Pending
from weir.pipeline import RunOptions
from weir.progress.completion import Completion
from weir.project import Project, open_lake
from weir.selection import names_of
from weir.settings import Settings


@dataclass(frozen=True, slots=True)
class RequestedRun:
    """What a run is asked to do.

    Attributes:
        refresh: whether the remotes that are due are asked.
        accept: sources that are stopped and queries that are held, whose next change set or answer
            is accepted although it is beyond their guards.
        retry: queries that are tried at once although they exceeded a limit.
        select: criteria of `weir.selection`; nothing else is maintained.
        exclude: criteria of what is left out.
    """

    refresh: bool = False
    accept: Sequence[Name] = ()
    retry: Sequence[str] = ()
    select: Sequence[str] = ()
    exclude: Sequence[str] = ()

    def options(self, project: Project, pending: Pending) -> tuple[RunOptions, tuple[Name, ...]]:
        """The options of the run, and the names in `accept` of which nothing is stopped or held.

        Raises:
            ConfigurationError: a name or a criterion is unknown.
        """
        settings, around = project.settings, None
        if self.refresh:
            # Imports what asks remotes, which most runs do not need.
            from weir.refresh.stage import Surroundings

            around = Surroundings()
        _check_queries(settings, self.retry)
        accepted = Accepted.of(settings, self.accept)
        only = self.selection(pending)
        options = RunOptions(around, accepted.sources, accepted.queries, self.retry, only)
        return options, accepted.without_effect

    def selection(self, pending: Pending) -> list[str] | None:
        """The names that are selected; None without a selection.

        Raises:
            ConfigurationError: a criterion cannot be understood, or nothing is like it.
        """
        if not (self.select or self.exclude):
            return None
        states = {name: state.state for name, state in pending.definitions.items()}
        return names_of(pending, states, self.select, self.exclude)


@dataclass(frozen=True, slots=True)
class Accepted:
    """The names that a run is asked to accept.

    Attributes:
        sources: sources whose stopped change set is ingested.
        queries: queries whose held answer is published.
        without_effect: names of which no run has stopped a source or held an answer.
    """

    sources: tuple[Name, ...] = ()
    queries: tuple[Name, ...] = ()
    without_effect: tuple[Name, ...] = ()

    @classmethod
    def of_sources(cls, settings: Settings, names: Sequence[Name]) -> Accepted:
        """Accept change sets of sources."""
        if not names:
            return cls()
        chosen, stopped = tuple(dict.fromkeys(names)), _stopped(settings)
        return cls(chosen, (), tuple(name for name in chosen if name not in stopped))

    @classmethod
    def of(cls, settings: Settings, names: Sequence[Name]) -> Accepted:
        """Accept sources and queries by name; a name that no query has is taken for a source.

        A source and a query may have the same name.
        """
        if not names:
            return cls()
        of_queries = {declared.name for declared in declarations(folders_of(settings))}
        stopped, held = _stopped(settings), _held(settings)
        chosen = tuple(dict.fromkeys(names))
        return cls(
            tuple(name for name in chosen if name in stopped or name not in of_queries),
            tuple(name for name in chosen if name in of_queries),
            tuple(name for name in chosen if name not in stopped and name not in held),
        )


def _stopped(settings: Settings) -> set[str]:
    """The names of the sources that an earlier run has stopped."""
    known = stopped_sources(open_lake(settings))
    return {name for name, source in known.items() if source.state == "stopped"}


def _held(settings: Settings) -> set[str]:
    """The names of the queries whose answers an earlier run has held."""
    verdicts = Completion.read(open_lake(settings)).verdicts
    return {name for name, verdict in verdicts.items() if not verdict.success}


def _check_queries(settings: Settings, names: Sequence[str]) -> None:
    """Check that queries of these names are declared.

    Raises:
        ConfigurationError: one is not.
    """
    if not names:
        return
    known = [declaration.name for declaration in declarations(folders_of(settings))]
    for name in names:
        if name not in known:
            raise no_query(settings, name, known)
