"""Whether the answers of remotes that a query depends on allow its answer to be published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.sql import (
    any_of,
    case,
    coalesce,
    column,
    columns,
    equal,
    is_null,
    left_join,
    number,
    rows_of,
    select,
    semi_join,
)
from weir.definitions.definition import Definition
from weir.definitions.upstreams import all_upstreams_of
from weir.errors import ConfigurationError
from weir.lake.instants import INSTANT_0, seconds_since_1970
from weir.lake.lake import Lake
from weir.lake.tables import TRANSACTIONS
from weir.progress.backlog import Backlog
from weir.progress.completion import Completion
from weir.progress.held import why_held
from weir.remotes.candidates import Place, places_table
from weir.remotes.declarations import Remote, load_remotes
from weir.remotes.key_rows import KEY
from weir.remotes.known_keys import known_keys
from weir.remotes.replica_inbox import StoredRound, replica_inbox
from weir.remotes.wanted import WANTED, askers, make_wanted

_MISSING = (
    "answers of remotes that it needs are missing, or older than its max_staleness: `weir run"
    " --refresh` asks for them"
)
_TOO_OLD = (
    "answers of remotes that it needs are older than its max_staleness: `weir run --refresh` asks"
    " for them"
)


@dataclass(frozen=True, slots=True)
class NotReady:
    """Why an answer is not published.

    Attributes:
        mode: `waiting` for what the next refreshes and runs bring; `held` because it is too old.
        reason: in a sentence.
    """

    mode: Literal["waiting", "held"]
    reason: str


def needs_remotes(query: Definition, *, is_first: bool) -> bool:
    """Whether the answers of remotes can keep an answer from being published.

    The first answer of a text waits until none is missing; later ones, only if they may not be
    older than a limit.
    """
    services = query.services
    return bool(services.blocks) and (is_first or services.max_staleness is not None)


def why_waits(query: Definition, not_ready: Mapping[str, NotReady | None]) -> NotReady | None:
    """Why a query waits for another one that it reads; None if it does not.

    Args:
        query: the query.
        not_ready: by name, why the answers of queries are not published.
    """
    for upstream in all_upstreams_of(query):
        why = not_ready.get(upstream)
        if why is not None:
            what = query.read_of(upstream)
            reason = f"the query {upstream}, whose {what} it reads, is not published"
            return NotReady(why.mode, reason)
    return None


def is_edited(query: Definition, completion: Completion) -> bool:
    """Whether the stored rows are of an earlier text of a query."""
    stored = completion.maintained(query.name)
    return stored is not None and stored.metadata.fingerprint != query.fingerprint


def why_unpublished(
    completion: Completion, item: Backlog, query: Definition, checks: Mapping[str, str]
) -> NotReady | None:
    """Why an answer that passed its checks is not published: what remotes said; None if it may be.

    Only the tables of progress are looked at: it is also found if the run that checked the answer
    was killed before it published.

    Args:
        completion: of the lake.
        item: what it has to publish.
        query: its definition.
        checks: as of `needs_checks`.
    """
    if not needs_remotes(query, is_first=item.is_first_of_text) or is_edited(query, completion):
        return None
    if why_held(completion, item, checks) is not None:
        return None
    return NotReady("waiting", _MISSING) if item.is_first_of_text else NotReady("held", _TOO_OLD)


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

    def why_not(self, query: Definition, to_epoch: int, *, is_first: bool) -> NotReady | None:
        """Why an answer up to an epoch may not be published; None if it may.

        Args:
            query: the query.
            to_epoch: the epoch.
            is_first: whether it is the first answer of this text.
        """
        if not needs_remotes(query, is_first=is_first):
            return None
        if self.completion.maintained(query.name) is None or is_edited(query, self.completion):
            return NotReady("waiting", "it was edited: `weir run` maintains it first")
        try:
            remotes = load_remotes(self.remotes)
        except ConfigurationError as error:
            return NotReady("waiting", str(error))
        for iri in dict.fromkeys(block.remote for block in query.services.blocks):
            remote = remotes.get(iri)
            if remote is None:
                return NotReady("waiting", f"SERVICE {iri}: no remote is declared with this IRI")
            with self.engine.scope() as engine:
                why = self._why_not(engine, query, remote, to_epoch, is_first=is_first)
            if why is not None:
                return why
        return None

    def _why_not(
        self, engine: Engine, query: Definition, remote: Remote, to_epoch: int, *, is_first: bool
    ) -> NotReady | None:
        ingested = _ingested_round(self.lake, remote.name, to_epoch)
        later = replica_inbox(remote.name).changed(self.lake, ingested)
        # Rounds that change nothing are no epochs: the graph is as after the last of them.
        until = later[0].mark.round - 1 if later else None
        keys = self._keys(engine, query, remote, until)
        if is_first and keys.missing and (query.axis.has_states or keys.missing == keys.all):
            return NotReady("waiting", _missing(remote, keys))
        limit, times = query.services.max_staleness, [keys.oldest]
        times += self._superseded(engine, remote, later)
        oldest = min((time for time in times if time is not None), default=None)
        if limit is not None and oldest is not None and self.now - oldest > limit:
            return NotReady("held", _too_old(remote, self.now - oldest, limit))
        return None

    def _superseded(
        self, engine: Engine, remote: Remote, later: Sequence[StoredRound]
    ) -> list[datetime | None]:
        """When wanted keys had been answered whose answers in the graph are not the newest."""
        before: dict[Place, datetime | None] = {}
        for stored in later:
            for row in replica_inbox(remote.name).rows_of(self.lake, stored).to_pylist():
                if row["part"] == KEY and row["status"] in ("changed", "gone"):
                    before.setdefault((row["pattern"], row["key"]), row["previous_at"])
        if not before:
            return []
        names = ("pattern", "key")
        engine.load("superseded", places_table([*before]))
        wanted = engine.rows(
            select(
                *columns(names, "s"),
                from_=rows_of("superseded", "s"),
                joins=[semi_join(rows_of(WANTED, "w"), *equal(names, "s", "w"))],
            )
        )
        return [before[str(pattern), str(key)] for pattern, key in wanted]

    def _keys(self, engine: Engine, query: Definition, remote: Remote, until: int | None) -> _Keys:
        """The keys of a query and what the graph has of them, which is as after a round.

        Args:
            engine: gets the relation of the keys, `WANTED`.
            query: the query.
            remote: the remote.
            until: the round; None for the newest.
        """
        make_wanted(engine, askers([query], self.completion, remote.term))
        known = known_keys(engine, self.lake, remote.name)
        # A key that was asked for without an answer is unknown, not a key without mappings.
        is_missing = is_null(column("answered_at", "k"))
        in_graph: exp.Expr = exp.true()
        if until is not None:
            is_missing = any_of([is_missing, column("first_round", "k") > number(until)])
            in_graph = coalesce(column("rows_round", "k"), number(0)) <= number(until)
        query_ = select(
            exp.Count(this=exp.Star()),
            exp.Count(this=case((is_missing, number(1)))),
            exp.Min(this=case((in_graph, column("answered_at", "k")))),
            exp.Max(this=case((is_missing, column("reason", "k")))),
            from_=rows_of(WANTED, "w"),
            joins=[left_join(rows_of(known.keys, "k"), *equal(["pattern", "key"], "w", "k"))],
        )
        ((all_, missing, oldest, reason),) = engine.rows(query_)
        at = None
        if isinstance(oldest, datetime):
            at = INSTANT_0 + timedelta(seconds=seconds_since_1970(oldest))
        return _Keys(int(str(all_)), int(str(missing)), at, str(reason or ""))


@dataclass(frozen=True, slots=True)
class _Keys:
    """The keys of a query.

    Attributes:
        all: how many it has.
        missing: of how many the graph has no answer.
        oldest: when the oldest answer in the graph was given.
        reason: why one of the missing ones was not answered; empty if none was asked for.
    """

    all: int
    missing: int
    oldest: datetime | None
    reason: str


def _ingested_round(lake: Lake, remote: str, to_epoch: int) -> int:
    """The newest round that is in the graph at an epoch; 0 if none is."""
    if not lake.exists(TRANSACTIONS.name):
        return 0
    of_remote = [("source", "=", remote), ("epoch", "<=", to_epoch)]
    rows = lake.rows(TRANSACTIONS.name, ["position"], of_remote)["position"].to_pylist()
    return max((int(position) for position in rows if position is not None), default=0)


def _missing(remote: Remote, keys: _Keys) -> str:
    why = f" (one of them: {keys.reason})" if keys.reason else ""
    return (
        f"{keys.missing:,} of {keys.all:,} keys of {remote.name} were never answered{why}, or their"
        " answers are not in the graph yet: `weir refresh`, then `weir run`"
    )


def _too_old(remote: Remote, age: timedelta, limit: timedelta) -> str:
    return (
        f"an answer of {remote.name} is {age.total_seconds():.0f} s old, max_staleness is"
        f" {limit.total_seconds():.0f} s"
    )
