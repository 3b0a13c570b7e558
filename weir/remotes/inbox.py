"""The inbox of a remote: `replicas/<remote>`, a commit per evaluation.

What a commit says of itself (`RoundMark`) is all that the next evaluation and ingest need of the
rounds before it, so that neither reads the history.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

import pyarrow as pa
import pyarrow.dataset as ds

from weir.lake.delta.appended import NotAppended, appended_rows, commit_digest
from weir.lake.delta.commit import arrow_schema, write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import REPLICA_SUMMARIES, REPLICAS, SERVICES, replica
from weir.remotes.http.outcomes import FailureKind

JOB: Literal["refresh"] = "refresh"
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

    @classmethod
    def of(cls, metadata: Metadata) -> Self:
        """From what `append_round` wrote."""
        extra = dict(metadata.extra)
        attempts = tuple(PastAttempt(**each) for each in extra.pop("attempts"))
        weights, freshness = tuple(extra.pop("weights")), tuple(extra.pop("freshness"))
        return cls(**extra, attempts=attempts, weights=weights, freshness=freshness)


@dataclass(frozen=True, slots=True)
class StoredRound:
    """A round and the version of the inbox that holds it."""

    version: int
    mark: RoundMark


def last_round(lake: Lake, remote: str) -> StoredRound | None:
    """The newest round of a remote; None before its first one."""
    return next(rounds_of(lake, remote), None)


def inbox_names(lake: Lake) -> tuple[str, ...]:
    """The remotes that have an inbox, be they declared or not."""
    if not lake.exists(SERVICES.name):
        return ()
    known = lake.rows(SERVICES.name, ["remote"])["remote"].unique().to_pylist()
    return tuple(name for name in sorted(map(str, known)) if lake.exists(REPLICAS.name(name)))


def has_answers(lake: Lake, remote: str) -> bool:
    """Whether answers are stored under a name of a remote."""
    last = last_round(lake, remote)
    return last is not None and bool(last.mark.answered)


def append_round(
    lake: Lake, remote: str, mark: RoundMark, rows: Sequence[Mapping[str, Any]], run_id: str
) -> None:
    """Commit a round: from here on it has happened."""
    metadata = Metadata(run_id, JOB, watermark=mark.round, extra=asdict(mark))
    write(lake, replica(remote), rows, metadata)


def changed_rounds(lake: Lake, remote: str, after: int) -> list[StoredRound]:
    """The rounds after the round `after` that change a mapping, the oldest first.

    No more commits are read than there are since the first of them.
    """
    found = []
    for stored in rounds_of(lake, remote):
        mark = stored.mark
        if mark.changed_round <= after:
            break
        if mark.changed_round == mark.round:
            found.append(stored)
            if mark.changed_before <= after:
                break
    return found[::-1]


def rows_of_round(lake: Lake, remote: str, stored: StoredRound) -> pa.Table:
    """The rows of a round."""
    table = replica(remote)
    try:
        return appended_rows(
            lake, table.name, stored.version - 1, stored.version, arrow_schema(table)
        )
    except NotAppended:
        # Its file is gone since its rows were merged with others.
        rows = lake.existing(table.name).to_pyarrow_dataset()
        return rows.to_table(filter=ds.field("round") == stored.mark.round)


def summary_version(lake: Lake, remote: str, newest: int) -> int:
    """The version of the inbox that its summary goes up to.

    Raises:
        NotAppended: there is no summary, or it is one of another inbox.
    """
    stored = lake.last_metadata(REPLICA_SUMMARIES.name(remote))
    if stored is None or stored[1].extra.get("format") != SUMMARY_FORMAT:
        raise NotAppended("there is no summary")
    version, commit = int(stored[1].extra["version"]), stored[1].extra["commit"]
    if version > newest or commit_digest(lake, REPLICAS.name(remote), version) != commit:
        raise NotAppended("the summary is one of another inbox")
    return version


def rounds_of(lake: Lake, remote: str) -> Iterator[StoredRound]:
    """The rounds whose commits the log still has, the newest first."""
    for commit in lake.commits(REPLICAS.name(remote)):
        metadata = Metadata.from_json(commit.get("userMetadata"))
        if metadata is not None and metadata.job == JOB:
            yield StoredRound(int(commit["version"]), RoundMark.of(metadata))
