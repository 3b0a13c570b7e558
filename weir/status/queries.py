"""How far each query is maintained and published, read without Spark."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from weir.lake.damage.storage_errors import DamagedTable
from weir.lake.tables import ANSWERS, TRANSACTIONS
from weir.pending import DefinitionState, Pending, State
from weir.progress.completion import Completion
from weir.progress.streams import Frontiers
from weir.progress.verdicts import WARNED
from weir.status.streams import stream_answer


@dataclass(frozen=True, slots=True)
class QueryStatus:
    """How far a query is maintained and published.

    Attributes:
        state: as `weir.pending.DefinitionState` says.
        watermark: the epoch up to which it is maintained.
        published: the epoch up to which it is published.
        lag_epochs: the number of epochs that are not published yet.
        lag: how long the oldest of them has been waiting.
        rows: the number of rows of the published answer.
        mode: of the last run of maintain that reported on it.
        reason: why it is in its state; of a current or removed query, why the last run chose the
            mode. None if the next run simply continues.
        final_to: over streams, the last instant at which the published answer is final.
        decided_by: over streams, the stream whose frontier determines `final_to`.
        warning: which checks of the project failed that only warn, as of the last validation.
    """

    query: str
    state: State
    watermark: int | None
    published: int | None
    lag_epochs: int
    lag: timedelta
    rows: int | None
    mode: str | None
    reason: str | None
    final_to: datetime | None = None
    decided_by: str | None = None
    warning: str | None = None


def query_statuses(pending: Pending) -> list[QueryStatus]:
    """The status of each query that is registered, or removed and still has answers, by name."""
    completion, members = pending.completion, {q.name: q for q in pending.catalog.members}
    states = {**pending.definitions}
    states |= _removed(completion, {*completion.lake.owners(ANSWERS)} - {*states})
    frontiers = Frontiers.read(completion.lake)
    arrivals = _arrivals(completion, states.values())
    statuses = []
    for name, state in sorted(states.items()):
        to_epoch = state.published.epoch if state.published else 0
        answer = None
        # The table of a query whose stream it reads may be damaged.
        with suppress(DamagedTable):
            answer = stream_answer(completion, frontiers, name, members.get(name))
        statuses.append(
            QueryStatus(
                query=name,
                state=state.state,
                watermark=state.maintained.epoch if state.maintained else None,
                published=state.published.epoch if state.published else None,
                lag_epochs=completion.head - to_epoch,
                lag=_waiting_since(arrivals, to_epoch),
                rows=state.published.metadata.extra["rows"] if state.published else None,
                mode=state.mode,
                reason=state.reason,
                final_to=answer.final_to if answer else None,
                decided_by=answer.decided_by if answer else None,
                warning=_warning(completion, name),
            )
        )
    return statuses


def _warning(completion: Completion, name: str) -> str | None:
    verdict = completion.verdicts.get(name)
    if verdict is None or not verdict.success or not verdict.reason.startswith(WARNED):
        return None
    return verdict.reason.removeprefix(WARNED)


def _removed(completion: Completion, names: Collection[str]) -> dict[str, DefinitionState]:
    """The states of queries that have answers and no file."""
    damaged, states = completion.damaged(names), {}
    for name in names:
        mode, reason = completion.last_maintenance.get(name, (None, None))
        if name in damaged:
            states[name] = DefinitionState(
                name, "broken", str(damaged[name]), is_pending=False, mode=mode
            )
            continue
        watermarks = completion.maintained(name), completion.published(name)
        states[name] = DefinitionState(name, "removed", reason, False, *watermarks, mode)
    return states


def _arrivals(completion: Completion, states: Iterable[DefinitionState]) -> pa.Table:
    """The transactions that some query has not published: epoch, ingested_at."""
    epochs = (state.published.epoch if state.published else 0 for state in states)
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
