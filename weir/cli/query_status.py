"""How far every query is, read without Spark."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from weir.catalog.catalog import Catalog
from weir.catalog.maintained import Maintained
from weir.cli.damage import graph_damage
from weir.cli.stream_status import stream_answer
from weir.cli.views import published_queries
from weir.ingest.undeclared import undeclared
from weir.lake.damage.storage_errors import DamagedTable
from weir.lake.ledger.runs import SKIPPED
from weir.lake.tables import TRANSACTIONS
from weir.maintain.damaged import damaged_queries
from weir.progress.backlog import Backlog
from weir.progress.completion import Completion
from weir.progress.failed_attempts import Attempt
from weir.progress.over_limit import over_limit
from weir.progress.streams import Frontiers
from weir.remotes.not_ready import NotReady
from weir.settings import Limits, Settings

_MISSING = (
    "answers of remotes that it needs are missing, or older than its max_staleness: `weir run"
    " --refresh` asks for them"
)
_TOO_OLD = (
    "answers of remotes that it needs are older than its max_staleness: `weir run --refresh` asks"
    " for them"
)


@dataclass(frozen=True, slots=True)
class QueryStatus:
    """How far a query is.

    Attributes:
        state: `current`; `behind`: a run will publish more; `held`: a check of its rows or of the
            graph failed, the published answer is above its limit, or answers of remotes are too
            old; `waiting`: for answers of remotes, until the first one is complete; `new`: not
            published yet; `broken`: its file cannot be used, the newest commit of one of its
            tables cannot be read, or the graph that it reads is damaged; `removed`: its file is
            gone, and its answers are there.
        watermark: the epoch up to which it is maintained.
        published: the epoch up to which it is published.
        lag_epochs: epochs that are not published yet.
        lag: how long the oldest of them has been waiting.
        rows: rows of the published answer.
        mode: what the last run that looked at it did.
        reason: why it is in its state; of a current or removed query why the last run computed it
            so. None of a query that the next run brings further as usual.
        final_to: of a query over streams, the last instant at which the published answer is final.
        decided_by: the stream whose frontier decides on it.
    """

    query: str
    state: str
    watermark: int | None
    published: int | None
    lag_epochs: int
    lag: timedelta
    rows: int | None
    mode: str | None
    reason: str | None
    final_to: datetime | None = None
    decided_by: str | None = None


def query_statuses(settings: Settings) -> list[QueryStatus]:
    """Every registered query, and every removed one that still has answers, by name."""
    catalog, completion = Catalog.of(settings), Completion.read(settings.open_lake())
    frontiers, members = Frontiers.read(completion.lake), {q.name: q for q in catalog.members}
    with_answers = {*published_queries(settings)}
    damaged = completion.damaged(with_answers - {*members})
    damaged |= damaged_queries(completion, catalog.members)
    errors: dict[str, object] = {
        **_over_a_damaged_graph(completion, members.values()),
        **damaged,
        **catalog.errors,
        **undeclared(members.values(), settings),
    }
    registered = [*members]
    declared = {*registered, *catalog.errors}
    removed = with_answers - declared
    backlog = completion.backlog(registered)
    held = held_reasons(completion, backlog)
    held |= {over.query: over.reason for over in over_limit(completion, catalog)}
    usable = [member for member in catalog.members if member.name not in damaged]
    beyond = beyond_limits(completion, usable, settings.limits)
    unpublished = {item.query: item for item in backlog}
    edited = {member.name for member in usable if _is_edited(member, completion)}
    names = sorted(declared | removed)
    arrivals = _arrivals(completion, (name for name in names if name not in damaged))
    statuses = []
    for name in names:
        maintained = published = None
        if name not in damaged:
            maintained, published = completion.maintained(name), completion.published(name)
        to_epoch = published.epoch if published else 0
        mode, reason = completion.last_maintenance.get(name, (None, None))
        left = beyond.get(name) or _why_left(completion, name)
        if name in errors:
            state, reason = "broken", str(errors[name])
        elif name in removed:
            state = "removed"
        elif name in held:
            state, reason = "held", held[name]
        elif name in unpublished and (
            why := not_ready(completion, unpublished[name], members[name])
        ):
            state, reason = why.mode, why.reason
        elif published is None:
            state, reason = "new", left
        elif name in edited:
            state, reason = "behind", beyond.get(name, "edited: the next run recomputes it")
        elif maintained is None:
            state, reason = "behind", "its embeddings are gone: the next run computes it again"
        elif completion.head > to_epoch or name in unpublished:
            state, reason = "behind", left or _why_unpublished(unpublished.get(name))
        else:
            state = "current"
        answer = None
        # That of a query whose stream it reads may be damaged.
        with suppress(DamagedTable):
            answer = stream_answer(completion, frontiers, name, members.get(name))
        statuses.append(
            QueryStatus(
                query=name,
                state=state,
                watermark=maintained.epoch if maintained else None,
                published=published.epoch if published else None,
                lag_epochs=completion.head - to_epoch,
                lag=_waiting_since(arrivals, to_epoch),
                rows=published.metadata.extra["rows"] if published else None,
                mode=mode,
                reason=reason,
                final_to=answer.final_to if answer else None,
                decided_by=answer.decided_by if answer else None,
            )
        )
    return statuses


def _over_a_damaged_graph(completion: Completion, queries: Iterable[Maintained]) -> dict[str, str]:
    """The queries that read the graph, if that is damaged, and how it is."""
    readers = [query.name for query in queries if query.reads]
    damage = graph_damage(completion) if readers else None
    if damage is None:
        return {}
    return dict.fromkeys(readers, f"the graph that it reads is damaged: {damage}")


def _is_edited(query: Maintained, completion: Completion) -> bool:
    """Whether the stored rows are of an earlier text of the query."""
    stored = completion.maintained(query.name)
    return stored is not None and stored.metadata.fingerprint != query.fingerprint


def beyond_limits(
    completion: Completion, queries: Iterable[Maintained], limits: Limits
) -> dict[str, str]:
    """Which queries took more than a limit, and when they are tried again.

    None of those that the next run tries at once, as they were edited or a limit was changed.
    """
    now, beyond = datetime.now(UTC), {}
    for query in queries:
        failed = completion.failed_attempts.get(query.name)
        attempt = Attempt(query.fingerprint, limits.of_queries, completion.head, now)
        if failed is not None and failed.is_of(attempt):
            beyond[query.name] = failed.explained(query.name)
    return beyond


def _why_left(completion: Completion, name: str) -> str | None:
    """Why the last run left a query where it was, be it that it failed; None if it did not.

    What was beyond a limit is that of `beyond_limits`.
    """
    mode, reason = completion.last_maintenance.get(name, (None, None))
    if reason is None or name in completion.failed_attempts:
        return None
    # A failure is recorded as the run prints it, with the name in front.
    why = reason.removeprefix(f"{name}: ")
    return why if mode == SKIPPED or why != reason else None


def _why_unpublished(item: Backlog | None) -> str | None:
    """Why an answer that was published has more to publish than the changes of new epochs."""
    if item is None or not item.rebuilt:
        return None
    return f"{item.reason}: the next run publishes the difference"


def held_reasons(completion: Completion, backlog: Iterable[Backlog]) -> dict[str, str]:
    """Why the rows of a query, or the graph that they come from, did not pass the checks."""
    held = {}
    for item in backlog:
        verdict = completion.verdicts.get(item.query)
        if verdict and verdict.is_about(item) and not verdict.success:
            held[item.query] = verdict.reason
        elif completion.graph_failure and completion.graph_validated_to < item.to_epoch:
            held[item.query] = completion.graph_failure
    return held


def not_ready(completion: Completion, item: Backlog, query: Maintained) -> NotReady | None:
    """Why an answer that passed its checks is not published: what remotes said; None if it may be.

    Only the tables of progress are looked at: it is also found if the run that checked the answer
    was killed before it published.
    """
    if not query.services.blocks or _is_edited(query, completion):
        return None
    verdict = completion.verdicts.get(item.query)
    is_checked = verdict is not None and verdict.is_about(item) and verdict.success
    if completion.graph_validated_to < item.to_epoch or (item.has_rows and not is_checked):
        return None
    if item.is_first_of_text:
        return NotReady("waiting", _MISSING)
    return NotReady("held", _TOO_OLD) if query.services.max_staleness is not None else None


def _arrivals(completion: Completion, queries: Iterable[str]) -> pa.Table:
    """epoch, ingested_at of the transactions that are not published of every query."""
    published = (completion.published(query) for query in queries)
    epochs = (watermark.epoch if watermark else 0 for watermark in published)
    slowest = min(epochs, default=completion.head)
    if completion.head == 0:
        schema = pa.schema([("epoch", pa.int64()), ("ingested_at", pa.timestamp("us", "UTC"))])
        return schema.empty_table()
    columns = ["epoch", "ingested_at"]
    return completion.lake.rows(TRANSACTIONS.name, columns, [("epoch", ">", slowest)])


def _waiting_since(arrivals: pa.Table, after: int) -> timedelta:
    """How long the oldest epoch after `after` has been waiting."""
    later = arrivals.filter(pc.greater(arrivals["epoch"], pa.scalar(after)))
    oldest = pc.min(later["ingested_at"])
    return datetime.now(UTC) - oldest.as_py() if oldest.is_valid else timedelta()
