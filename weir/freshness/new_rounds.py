"""What a check reads: the rounds of remotes that were not checked yet, and what belongs to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa

from weir.freshness.checked_rounds import CheckedRounds
from weir.freshness.reading import RoundCommit, of_newest_round, round_commits, rows_of
from weir.lake.instants import INSTANT_0
from weir.lake.lake import Lake
from weir.lake.ledger.runs import ABANDONED, FAILED
from weir.lake.tables import FRESHNESS, REQUESTS, RUNS, TRANSACTIONS, replica
from weir.progress.watermarks import head
from weir.remotes.declarations import Remote
from weir.remotes.states import limit_seconds

_TEXT, _NUMBER, _FLOAT = pa.string(), pa.int64(), pa.float64()
_REMOTES: dict[str, pa.DataType] = {
    "remote": _TEXT,
    "hostname": _TEXT,
    "authority": _TEXT,
    "pause": _FLOAT,
    "requests_budget": _NUMBER,
    "keys_budget": _NUMBER,
    "bytes_budget": _NUMBER,
    "seconds_budget": _FLOAT,
    "checked_round": _NUMBER,
    "checked_evaluation": pa.timestamp("us", tz="UTC"),
    "ingested_before": _NUMBER,
    "ingested": _NUMBER,
}
_COMMITS: dict[str, pa.DataType] = {
    "remote": _TEXT,
    "round": _NUMBER,
    "changed_round": _NUMBER,
    "not_before": pa.timestamp("us", tz="UTC"),
    "address": _TEXT,
}
_EPOCHS: dict[str, pa.DataType] = {"remote": _TEXT, "round": _NUMBER}


@dataclass(frozen=True, slots=True)
class RemoteRounds:
    """The rounds of one remote that were not checked yet.

    Attributes:
        remote: as declared.
        before: how far it was checked before.
        after: how far it is after this check: up to the newest round with rows in `freshness`.
            Later rounds are of a run that goes on, or died; the next one completes them.
        checked_evaluation: instant of the round that was checked last; before the first, 1970.
        freshness: rows of `freshness`, those of the round `before.round` among them.
        requests: rows of `requests` of the same evaluations, and of later ones.
        inbox: rows of `replicas/<remote>` of the new rounds.
        commits: of the new rounds, of those that were not ingested before, and of the one before
            them.
        epochs: the rounds that have become epochs since.
    """

    remote: Remote
    before: CheckedRounds
    after: CheckedRounds
    checked_evaluation: datetime
    freshness: pa.Table
    requests: pa.Table
    inbox: pa.Table
    commits: tuple[RoundCommit, ...]
    epochs: tuple[int, ...]

    @property
    def newest(self) -> list[dict[str, Any]]:
        """The rows of `freshness` of the last evaluation."""
        return of_newest_round(self.freshness.to_pylist())


def new_rounds(lake: Lake, remote: Remote, before: CheckedRounds) -> RemoteRounds:
    """The rounds of a remote that were not checked yet.

    What is read depends on how many they are, not on how many there were.
    """
    of_remote = ("remote", "=", remote.name)
    freshness = rows_of(lake, FRESHNESS, [of_remote, ("round", ">=", before.round)])
    if before.round and not freshness.num_rows:
        # The tables were removed, and their rounds begin again.
        before = CheckedRounds(epoch=before.epoch)
        freshness = rows_of(lake, FRESHNESS, [of_remote])
    times = freshness.select(["round", "evaluation"]).to_pylist()
    newest = max((row["round"] for row in times), default=0)
    epochs, epoch = _epochs(lake, remote, before.epoch, newest)
    evaluations = (row["evaluation"] for row in times if row["round"] <= before.round)
    checked_evaluation = max(evaluations, default=INSTANT_0)
    commits = round_commits(lake, remote.name, before.round, before.ingested)
    since = [("owner", "=", remote.name), ("evaluation", ">=", checked_evaluation)]
    new = [("round", ">", before.round), ("round", "<=", newest)]
    return RemoteRounds(
        remote,
        before,
        CheckedRounds(newest, max([before.ingested, *epochs]), epoch),
        checked_evaluation,
        freshness,
        rows_of(lake, REQUESTS, since),
        rows_of(lake, replica(remote.name), new),
        tuple(each for each in commits if each.round <= newest),
        epochs,
    )


def _epochs(lake: Lake, remote: Remote, after: int, newest: int) -> tuple[tuple[int, ...], int]:
    """The rounds, up to `newest`, that are epochs after `after`; up to which epoch they go."""
    filters = [("epoch", ">", after), ("source", "=", remote.name)]
    rows = rows_of(lake, TRANSACTIONS, filters).select(["epoch", "position"]).to_pylist()
    found = [(row["epoch"], int(row["position"])) for row in rows if row["position"] is not None]
    later = [epoch for epoch, number in found if number > newest]
    # A round whose evaluation was not completed may have been ingested.
    last = min(later) - 1 if later else head(lake)
    return tuple(number for epoch, number in found if epoch <= last), last


def runs_that_died(lake: Lake, rounds: Sequence[RemoteRounds]) -> pa.Table:
    """run_id of those runs of some rounds that failed, or were killed.

    Retries of a task have one id. The ledger is read only if a request of the rounds has no end.
    """
    suspected = {
        row["run_id"]
        for each in rounds
        for row in _without_end(each.requests.select(["request_id", "phase", "run_id"]).to_pylist())
    }
    if not suspected:
        return pa.table({"run_id": pa.array([], pa.string())})
    filters = [("run_id", "in", sorted(suspected)), ("status", "in", [FAILED, ABANDONED])]
    return rows_of(lake, RUNS, filters).select(["run_id"])


def _without_end(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    settled = {row["request_id"] for row in rows if row["phase"] == "settled"}
    return [row for row in rows if row["request_id"] not in settled]


def tables_of(rounds: Sequence[RemoteRounds]) -> dict[str, pa.Table]:
    """The rows of several remotes by the names that `frames` reads them by."""
    names = [each.remote.name for each in rounds]
    inboxes = [
        each.inbox.append_column("remote", pa.array([name] * each.inbox.num_rows, pa.string()))
        for name, each in zip(names, rounds, strict=True)
    ]
    commits = [
        {"remote": name, **asdict(commit)}
        for name, each in zip(names, rounds, strict=True)
        for commit in each.commits
    ]
    epochs = [
        {"remote": name, "round": number}
        for name, each in zip(names, rounds, strict=True)
        for number in each.epochs
    ]
    return {
        "remotes": pa.Table.from_pylist(
            [_declared(each) for each in rounds], schema=pa.schema(_REMOTES)
        ),
        "freshness": pa.concat_tables([each.freshness for each in rounds]),
        "requests": pa.concat_tables([each.requests for each in rounds]),
        "inbox": pa.concat_tables(inboxes),
        "commits": pa.Table.from_pylist(commits, schema=pa.schema(_COMMITS)),
        "epochs": pa.Table.from_pylist(epochs, schema=pa.schema(_EPOCHS)),
    }


def _declared(rounds: RemoteRounds) -> dict[str, Any]:
    remote = rounds.remote
    address = urlsplit(remote.url or remote.iri)
    return {
        "remote": remote.name,
        "hostname": address.hostname,
        "authority": address.netloc.lower(),
        "pause": limit_seconds(remote.pause),
        **{f"{unit}_budget": value for unit, value in remote.budget},
        "checked_round": rounds.before.round,
        "checked_evaluation": rounds.checked_evaluation,
        "ingested_before": rounds.before.ingested,
        "ingested": rounds.after.ingested,
    }
