"""`--accept`: what a person takes in or publishes though it is beyond its guards."""

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
    """What is accepted.

    Attributes:
        sources: whose stopped change set is taken in.
        queries: whose held answer is published.
        in_vain: names of which no earlier run has stopped a source or held an answer.
    """

    sources: tuple[Name, ...] = ()
    queries: tuple[Name, ...] = ()
    in_vain: tuple[Name, ...] = ()

    @classmethod
    def of_sources(cls, settings: Settings, names: Sequence[Name]) -> Accepted:
        """Accept change sets of sources."""
        if not names:
            return cls()
        chosen, stopped = tuple(dict.fromkeys(names)), _stopped(settings)
        return cls(chosen, (), tuple(name for name in chosen if name not in stopped))

    @classmethod
    def of(cls, settings: Settings, names: Sequence[Name]) -> Accepted:
        """Accept what has some names; one that no query has is that of a source.

        A source and a query may have the same name.
        """
        from weir.catalog.names import declarations, folders_of

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
    """The sources that an earlier run has stopped."""
    from weir.ingest.stopped_sources import stopped_sources

    known = stopped_sources(open_lake(settings))
    return {name for name, source in known.items() if source.state == "stopped"}


def _held(settings: Settings) -> set[str]:
    """The queries of which an earlier run has held an answer."""
    from weir.progress.completion import Completion

    verdicts = Completion.read(open_lake(settings)).verdicts
    return {name for name, verdict in verdicts.items() if not verdict.success}
