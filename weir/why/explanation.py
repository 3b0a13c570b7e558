"""What is said of a row that appeared or vanished: the changes that made it, and one match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

MOST_NAMED = 20
"""Of a row, no more changes are named, and no more triples of a match: each takes an evaluation."""

Triple: TypeAlias = tuple[str, str, str]
"""Subject, predicate and object, as they are stored."""
Row: TypeAlias = tuple[str | None, ...]
"""The values of the published columns, in order."""


@dataclass(frozen=True, slots=True)
class ChangedRow:
    """A row of the log of an answer.

    Attributes:
        row: its values.
        weight: by how much its multiplicity changed.
        instant: at which it did, of an answer over streams; in microseconds since 1970.
    """

    row: Row
    weight: int
    instant: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A quad that an epoch asserted (weight 1) or retracted (-1)."""

    graph: str
    triple: Triple
    weight: int
    epoch: int


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a stream: a triple at an instant.

    Attributes:
        stream: the name of the stream, or of the query whose output it is.
        triple: the triple.
        instant: when it happened, in microseconds since 1970.
        epoch: by which it arrived; 0 of the output of a query.
        line: its place in the change set of that epoch; of the output of a query, among the
            elements that are looked at.
    """

    stream: str
    triple: Triple
    instant: int
    epoch: int
    line: int


@dataclass(frozen=True, slots=True)
class MovedEvent:
    """An event that made a row change.

    Attributes:
        event: the event.
        weight: 1 if it is in a window that it was not in before, -1 if it is in one no more; 0 if
            a rule looks at it, and it neither came nor went.
    """

    event: Event
    weight: int

    @property
    def triple(self) -> Triple:
        """The triple of the event."""
        return self.event.triple


Cause: TypeAlias = Change | MovedEvent
"""What made a row appear or vanish: a change of the graph, or an event that came or went."""
Part: TypeAlias = Triple | Event
"""What a match has: a triple of the graph, or an event in a window."""


@dataclass(frozen=True, slots=True)
class ReadAtom:
    """An atom that rules read.

    Attributes:
        predicate: its predicate.
        arguments: its terms.
        instant: the first of its point, in microseconds since 1970; None if it has none.
        parts: the events, or the triples of the graph, that make it; none of a fact of the text.
    """

    predicate: str
    arguments: tuple[str, ...]
    instant: int | None
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class AbsentAtom:
    """An atom that a rule needs to be absent, and that is."""

    predicate: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RepeatedAtom:
    """An atom that is needed once more: its derivation is above."""

    predicate: str
    arguments: tuple[str, ...]
    instant: int | None


@dataclass(frozen=True, slots=True)
class Derivation:
    """How a rule derives an atom, down to what is read.

    Attributes:
        predicate: that of the atom.
        arguments: its terms.
        instant: the first of the point that it is derived for, in microseconds since 1970; None of
            a program over epochs.
        rule: file, line and column of the rule, or its name in a set of rules.
        of: what its body needs.
    """

    predicate: str
    arguments: tuple[str, ...]
    instant: int | None
    rule: str
    of: tuple[Ground, ...]

    @property
    def parts(self) -> Sequence[Part]:
        """The events and triples that it comes from, each once."""
        parts: dict[Part, None] = {}
        for ground in self.of:
            if isinstance(ground, Derivation | ReadAtom):
                parts |= dict.fromkeys(ground.parts)
        return [*parts]


Ground: TypeAlias = Derivation | ReadAtom | AbsentAtom | RepeatedAtom
"""What an element of a body is satisfied by."""


@dataclass(frozen=True, slots=True)
class Match:
    """What a row needs, where it is: at its epoch or instant, or before it vanished.

    Attributes:
        parts: triples of the graph and events in windows, no more than `MOST_NAMED`.
        is_all: whether there are no more.
        is_beside_stored: whether the query stores rows of its parts; the triples that these came
            from are not among `parts`.
        derivation: how rules derive the row, of a program.
    """

    parts: Sequence[Part]
    is_all: bool
    is_beside_stored: bool
    derivation: Derivation | None = None

    @property
    def triples(self) -> Sequence[Triple]:
        """The triples of its parts."""
        return [part.triple if isinstance(part, Event) else part for part in self.parts]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a row appeared or vanished.

    Attributes:
        row: its values.
        weight: by how much its multiplicity changed.
        changes: without these, a row that appeared would have no more copies than before, and one
            that vanished no fewer. As a rule, none of them can be left out. None at all if the row
            needs none.
        is_all: whether that are all such changes; else there are more than `MOST_NAMED`.
        match: what the row came from; None if there is too much to look through.
        instant: at which it did, of an answer over streams; in microseconds since 1970.
        is_correction: whether it corrects an answer over streams that was final before.
    """

    row: Row
    weight: int
    changes: Sequence[Cause]
    is_all: bool
    match: Match | None
    instant: int | None = None
    is_correction: bool = False


@dataclass(frozen=True, slots=True)
class ExplainedEpoch:
    """Rows of an answer that changed at an epoch.

    Attributes:
        epoch: the epoch.
        rows: why they did.
        is_more: whether there are other such rows.
        is_published: whether the published answer has this epoch.
    """

    epoch: int
    rows: Sequence[Explanation]
    is_more: bool
    is_published: bool
