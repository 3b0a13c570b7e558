"""The inbox of a remote that SERVICE names: `replicas/<remote>`, a commit per evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import REPLICAS, SERVICES, replica, replica_summary
from weir.remotes.declarations import Remote
from weir.remotes.http.outcomes import FailureKind
from weir.remotes.inbox import Inbox, Stored, from_mark

ATTEMPTS = 32
"""Requests that the mark of a round keeps: what the circuit breaker counts."""
SUMMARY_FORMAT = 1
"""Increased when a summary keeps other rows than before: earlier ones are then unused."""


@dataclass(frozen=True, slots=True)
class PastAttempt:
    """A request that was sent: when, in microseconds, and how it failed, if it did.

    is_known: whether that is known; not if the run was killed, which says nothing of the remote.
    """

    at: int
    failure: FailureKind | None
    is_known: bool = True


@dataclass(frozen=True, slots=True)
class RoundMark:
    """What the commit of a round says of itself. Instants are microseconds since 1970.

    Attributes:
        round: its number, from 1.
        evaluation: the instant of the evaluation.
        changed_round: the newest round up to this one that changes a mapping; 0 if none does.
        changed_before: the newest one before this one; 0 if there is none.
        requests_version: of `requests` when the evaluation had ended.
        not_before: until when the remote asked to be left alone, None if it did not.
        attempts: the last requests, the oldest first.
        weights: what a dynamic alpha has learned, empty without one.
        freshness: the rows of `freshness` of the evaluation, times as instants.
        answered: by pattern that has answers, when the newest one came.
        address: by which URL and connection it was asked (`weir.remotes.waits`); `not_before`,
            `attempts` and `failure` are about it. Empty: not known.
        failure: why the newest of the requests failed that did, else empty.
    """

    round: int
    evaluation: int
    changed_round: int
    changed_before: int
    requests_version: int
    not_before: int | None = None
    attempts: tuple[PastAttempt, ...] = ()
    weights: tuple[float, ...] = ()
    freshness: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    answered: Mapping[str, int] = field(default_factory=dict, hash=False)
    address: str = ""
    failure: str = ""

    @property
    def is_last(self) -> bool:
        """An evaluation of a remote is one round."""
        return True

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of `freshness` of the evaluation."""
        return [*map(from_mark, self.freshness)]

    @classmethod
    def of(cls, metadata: Metadata) -> Self:
        """From what a commit says."""
        extra = dict(metadata.extra)
        attempts = tuple(PastAttempt(**past) for past in extra.pop("attempts"))
        weights, freshness = tuple(extra.pop("weights")), tuple(extra.pop("freshness"))
        return cls(**extra, attempts=attempts, weights=weights, freshness=freshness)


StoredRound = Stored[RoundMark]


def replica_inbox(remote: str) -> Inbox[RoundMark]:
    """The inbox of a remote that SERVICE names."""
    return Inbox(replica(remote), RoundMark, replica_summary(remote), SUMMARY_FORMAT)


def inbox_names(lake: Lake) -> tuple[str, ...]:
    """The remotes that have an inbox, declared or not."""
    if not lake.exists(SERVICES.name):
        return ()
    known = lake.rows(SERVICES.name, ["remote"])["remote"].unique().to_pylist()
    return tuple(name for name in sorted(map(str, known)) if lake.exists(REPLICAS.name(name)))


def _has_answers(lake: Lake, remote: str) -> bool:
    last = replica_inbox(remote).last(lake)
    return last is not None and bool(last.mark.answered)


def why_not_stored(lake: Lake, remote: Remote, services: Iterable[Mapping[str, Any]]) -> str:
    """Why the answers of a remote cannot be stored; empty if they can.

    A remote keeps its name, which is that of its tables, once answers are stored under it.

    Args:
        lake: has the answers.
        remote: as declared.
        services: the rows of `services`: remote, iri.
    """
    names = {row["remote"] for row in services if row["iri"] == remote.term} - {remote.name}
    other = next((name for name in sorted(names) if _has_answers(lake, name)), None)
    if other is None or _has_answers(lake, remote.name):
        return ""
    return (
        f"the answers of {remote.iri} are stored under the name {other}, not {remote.name}:"
        f" name it {other} again"
    )
