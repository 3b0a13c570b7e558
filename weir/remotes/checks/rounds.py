"""Which rounds of a remote were checked, and what a check reads of those that were not.

A row of the ledger about the remote names the commit of `quality` that has the results, and the
metadata of that commit says up to which round they go. So the cost of a check does not depend on
how many were checked before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final, Literal, Protocol, Self
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.compute as pc

from weir.lake.delta.commit import arrow_schema
from weir.lake.delta.metadata import Metadata
from weir.lake.instants import INSTANT_0, time_at
from weir.lake.lake import Lake
from weir.lake.ledger.runs import ABANDONED, FAILED
from weir.lake.ledger.summary import read_ledger
from weir.lake.tables import (
    DOCUMENTS,
    FRESHNESS,
    LOG_COMMITS,
    REPLICAS,
    REQUESTS,
    RUNS,
    TRANSACTIONS,
    Table,
    TableFamily,
    documents,
    replica,
    split_name,
)
from weir.lake.upkeep.old_commits import delete_old_commits
from weir.progress.watermarks import head
from weir.remotes.budget import Amount
from weir.remotes.current import newest_of, rows_of
from weir.remotes.declarations import Remote
from weir.remotes.inbox import Inbox, RoundOfInbox
from weir.remotes.kept import Kept
from weir.remotes.replica_inbox import replica_inbox
from weir.remotes.states import UNITS
from weir.text.durations import duration_seconds

JOB: Final[Literal["freshness"]] = "freshness"
_CHECKED, _BEFORE = "checked", "before"

_TEXT, _NUMBER, _FLOAT, _TIME = pa.string(), pa.int64(), pa.float64(), pa.timestamp("us", tz="UTC")
_SCHEMAS: Final[Mapping[str, Mapping[str, pa.DataType]]] = {
    "remotes": {
        "remote": _TEXT,
        "pause": _FLOAT,
        **dict.fromkeys(("requests_budget", "keys_budget", "bytes_budget"), _NUMBER),
        "seconds_budget": _FLOAT,
        "checked_round": _NUMBER,
        "checked_evaluation": _TIME,
        "ingested_before": _NUMBER,
        "ingested": _NUMBER,
    },
    "commits": {
        "remote": _TEXT,
        "round": _NUMBER,
        "changed_round": _NUMBER,
        "not_before": _TIME,
        "address": _TEXT,
        "is_last": pa.bool_(),
    },
    "epochs": {"remote": _TEXT, "round": _NUMBER},
    "declared": dict.fromkeys(("remote", "host", "url"), _TEXT),
}


class CheckedMark(RoundOfInbox, Protocol):
    """What the mark of a round has that is checked.

    evaluation, not_before: microseconds since 1970; null: the remote may be asked at any time.
    is_last: whether it is the last round of its evaluation.
    """

    @property
    def evaluation(self) -> int: ...
    @property
    def not_before(self) -> int | None: ...
    @property
    def address(self) -> str: ...
    @property
    def is_last(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class RoundsOf:
    """Whose rounds are checked, and what they are compared with.

    Attributes:
        remote: as declared.
        inbox: where they are.
        pause: seconds between two requests to a host.
        budget: of an evaluation.
        may_ask: whether a request may go to a host; to None: whether an amount may be reserved
            for several requests.
        key_rows: from rows of the inbox and of `freshness`, what the rounds say of each key, as an
            inbox of a remote has it.
    """

    remote: Kept
    inbox: Inbox[Any]
    pause: float
    budget: Amount
    may_ask: Callable[[str | None], bool]
    key_rows: Callable[[pa.Table, pa.Table], pa.Table]

    @classmethod
    def of(cls, remote: Remote) -> Self:
        """Those of a remote that SERVICE names."""
        address, budget = urlsplit(remote.url or remote.iri), remote.budget
        hosts = (address.hostname, address.netloc.lower())
        return cls(
            remote,
            replica_inbox(remote.name),
            duration_seconds(remote.pause) or 0.0,
            Amount(budget.requests, budget.keys, budget.bytes, budget.seconds),
            lambda host: host is not None and host in hosts,
            lambda rows, _: rows,
        )


@dataclass(frozen=True, slots=True)
class CheckedRounds:
    """How far the rounds of a remote were checked.

    Attributes:
        round: the newest one that was; 0 before the first.
        ingested: the newest one that was an epoch at that time; 0 if none was.
        epoch: the newest epoch at that time.
    """

    round: int = 0
    ingested: int = 0
    epoch: int = 0


def remembered(before: CheckedRounds, after: CheckedRounds) -> Mapping[str, Any]:
    """What the ledger remembers of a check: JSON values."""
    return {_BEFORE: asdict(before), _CHECKED: asdict(after)}


def checked_rounds(lake: Lake, run_id: str) -> dict[str, CheckedRounds]:
    """Up to where each remote was checked, by name.

    What the same run has found wrong before is checked again: the retry of a task must not succeed
    because the first attempt has reported the failure.
    """
    about = (pc.field("job") == JOB) & ~pc.field("query").is_null()
    columns = ["query", "run_id", "number", "status", "commit_metadata"]
    rows = read_ledger(lake).rows.filter(about).select(columns).to_pylist()
    checked: dict[str, CheckedRounds] = {}
    for row in sorted(rows, key=lambda row: int(row["number"])):
        metadata = Metadata.from_json(row["commit_metadata"])
        if metadata is not None:
            is_retry = row["run_id"] == run_id and row["status"] == FAILED
            kept = metadata.extra[row["query"]][_BEFORE if is_retry else _CHECKED]
            checked[row["query"]] = CheckedRounds(**kept)
    return checked


def delete_old_rounds(lake: Lake, inbox: Inbox[Any], ingested: int) -> int:
    """Delete the old commits of an inbox, but for those that somebody has still to read.

    Its rows stay. Ingest reads the commits of the rounds that change a mapping; a check those of
    all rounds since the one that it saw last, and of changes that were not ingested then. A lake
    without checks keeps none for them.

    Args:
        lake: which holds it.
        inbox: where they are.
        ingested: the newest round that is an epoch; 0 before the first.

    Returns:
        How many files of the log were deleted.
    """
    newest = lake.version(inbox.table.name)
    if newest is None:
        return 0
    _, remote = split_name(inbox.table.name)
    checked = checked_rounds(lake, run_id="").get(remote)
    seen = math.inf if checked is None else checked.round
    changes = ingested if checked is None else min(ingested, checked.ingested)
    unread = inbox.since(lake, seen, changes)
    before = min([newest - LOG_COMMITS, *(stored.version for stored in unread)])
    return delete_old_commits(lake, inbox.table.name, before)


@dataclass(frozen=True, slots=True)
class NewRounds:
    """The rounds of one remote that were not checked yet.

    Attributes:
        of: whose they are.
        before: how far it was checked before.
        after: how far it is after this check: up to the newest round with rows in `freshness`.
            Later rounds are of a run that goes on, or died; the next one completes them.
        checked_evaluation: instant of the round that was checked last; before the first, 1970.
        freshness: rows of `freshness`, those of the round `before.round` among them.
        requests: rows of `requests` of the same evaluations, and of later ones.
        rows: of the inbox, of the new rounds.
        commits: of the new rounds, of those that were not ingested before, and of the one before
            them.
        epochs: the rounds that have become epochs since.
    """

    of: RoundsOf
    before: CheckedRounds
    after: CheckedRounds
    checked_evaluation: datetime
    freshness: pa.Table
    requests: pa.Table
    rows: pa.Table
    commits: tuple[CheckedMark, ...]
    epochs: tuple[int, ...]

    @property
    def number(self) -> int:
        """How many they are."""
        return self.after.round - self.before.round

    @property
    def newest(self) -> list[dict[str, Any]]:
        """The rows of `freshness` of the last evaluation."""
        return newest_of(self.freshness.to_pylist())


def new_rounds(lake: Lake, of: RoundsOf, before: CheckedRounds) -> NewRounds:
    """The rounds of a remote that were not checked yet.

    What is read depends on how many they are, not on how many there were.
    """
    name = of.remote.name
    of_remote = ("remote", "=", name)
    freshness = rows_of(lake, FRESHNESS, [of_remote, ("round", ">=", before.round)])
    if before.round and not freshness.num_rows:
        # The tables were removed, and their rounds begin again.
        before = CheckedRounds(epoch=before.epoch)
        freshness = rows_of(lake, FRESHNESS, [of_remote])
    times = freshness.select(["round", "evaluation"]).to_pylist()
    newest = max((row["round"] for row in times), default=0)
    epochs, epoch = _epochs(lake, name, before, newest)
    evaluations = (row["evaluation"] for row in times if row["round"] <= before.round)
    checked_evaluation = max(evaluations, default=INSTANT_0)
    since = [("owner", "=", name), ("evaluation", ">=", checked_evaluation)]
    new = [("round", ">", before.round), ("round", "<=", newest)]
    stored = of.inbox.since(lake, before.round, before.ingested)
    return NewRounds(
        of,
        before,
        CheckedRounds(newest, max([before.ingested, *epochs]), epoch),
        checked_evaluation,
        freshness,
        rows_of(lake, REQUESTS, since),
        rows_of(lake, of.inbox.table, new),
        tuple(commit.mark for commit in stored if commit.mark.round <= newest),
        epochs,
    )


def _epochs(
    lake: Lake, remote: str, before: CheckedRounds, newest: int
) -> tuple[tuple[int, ...], int]:
    """The rounds, up to `newest`, that are epochs since a check; up to which epoch they go."""
    filters = [("epoch", ">", before.epoch), ("source", "=", remote)]
    rows = rows_of(lake, TRANSACTIONS, filters).select(["epoch", "position"]).to_pylist()
    taken: list[tuple[int, int]] = []
    for row in sorted(rows, key=lambda row: int(row["epoch"])):
        number, _, ordinal = (row["position"] or "").partition("-")
        known = {before.ingested, *(earlier for _, earlier in taken)} if ordinal else ()
        # Where each document is an epoch, a round counts once.
        if number and int(number) not in known:
            taken.append((row["epoch"], int(number)))
    later = [epoch for epoch, number in taken if number > newest]
    # A round whose evaluation was not completed may have been ingested.
    last = min(later) - 1 if later else head(lake)
    return tuple(number for epoch, number in taken if epoch <= last), last


def runs_that_died(lake: Lake, rounds: Sequence[NewRounds]) -> pa.Table:
    """run_id of those runs of some rounds that failed, or were killed.

    Retries of a task have one id. The ledger is read only if a request of the rounds has no end.
    """
    suspected: set[str] = set()
    for new in rounds:
        rows = new.requests.select(["request_id", "phase", "run_id"]).to_pylist()
        settled = {row["request_id"] for row in rows if row["phase"] == "settled"}
        suspected |= {row["run_id"] for row in rows if row["request_id"] not in settled}
    if not suspected:
        return pa.table({"run_id": pa.array([], pa.string())})
    filters = [("run_id", "in", sorted(suspected)), ("status", "in", [FAILED, ABANDONED])]
    return rows_of(lake, RUNS, filters).select(["run_id"])


def tables_of(rounds: Sequence[NewRounds]) -> dict[str, pa.Table]:
    """The rows of several remotes by the names that `frames` reads them by."""
    keys = [_named(new, new.of.key_rows(new.rows, new.freshness)) for new in rounds]
    made: dict[str, list[dict[str, Any]]] = {
        "remotes": [_remote(new) for new in rounds],
        "commits": [_commit(new, mark) for new in rounds for mark in new.commits],
        "epochs": [
            {"remote": new.of.remote.name, "round": n} for new in rounds for n in new.epochs
        ],
        "declared": [row for new in rounds for row in _permitted(new)],
    }
    return {
        "freshness": pa.concat_tables([new.freshness for new in rounds]),
        "requests": pa.concat_tables([new.requests for new in rounds]),
        "inbox": pa.concat_tables(keys, promote_options="default"),
        **{
            family.folder: _rows_in(family, table, rounds)
            for family, table in ((REPLICAS, replica("")), (DOCUMENTS, documents("")))
        },
        **{
            name: pa.Table.from_pylist(rows, schema=pa.schema(_SCHEMAS[name]))
            for name, rows in made.items()
        },
    }


def _rows_in(family: TableFamily, table: Table, rounds: Sequence[NewRounds]) -> pa.Table:
    """The rows of the inboxes of one family."""
    own = [new for new in rounds if split_name(new.of.inbox.table.name)[0] == family.folder]
    nothing = arrow_schema(table).empty_table().append_column("remote", pa.array([], _TEXT))
    return pa.concat_tables([nothing, *(_named(new, new.rows) for new in own)])


def _named(new: NewRounds, rows: pa.Table) -> pa.Table:
    return rows.append_column("remote", pa.array([new.of.remote.name] * rows.num_rows, _TEXT))


def _remote(new: NewRounds) -> dict[str, Any]:
    return {
        "remote": new.of.remote.name,
        "pause": new.of.pause,
        **{f"{unit}_budget": getattr(new.of.budget, unit) for unit in UNITS},
        "checked_round": new.before.round,
        "checked_evaluation": new.checked_evaluation,
        "ingested_before": new.before.ingested,
        "ingested": new.after.ingested,
    }


def _permitted(new: NewRounds) -> Iterator[dict[str, Any]]:
    """The addresses of requests to which they may go."""
    places = new.requests.group_by(["host", "url"]).aggregate([]).to_pylist()
    for place in places:
        hosts = [place["host"]]
        if place["url"] is not None:
            hosts.append(urlsplit(place["url"]).hostname)
        if all(new.of.may_ask(host and host.lower()) for host in hosts):
            yield {"remote": new.of.remote.name, **place}


def _commit(new: NewRounds, mark: CheckedMark) -> dict[str, Any]:
    until = mark.not_before
    return {
        "remote": new.of.remote.name,
        "round": mark.round,
        "changed_round": mark.changed_round,
        "not_before": None if until is None else time_at(until),
        "address": mark.address,
        "is_last": mark.is_last,
    }
