"""Whether the answers of remotes that a query depends on allow its answer to be published."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from sqlglot import exp

from jobs.catalog.maintained import Maintained
from jobs.compute.engine import Engine
from jobs.compute.sql import (
    any_of,
    bigint,
    case,
    coalesce,
    column,
    equal,
    is_null,
    left_join,
    number,
    rows_of,
    select,
    sum_of,
)
from jobs.progress.completion import Completion
from jobs.replicas.candidates import seconds_of
from jobs.replicas.known_keys import known_keys
from jobs.replicas.remotes import Remote, load_remotes
from jobs.replicas.wanted import WANTED, askers, make_wanted
from lake.instants import INSTANT_0
from lake.lake import Lake
from lake.tables import TRANSACTIONS


@dataclass(frozen=True, slots=True)
class NotReady:
    """Why an answer is not published.

    Attributes:
        mode: `waiting` for what the next refreshes and runs bring; `held` because it is too old.
        reason: in a sentence.
    """

    mode: Literal["waiting", "held"]
    reason: str


@dataclass(frozen=True, slots=True)
class Readiness:
    """Looks at the keys of queries.

    Attributes:
        engine: makes relations.
        lake: has the tables.
        completion: how far queries are maintained.
        remotes: the file that declares remotes.
        now: the time.
    """

    engine: Engine
    lake: Lake
    completion: Completion
    remotes: Path
    now: datetime

    def why_not(self, query: Maintained, to_epoch: int, *, is_first: bool) -> NotReady | None:
        """Why an answer up to an epoch may not be published; None if it may.

        Args:
            query: the query.
            to_epoch: the epoch.
            is_first: whether it is the first answer of this text.
        """
        limit = query.services.max_staleness
        if not is_first and limit is None:
            return None
        remotes = load_remotes(self.remotes)
        for iri in dict.fromkeys(block.remote for block in query.services.blocks):
            remote = remotes.get(iri)
            if remote is None:
                # The query has an error, which maintain reports.
                continue
            keys = self._keys(query, remote, to_epoch)
            if is_first and keys.missing:
                return NotReady(
                    "waiting",
                    f"{keys.missing} of {keys.all} keys of {remote.name} have no answer in the"
                    " graph yet: `weir refresh`, then `weir run`",
                )
            if limit is not None and keys.oldest is not None:
                age = self.now - keys.oldest
                if age > limit:
                    return NotReady("held", _too_old(remote, age, limit))
        return None

    def _keys(self, query: Maintained, remote: Remote, to_epoch: int) -> _Keys:
        make_wanted(self.engine, askers([query], self.completion, remote.term))
        known = known_keys(self.engine, self.lake, remote.name)
        # The answer of a key is in the graph by the epoch of the round that brought it.
        later = coalesce(column("rows_round", "k"), number(0)) > number(
            _ingested_round(self.lake, remote.name, to_epoch)
        )
        is_missing = any_of([is_null(column("answered_at", "k")), later])
        query_ = select(
            exp.Count(this=exp.Star()),
            coalesce(bigint(sum_of(case((is_missing, number(1)), otherwise=number(0)))), number(0)),
            exp.Min(this=column("answered_at", "k")),
            from_=rows_of(WANTED, "w"),
            joins=[left_join(rows_of(known.keys, "k"), *equal(["pattern", "key"], "w", "k"))],
        )
        ((all_, missing, oldest),) = self.engine.rows(query_)
        at = None
        if isinstance(oldest, datetime):
            at = INSTANT_0 + timedelta(seconds=seconds_of(oldest))
        return _Keys(int(str(all_)), int(str(missing)), at)


@dataclass(frozen=True, slots=True)
class _Keys:
    """How many keys of a remote a query has, how many are not in the graph, the oldest answer."""

    all: int
    missing: int
    oldest: datetime | None


def _ingested_round(lake: Lake, remote: str, to_epoch: int) -> int:
    """The newest round that is in the graph at an epoch; 0 if none is."""
    if not lake.exists(TRANSACTIONS.name):
        return 0
    of_remote = [("source", "=", remote), ("epoch", "<=", to_epoch)]
    rows = lake.rows(TRANSACTIONS.name, ["position"], of_remote)["position"].to_pylist()
    return max((int(each) for each in rows if each is not None), default=0)


def _too_old(remote: Remote, age: timedelta, limit: timedelta) -> str:
    return (
        f"an answer of {remote.name} is {age.total_seconds():.0f} s old, max_staleness is"
        f" {limit.total_seconds():.0f} s"
    )
