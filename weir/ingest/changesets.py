"""Change sets: those of a source after its position, and which of them a batch accepts."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from weir.rdf.records import ParseRequest

if TYPE_CHECKING:
    from weir.ingest.sources.errors import SourceError
    from weir.ingest.sources.source import Source


@dataclass(frozen=True, slots=True)
class Document:
    """A file of a change set.

    name: what identifies the document from version to version, empty if it is the only one.
    size: bytes. request: how it is parsed, with the graph and the base IRI of this document.
    modified: when its file was written, in UTC, if that is known. refused: why it is not opened,
    None if it is.
    """

    name: str
    size: int
    request: ParseRequest
    modified: datetime | None = None
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class State:
    """The whole content of some graphs: the quads that its rows do not name are deleted from them.

    graphs: those that it covers, in N-Triples form, '' for the unnamed graph; None for all graphs
    of its source. Rows of other graphs are left out; those graphs stay as they are.
    """

    graphs: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """What will be one epoch.

    Of one source in one batch, states come before changes.

    position: what `transactions` records of it.
    state: of what the rows are the whole content; None if they insert and delete quads.
    change_id: its id, if it is known before it is read.
    event_time: in UTC.
    waits: why it is not read yet, None if it is.
    """

    source: Source
    position: str
    state: State | None = None
    documents: tuple[Document, ...] = ()
    change_id: str | None = None
    event_time: datetime | None = None
    waits: str | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """Why a source does not go on in this run, but may later. position: of the change set."""

    position: str
    reason: str


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """How far a source is ingested: the positions in `transactions`, and the last change id.

    ingested_at: when its newest epoch was ingested, with or without a position. quads: how many
    hold that are the source's. first_name: what it was called at first, if it was renamed. ended:
    why no source can have the name any more, None if one can. successor: the name under which it
    goes on.
    """

    positions: tuple[str, ...] = ()
    last_id: str | None = None
    ingested_at: datetime | None = None
    quads: int = 0
    first_name: str | None = None
    ended: str | None = None
    successor: str | None = None

    @property
    def last(self) -> str | None:
        """The newest position; None if nothing is ingested."""
        return self.positions[-1] if self.positions else None

    @property
    def round(self) -> int:
        """The newest round of an inbox that is ingested, as a whole or in part; 0 before that."""
        return 0 if self.last is None else int(self.last.partition("-")[0])


@dataclass(slots=True)
class AcceptedChangeSets:
    """The change sets of a batch that will become epochs, by ordinal; fewer as sources stop.

    stopped: by name of the source, why it stopped.
    refused: change sets that are rejected as a whole; their sources stopped at them.
    waiting: by name of the source, what it waits for.
    caught_up: sources whose newest content was accepted instead of older change sets.
    """

    change_sets: dict[int, ChangeSet]
    stopped: dict[str, SourceError] = field(default_factory=dict)
    refused: dict[int, ChangeSet] = field(default_factory=dict)
    waiting: dict[str, Waiting] = field(default_factory=dict)
    caught_up: set[str] = field(default_factory=set)

    def copy(self) -> AcceptedChangeSets:
        """A copy, on which to try out which sources would be stopped."""
        return AcceptedChangeSets(
            {**self.change_sets},
            {**self.stopped},
            {**self.refused},
            {**self.waiting},
            {*self.caught_up},
        )

    def stop(self, ordinal: int, error: SourceError) -> None:
        """Accept nothing of a source from the change set `ordinal` on."""
        # Of several reasons the last one given is that of the earliest change set.
        change_set = self.change_sets[ordinal]
        error.position = change_set.position
        self._drop(change_set.source.name, ordinal)
        self.stopped[change_set.source.name] = error

    def stop_source(self, source: str, error: SourceError) -> None:
        """Accept nothing of a source."""
        self._drop(source, 0)
        self.stopped[source] = error

    def refuse(self, ordinal: int, error: SourceError) -> None:
        """Stop a source at a change set that is rejected as a whole."""
        self.refused[ordinal] = self.change_sets[ordinal]
        self.stop(ordinal, error)

    def wait(self, ordinal: int, reason: str) -> None:
        """Accept nothing of a source from the change set `ordinal` on, which a later run reads."""
        change_set = self.change_sets[ordinal]
        self._drop(change_set.source.name, ordinal)
        self.waiting[change_set.source.name] = Waiting(change_set.position, reason)

    def replace_by(self, newest: ChangeSet) -> None:
        """Accept the newest content of a source instead of its change sets."""
        source = newest.source.name
        replaced = self.of(source)
        for ordinal in replaced:
            del self.change_sets[ordinal]
        self.change_sets[max(replaced)] = newest
        self.caught_up.add(source)

    def of(self, source: str) -> dict[int, ChangeSet]:
        """The change sets of one source."""
        return {
            number: change_set
            for number, change_set in self.change_sets.items()
            if change_set.source.name == source
        }

    def numbered(self, head: int) -> dict[int, int]:
        """The epochs that the change sets become after the epoch `head`, by ordinal, in order."""
        return {ordinal: head + i for i, ordinal in enumerate(sorted(self.change_sets), start=1)}

    def sources(self) -> dict[str, Source]:
        """The sources that have change sets, by name."""
        return {
            change_set.source.name: change_set.source for change_set in self.change_sets.values()
        }

    def _drop(self, source: str, first: int) -> None:
        self.change_sets = {
            number: change_set
            for number, change_set in self.change_sets.items()
            if number < first or change_set.source.name != source
        }
