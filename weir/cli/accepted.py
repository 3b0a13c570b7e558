"""`--accept`: change sets and answers that a person accepts although they exceed their guards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.cli.options import named
from weir.lake.names import Name
from weir.project import open_lake

if TYPE_CHECKING:
    from weir.settings import Settings


def _option(metavar: str, text: str) -> Any:
    return typer.Option("--accept", parser=named, metavar=metavar, help=text)


AcceptSource = Annotated[
    list[Name] | None,
    _option(
        "SOURCE", "Take in the change set that stopped this source, though it is beyond its guards."
    ),
]
AcceptAny = Annotated[
    list[Name] | None,
    _option(
        "NAME",
        "Take in the change set that stopped this source, or publish the answer of this query that"
        " is held, though it is beyond its guards.",
    ),
]


@dataclass(frozen=True, slots=True)
class Accepted:
    """The names given by `--accept`.

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
        from weir.definitions.names import declarations, folders_of

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
    from weir.ingest.stopped_sources import stopped_sources

    known = stopped_sources(open_lake(settings))
    return {name for name, source in known.items() if source.state == "stopped"}


def _held(settings: Settings) -> set[str]:
    """The names of the queries whose answers an earlier run has held."""
    from weir.progress.completion import Completion

    verdicts = Completion.read(open_lake(settings)).verdicts
    return {name for name, verdict in verdicts.items() if not verdict.success}
