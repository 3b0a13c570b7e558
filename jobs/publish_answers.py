"""Append the validated new rows of every query to its answer table.

The answer table is a log: the sum of the weights up to an epoch is the answer at that epoch. One
commit takes it from its watermark to that of the embedding table, and carries the new watermark, so
a run that was killed is completed by the next and nothing is published twice. If the embedding
table starts with another state than the one published from (first publication, edited query,
recomputed embeddings), the difference between that state and the published answer is appended.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from jobs.catalog.catalog import Catalog
from jobs.compute.engine import Engine
from jobs.compute.relations import Keep
from jobs.compute.session import Spark, session_of
from jobs.compute.sql import column, number, rows_of, select
from jobs.errors import QualityError, WeirError
from jobs.progress.backlog import Backlog
from jobs.progress.completion import Completion
from jobs.progress.verdicts import Verdict
from jobs.publish.publication_query import answer_delta, published_columns, stored_columns
from jobs.settings import Settings
from jobs.stage import Claim, Progress, claimed, run_stage, silent
from lake.lake import Lake
from lake.ledger import FAILED, UNTOUCHED
from lake.metadata import Metadata
from lake.tables import answers

JOB: Literal["publish"] = "publish"


@dataclass(frozen=True, slots=True)
class Publication:
    """What was done for one query.

    Attributes:
        mode: `initial`, `incremental`, `migrated`, `rebased`; `untouched` if only the watermark
            moved; `held` if the rows are not validated; `failed`.
        rows: rows appended.
        reason: why it was held or failed.
    """

    query: str
    mode: str
    to_epoch: int
    rows: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PublishResult:
    """What was done, for the queries that had something to publish."""

    publications: tuple[Publication, ...] = ()


def publish_answers(
    spark: Spark, settings: Settings, run_id: str, progress: Progress = silent
) -> PublishResult:
    """Append what is validated and not published yet.

    Raises:
        BusyError: another run publishes.
        QualityError: rows are held back, because their check failed; the others were published.
        WeirError: some queries could not be published; the others were.
    """
    catalog, lake = Catalog.of(settings), settings.open_lake()
    if not _work(Completion.read(lake), catalog):
        return PublishResult()
    with claimed(lake, JOB, run_id, settings.limits.lease_seconds) as run:
        completion = Completion.read(lake)
        work = _work(completion, catalog)
        graph_to, found = completion.graph_validated_to, completion.verdicts
        ready: list[Backlog] = []
        done: list[Publication] = []
        for item in work:
            reason = _why_held(item, graph_to, found.get(item.query))
            if reason is not None:
                done.append(Publication(item.query, "held", item.to_epoch, reason=reason))
                progress(f"{item.query}: held back, {reason}")
            elif not item.has_rows:
                done.append(_untouched(run, item))
            else:
                ready.append(item)
        engine = Engine.of(settings, lake, session_of(spark), JOB)
        try:
            done += _publish(engine, lake, run, ready, settings.limits.parallel_queries, progress)
        finally:
            engine.release()
        _raise_for(done)
    return PublishResult(tuple(done))


def _work(completion: Completion, catalog: Catalog) -> tuple[Backlog, ...]:
    """The backlog of the queries whose files have no error; no other file is read."""
    work = completion.backlog(catalog.names)
    return tuple(each for each in work if catalog.is_usable(each.query))


def _why_held(work: Backlog, graph_to: int, verdict: Verdict | None) -> str | None:
    """Why the rows may not be published, or None if they may."""
    if graph_to < work.to_epoch:
        return f"the checks of the graph have not succeeded after epoch {graph_to}"
    if not work.has_rows:
        return None
    if verdict is None or not verdict.is_about(work):
        return "its rows have not been checked yet"
    if not verdict.success:
        return f"a check of its rows failed: {verdict.reason}"
    return None


def _untouched(run: Claim, work: Backlog) -> Publication:
    """No row in the range: the watermark moves by a row of the ledger, without a commit."""
    run.report(
        work.query,
        mode=UNTOUCHED,
        reason="no row of the answer changed",
        from_epoch=work.from_epoch,
        to_epoch=work.to_epoch,
        rows_out=0,
    )
    return Publication(work.query, UNTOUCHED, work.to_epoch)


def _publish(
    engine: Engine,
    lake: Lake,
    run: Claim,
    work: Sequence[Backlog],
    parallel: int,
    progress: Progress,
) -> list[Publication]:
    """Publish several queries at once; one that fails spares the others."""

    def one(item: Backlog) -> Publication:
        started = time.monotonic()
        try:
            publication = _publish_one(engine, lake, run, item, started)
        except Exception as error:  # noqa: BLE001  (recorded, and raised for all at the end)
            lines = str(error).strip().splitlines() or [type(error).__name__]
            run.report(
                item.query,
                status=FAILED,
                mode=item.mode,
                reason=lines[0],
                from_epoch=item.from_epoch,
                to_epoch=item.from_epoch,
            )
            return Publication(item.query, "failed", item.from_epoch, reason=lines[0])
        progress(
            f"{item.query}: {publication.mode}, {publication.rows} rows up to epoch {item.to_epoch}"
        )
        return publication

    with ThreadPoolExecutor(parallel) as threads:
        return list(threads.map(one, work))


def _publish_one(
    engine: Engine, lake: Lake, run: Claim, work: Backlog, started: float
) -> Publication:
    stored = stored_columns(lake, work.query)
    columns = published_columns(work, stored)
    name = f"delta_{work.query}"
    # Counted, then written.
    keep: Keep = "cache" if work.rebuilt else "small"
    engine.query(name, answer_delta(work, columns, stored), keep)
    rows, net = _count(engine, name)
    if not rows and not work.rebuilt:
        return _untouched(run, work)
    commit = engine.write(
        answers(work.query, tuple(columns)),
        name,
        _metadata(run, work, columns, net=net),
        rows=rows,
        merge_schema=bool(stored) and set(columns) != set(stored),
    )
    run.report(
        work.query,
        mode=work.mode,
        reason=work.reason or None,
        from_epoch=work.published.epoch if work.published else 0,
        to_epoch=work.to_epoch,
        rows_out=rows,
        seconds=time.monotonic() - started,
        table_version=commit.version,
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
        job=JOB,
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
        },
    )


def _raise_for(done: Sequence[Publication]) -> None:
    failed = [p for p in done if p.mode == "failed"]
    held = [p for p in done if p.mode == "held"]
    if failed:
        raise WeirError(
            f"{len(failed)} queries could not be published: "
            + "; ".join(f"{p.query}: {p.reason}" for p in failed),
            "",
            "The others were; run again when the reason is gone.",
        )
    if held:
        raise QualityError(
            f"{len(held)} queries are held back: "
            + "; ".join(f"{p.query}: {p.reason}" for p in held),
            "",
            "Their answers are as before; `weir run` checks and publishes again.",
        )


def main(argv: Sequence[str] | None = None) -> int:
    """The entry point under spark-submit."""
    return run_stage(publish_answers, JOB, __doc__, argv)


if __name__ == "__main__":
    sys.exit(main())
