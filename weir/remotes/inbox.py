"""The inbox of a remote: `replicas/<remote>`, a commit per evaluation.

What a commit says of itself (`RoundMark`) is all that the next evaluation and ingest need of the
rounds before it, so that neither reads the history.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

import pyarrow as pa
import pyarrow.dataset as ds

from weir.lake.delta.appended import NotAppended, appended_rows, commit_digest
from weir.lake.delta.commit import arrow_schema, write
from weir.lake.delta.metadata import Metadata
from weir.lake.instants import time_at
from weir.lake.lake import Lake
from weir.lake.tables import REPLICA_SUMMARIES, REPLICAS, SERVICES, replica
from weir.remotes.declarations import Remote
from weir.remotes.http.outcomes import FailureKind

JOB: Literal["refresh"] = "refresh"
ATTEMPTS = 32
"""Requests that the mark of a round keeps: what the circuit breaker counts."""
_TIMES = ("evaluation", "not_before")
"""Columns of `freshness` that are instants in a mark."""
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
    def rows(self) -> list[dict[str, Any]]:
        """The rows of `freshness` of the evaluation."""
        return [
            {
                name: time_at(value) if name in _TIMES and value is not None else value
                for name, value in row.items()
            }
            for row in self.freshness
        ]

    @classmethod
    def of(cls, metadata: Metadata) -> Self:
        """From what `append_round` wrote."""
        extra = dict(metadata.extra)
        attempts = tuple(PastAttempt(**past) for past in extra.pop("attempts"))
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


def _has_answers(lake: Lake, remote: str) -> bool:
    last = last_round(lake, remote)
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
    changed = []
    for stored in rounds_of(lake, remote):
        mark = stored.mark
        if mark.changed_round <= after:
            break
        if mark.changed_round == mark.round:
            changed.append(stored)
            if mark.changed_before <= after:
                break
    return changed[::-1]


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


def rows_since_summary(lake: Lake, remote: str, newest: int) -> tuple[int, pa.Table]:
    """The version of the inbox that its summary goes up to, and its rows since.

    Raises:
        NotAppended: there is no summary, it is one of another inbox, or the log no longer has what
            came since.
    """
    inbox, stored = replica(remote), lake.last_metadata(REPLICA_SUMMARIES.name(remote))
    if stored is None or stored[1].extra.get("format") != SUMMARY_FORMAT:
        raise NotAppended("there is no summary")
    version, commit = int(stored[1].extra["version"]), stored[1].extra["commit"]
    if version > newest or commit_digest(lake, inbox.name, version) != commit:
        raise NotAppended("the summary is one of another inbox")
    return version, appended_rows(lake, inbox.name, version, newest, arrow_schema(inbox))


def rounds_of(lake: Lake, remote: str) -> Iterator[StoredRound]:
    """The rounds whose commits the log still has, the newest first."""
    for commit in lake.commits(REPLICAS.name(remote)):
        metadata = Metadata.from_json(commit.get("userMetadata"))
        if metadata is not None and metadata.job == JOB:
            yield StoredRound(int(commit["version"]), RoundMark.of(metadata))


def rounds_since(lake: Lake, remote: str, round: float, changed: int) -> Iterator[StoredRound]:
    """The newest rounds, the newest first, down to and with the first one that is known.

    It costs as much as there are rounds since.

    Args:
        lake: has the inbox.
        remote: its name.
        round: up to this one rounds are known; infinity if all are.
        changed: up to this one changes are known.
    """
    for stored in rounds_of(lake, remote):
        yield stored
        if stored.mark.round <= round and stored.mark.changed_round <= changed:
            return
