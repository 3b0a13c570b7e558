"""Legs: the parts of a range of epochs that are evaluated and committed one after the other.

A query over streams has two times. It is evaluated at instants; its rows are recorded by epoch. At
an epoch it is final up to an instant, its *horizon*: no stream is expected to bring an event of an
earlier one. An event at or before the horizon of the epoch before it is late for the query. It
changes answers that were given, so a leg begins with its epoch and evaluates the instants from the
event on again.

Legs and stamps are functions of the log in the order of epochs, not of how the epochs are divided
into runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Arrival:
    """What an epoch means for a query.

    Attributes:
        epoch: the epoch.
        horizon: the last instant at which the query is final from this epoch on; None as long as
            there is none.
        earliest: the first instant that the epoch's rows affect; None if it has none for the query.
    """

    epoch: int
    horizon: int | None
    earliest: int | None = None


@dataclass(frozen=True, slots=True)
class Stamp:
    """The rows of the instants (after, last] are recorded at `epoch`."""

    after: int
    last: int
    epoch: int


@dataclass(frozen=True, slots=True)
class Leg:
    """Epochs (after, last] and the instants (low, high] that they are evaluated at.

    Attributes:
        after: the epoch before the first.
        last: the last epoch.
        low: the instants after it are evaluated.
        known: the last instant that was evaluated before; None if there is none. Where it is later
            than `low`, the leg begins with a correction.
        high: the last instant.
        stamps: the epoch of each instant; they cover (low, high].
    """

    after: int
    last: int
    low: int
    known: int | None
    high: int
    stamps: tuple[Stamp, ...]

    @classmethod
    def of_epochs(cls, after: int, last: int) -> Self:
        """The only leg of a definition that is evaluated at epochs: nothing is corrected."""
        return cls(after, last, after, after, last, ())

    @property
    def corrects(self) -> bool:
        """Whether instants are evaluated that were evaluated before."""
        return self.known is not None and self.low < self.known


def legs(
    after: int, horizon: int | None, arrivals: Sequence[Arrival], origin: int
) -> tuple[Leg, ...]:
    """The legs of the epochs after `after`; none for epochs that change nothing.

    Args:
        after: the epoch up to which the query is maintained.
        horizon: at that epoch; None before the first evaluation.
        arrivals: every later epoch, in order, up to the last.
        origin: the first instant of the query.
    """
    finished: list[Leg] = []
    part: list[Arrival] = []
    known, before = horizon, after
    for arrival in arrivals:
        reached = part[-1].horizon if part else known
        if part and _affects(arrival, reached):
            finished += _leg(before, known, part, origin)
            known, before, part = reached, part[-1].epoch, []
        part.append(arrival)
    if part:
        finished += _leg(before, known, part, origin)
    return tuple(finished)


def _affects(arrival: Arrival, horizon: int | None) -> bool:
    """Whether an epoch affects instants that were final before it."""
    return horizon is not None and arrival.earliest is not None and arrival.earliest <= horizon


def _leg(after: int, known: int | None, arrivals: Sequence[Arrival], origin: int) -> list[Leg]:
    """The leg of some epochs, of which only the first has late events."""
    high = arrivals[-1].horizon
    if high is None:
        return []
    low = origin - 1 if known is None else known
    earliest = arrivals[0].earliest
    if known is not None and earliest is not None:
        low = min(low, max(earliest, origin) - 1)
    if low >= high:
        return []
    return [Leg(after, arrivals[-1].epoch, low, known, high, _stamps(low, known, arrivals))]


def _stamps(low: int, known: int | None, arrivals: Sequence[Arrival]) -> tuple[Stamp, ...]:
    """Corrections are of the first epoch, other rows of the first that reaches their instant."""
    stamps: list[Stamp] = []
    upto = low
    if known is not None and known > upto:
        stamps.append(Stamp(upto, known, arrivals[0].epoch))
        upto = known
    for arrival in arrivals:
        if arrival.horizon is not None and arrival.horizon > upto:
            stamps.append(Stamp(upto, arrival.horizon, arrival.epoch))
            upto = arrival.horizon
    return tuple(stamps)
