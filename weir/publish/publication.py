"""Append the new rows of queries to their answer tables, a commit per query.

Queries that only append are read together, as many as the driver can hold. A query is read by
itself if it is large, or if its embeddings do not continue the published answer.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from weir.compute.arrow import RowsByKey
from weir.compute.engine import Engine
from weir.compute.packs import packs
from weir.compute.relations import Keep
from weir.compute.sql import column, number, rows_of, select
from weir.expected_errors import as_user_error
from weir.lake.counted import counted
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.ledger.runs import FAILED, UNTOUCHED
from weir.lake.tables import answers
from weir.progress.backlog import DIFFERENCE_AT, PREDICATES, SINCE, UNKNOWN, Backlog
from weir.publish.appended_rows import appended_rows, by_query, make_rows_of_many, named
from weir.publish.epoch_times import epoch_times
from weir.publish.publication_query import published_columns, rows_to_publish, stored_columns
from weir.stage import Claim, Progress

_TIMES = "epoch_times"


@dataclass(frozen=True, slots=True)
class Publication:
    """What publish did for one query.

    Attributes:
        mode: `initial`, `incremental`, `edited`, `rebased`; `untouched` if only the watermark
            moved; `held` if the rows are not validated, or answers of remotes are too old;
            `waiting` for answers of remotes; `failed`.
        rows: the number of rows appended.
        reason: why it is held, waits or failed.
        cause: the error if it failed.
    """

    query: str
    mode: str
    to_epoch: int
    rows: int = 0
    reason: str = ""
    cause: Exception | None = field(default=None, repr=False, compare=False)


def publish(
    engine: Engine,
    lake: Lake,
    run: Claim,
    work: Sequence[Backlog],
    parallel: int,
    progress: Progress,
) -> list[Publication]:
    """Publish several queries at once; a failure of one does not affect the others."""
    if not work:
        return []
    engine.load(_TIMES, epoch_times(lake, min(item.from_epoch for item in work)))

    def publish_query(item: Backlog, rows: pa.Table | None = None) -> Publication:
        started = time.monotonic()
        try:
            publication = _publish_one(engine, lake, run, item, rows, started)
        except Exception as error:  # noqa: BLE001  (recorded, and raised for all at the end)
            reported = as_user_error(error) or error
            lines = str(reported).strip().splitlines() or [type(error).__name__]
            run.report(
                item.query,
                status=FAILED,
                mode=item.mode,
                reason=lines[0],
                from_epoch=item.from_epoch,
                to_epoch=item.from_epoch,
            )
            return Publication(item.query, "failed", item.from_epoch, reason=lines[0], cause=error)
        progress(
            f"{item.query}: {publication.mode}, {counted(publication.rows, 'row')}"
            f" up to epoch {item.to_epoch}"
        )
        return publication

    appending = [
        item
        for item in work
        if (not item.rebuilt or item.published is None)
        and not (item.is_over_streams or item.as_one_state)
    ]
    done: dict[str, Publication] = {}
    with ThreadPoolExecutor(parallel) as threads:
        together = packs(engine, appending, lambda _: None, appended_rows, fetched=True)
        for number, pack in enumerate(together):
            if len(pack) > 1 and (rows := _read_together(engine, number, pack)) is not None:
                parts = [rows[item.query] for item in pack]
                done |= {
                    publication.query: publication
                    for publication in threads.map(publish_query, pack, parts)
                }
        alone = [item for item in work if item.query not in done]
        done |= {
            publication.query: publication for publication in threads.map(publish_query, alone)
        }
    return [done[item.query] for item in work]


def _read_together(engine: Engine, number: int, pack: Sequence[Backlog]) -> RowsByKey | None:
    """The rows to publish by query; None if each query has to be read by itself."""
    try:
        name = f"deltas_{number}"
        make_rows_of_many(engine, name, pack, _TIMES)
        rows = engine.fetch_few(name, engine.count(name))
    except Exception:  # noqa: BLE001  (of one table; reading each by itself shows which)
        return None
    return None if rows is None else by_query(rows)


def _publish_one(
    engine: Engine, lake: Lake, run: Claim, work: Backlog, read: pa.Table | None, started: float
) -> Publication:
    """Publish one query; `read` has its rows if they were read together with those of others."""
    stored = stored_columns(lake, work.query)
    columns = published_columns(work, stored)
    name = f"delta_{work.query}"
    if read is None:
        # Read twice: to be counted, and to be written.
        keep: Keep = "cache" if work.rebuilt else "small"
        engine.query(name, rows_to_publish(work, columns, stored, _TIMES), keep)
        rows, net = _count(engine, name)
    else:
        rows, net = read.num_rows, int(pc.sum(read["weight"]).as_py() or 0)
    if not rows and not work.rebuilt:
        return move_watermark(run, work)
    metadata = _metadata(run, work, columns, net=net)
    table = answers(work.query, tuple(columns))
    merge = bool(stored) and set(columns) != set(stored)
    if read is None:
        version = engine.write(table, name, metadata, rows=rows, merge_schema=merge).version
    else:
        few = named(read, work, columns)
        version = write(lake, table, few, metadata, merge_schema=merge)
    run.report(
        work.query,
        mode=work.mode,
        reason=work.reason or None,
        from_epoch=work.published.epoch if work.published else 0,
        to_epoch=work.to_epoch,
        rows_out=rows,
        seconds=time.monotonic() - started,
        table_version=version,
        commit_metadata=metadata.to_json(),
    )
    return Publication(work.query, work.mode, work.to_epoch, rows)


def _count(engine: Engine, name: str) -> tuple[int, int]:
    """The number of rows of a delta, and the sum of their weights."""
    net = exp.func("COALESCE", exp.Sum(this=column("weight")), number(0))
    ((rows, weights),) = engine.rows(select(exp.Count(this=exp.Star()), net).from_(rows_of(name)))
    return int(str(rows)), int(str(weights))


def _metadata(run: Claim, work: Backlog, columns: Sequence[str], *, net: int) -> Metadata:
    return Metadata(
        run_id=run.run_id,
        job=run.job,
        watermark=work.to_epoch,
        base=work.maintained.metadata.base,
        fingerprint=work.maintained.metadata.fingerprint,
        mode=work.mode,
        extra={
            # The columns of earlier texts of the query come last, and are left out here.
            "columns": [
                [name, number] for name, (_, number) in zip(columns, work.columns, strict=False)
            ],
            "rows": work.rows_published + net,
            "embeddings_version": work.maintained.version,
            **({UNKNOWN: work.unknown} if work.unknown else {}),
            **({} if work.since is None else {SINCE: work.since}),
            **({} if work.difference_at is None else {DIFFERENCE_AT: work.difference_at}),
            **_predicates(work.maintained.metadata),
        },
    )


def _predicates(embeddings: Metadata) -> dict[str, Any]:
    predicates = embeddings.extra.get(PREDICATES)
    return {} if predicates is None else {PREDICATES: predicates}


def move_watermark(run: Claim, work: Backlog) -> Publication:
    """Move the watermark without a commit: no row changed in the range."""
    run.untouched(work.query, work.from_epoch, work.to_epoch)
    return Publication(work.query, UNTOUCHED, work.to_epoch)
