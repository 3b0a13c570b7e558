"""When the declared remotes are evaluated next, and for whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from weir.definitions.catalog import Catalog
from weir.definitions.definition import Definition
from weir.lake.instants import microseconds, time_at
from weir.lake.lake import Lake
from weir.progress.completion import Completion
from weir.remotes.declarations import Remote, load_remotes
from weir.remotes.kept import Kept
from weir.remotes.replica_inbox import RoundMark, replica_inbox
from weir.remotes.waits import not_before_of
from weir.remotes.wanted import Asker, askers
from weir.settings import Settings


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A declared remote.

    Attributes:
        remote: its declaration.
        askers: the blocks of maintained queries that are about it; without one it is not evaluated.
        last: its newest round; None before the first one.
        next_at: the instant of its next evaluation; it is due once that has come.
    """

    remote: Remote
    askers: tuple[Asker, ...]
    last: RoundMark | None
    next_at: datetime

    @property
    def asked_at(self) -> datetime:
        """The instant of the next evaluation that may send requests. Earlier ones commit a round
        without keys.
        """
        rows = self.last.rows if self.last else ()
        return allowed_from(self.remote, self.next_at, not_before_of(self.remote, rows))

    def is_due(self, now: datetime) -> bool:
        """Whether it is to be evaluated."""
        return bool(self.askers) and self.next_at <= now


def schedule(settings: Settings, lake: Lake, now: datetime) -> tuple[Scheduled, ...]:
    """The declared remotes in the order of their file.

    Raises:
        ConfigurationError: remotes.yml is wrong, or there is no folder of queries.
    """
    remotes = load_remotes(settings.remotes)
    if not remotes:
        return ()
    completion, queries = Completion.read(lake), asking_queries(settings)
    scheduled = []
    for term, remote in remotes.items():
        stored = replica_inbox(remote.name).last(lake)
        last = None if stored is None else stored.mark
        about = tuple(askers(queries, completion, term))
        scheduled.append(Scheduled(remote, about, last, _next_at(remote, last, now)))
    return tuple(scheduled)


def asking_queries(settings: Settings) -> list[Definition]:
    """The queries that ask remotes."""
    return [query for query in Catalog.of(settings).members if query.services.blocks]


class Recurring(Protocol):
    """What is evaluated again and again: a remote, a traversal."""

    @property
    def every_us(self) -> int:
        """Microseconds between two evaluations."""
        ...


class OfEvaluation(Protocol):
    """The mark of a round."""

    @property
    def evaluation(self) -> int:
        """The instant of the evaluation, in microseconds since 1970."""
        ...


def evaluation_at(remote: Recurring, last: OfEvaluation | None, now: datetime) -> datetime:
    """The instant of the evaluation, which is never before the last one: clocks may be set back."""
    due = microseconds(now) // remote.every_us * remote.every_us
    return time_at(due if last is None else max(due, last.evaluation))


def following(remote: Recurring, evaluation: datetime) -> datetime:
    """The first instant of an evaluation after another one, which may be of another `every`."""
    return time_at((microseconds(evaluation) // remote.every_us + 1) * remote.every_us)


def allowed_from(remote: Recurring, evaluation: datetime, not_before: datetime | None) -> datetime:
    """The first instant of an evaluation at which a remote may be asked.

    Args:
        remote: is evaluated.
        evaluation: an instant of an evaluation, the first one that counts.
        not_before: when it may be asked again; None at any time.
    """
    if not_before is None or not_before <= evaluation:
        return evaluation
    return time_at(-(-microseconds(not_before) // remote.every_us) * remote.every_us)


def asked_next(remote: Kept, evaluation: datetime, rows: Iterable[Mapping[str, Any]]) -> datetime:
    """The instant of the next evaluation that may send requests, after a given round.

    Args:
        remote: is evaluated.
        evaluation: the instant of the round.
        rows: of `freshness`, of the round.
    """
    return allowed_from(remote, following(remote, evaluation), not_before_of(remote, rows))


def _next_at(remote: Remote, last: RoundMark | None, now: datetime) -> datetime:
    evaluation = evaluation_at(remote, last, now)
    if last is None or last.evaluation < microseconds(evaluation):
        return evaluation
    return following(remote, evaluation)
