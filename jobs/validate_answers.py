"""Check the rows that are not published yet: those of the graph and those of every query.

A query's rows are validated by a row of the ledger (job `validate`, status `succeeded`) that names
the version of the embedding table whose rows were checked and their range of epochs; the graph's by
the `to_epoch` of the row about the run as a whole. `publish_answers` publishes nothing else. A run
that dies before it wrote the ledger has validated nothing, and checking again does no harm.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from expectations.answers import ANSWERS_SUITE
from expectations.embeddings import EMBEDDINGS_SUITE
from expectations.page import quality_page
from expectations.quads import QUADS_SUITE
from expectations.run import Check, import_ahead, run_checks
from expectations.suite import QualityResult
from expectations.transactions import TRANSACTIONS_SUITE
from jobs.catalog.catalog import Catalog
from jobs.compute.engine import Engine
from jobs.compute.session import Spark, session_of
from jobs.errors import QualityError
from jobs.progress.backlog import Backlog
from jobs.progress.completion import Completion
from jobs.settings import Settings
from jobs.stage import Progress, claimed, run_stage, silent
from jobs.validate.validation_queries import (
    AnswerRules,
    answer_rows,
    quad_rows,
    transaction_rows,
)
from lake.commit import write
from lake.lake import Lake, local_folder
from lake.ledger import FAILED, SUCCEEDED
from lake.metadata import Metadata
from lake.tables import QUALITY

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

JOB: Literal["validate"] = "validate"
PAGE = "reports/quality.html"
"""Where the page of the last results is, below the lake's folder."""


@dataclass(frozen=True, slots=True)
class Validation:
    """The result of the checks of one scope: a query, or the graph (empty)."""

    scope: str
    from_epoch: int
    to_epoch: int
    results: tuple[QualityResult, ...]

    @property
    def success(self) -> bool:
        """Whether everything held."""
        return all(result.success for result in self.results)

    @property
    def failures(self) -> str:
        """What did not hold, in one sentence."""
        return "; ".join(
            f"{result.expectation} ({result.unexpected_rows} rows)"
            for result in self.results
            if not result.success
        )


@dataclass(frozen=True, slots=True)
class ValidateResult:
    """What was checked; nothing if there was nothing to check."""

    validations: tuple[Validation, ...] = ()


def validate_answers(
    spark: Spark, settings: Settings, run_id: str, progress: Progress = silent
) -> ValidateResult:
    """Run the suites on the graph's new epochs and on every query's unpublished rows.

    Raises:
        BusyError: another run validates.
        QualityError: a check failed; what passed is validated all the same.
    """
    catalog, lake = Catalog.of(settings), settings.open_lake()
    before = Completion.read(lake)
    if before.graph_validated_to >= before.head and not _not_validated(before, catalog):
        return ValidateResult()
    started = time.monotonic()
    with claimed(lake, JOB, run_id, settings.limits.lease_seconds) as run:
        completion = Completion.read(lake)
        graph_from, graph_to = completion.graph_validated_to, completion.head
        work = _not_validated(completion, catalog)
        run.totals |= {"from_epoch": graph_from, "to_epoch": graph_from}
        if not work and graph_from >= graph_to:
            return ValidateResult()
        graph: tuple[Validation, ...] = ()
        engine = Engine.of(settings, lake, session_of(spark), JOB)
        try:
            if graph_to > graph_from:
                progress(f"checking the graph, epochs {graph_from + 1}..{graph_to}")
                graph = (_validate_graph(engine, graph_from, graph_to),)
            if work:
                progress(f"checking the new rows of {len(work)} queries")
            answers = _validate_queries(engine, work)
        finally:
            engine.release()
        _record(lake, run_id, (*graph, *answers))
        if all(validation.success for validation in graph):
            run.totals["to_epoch"] = max(graph_from, graph_to)
        for (item, _), validation in zip(work, answers, strict=True):
            run.report(
                item.query,
                status=SUCCEEDED if validation.success else FAILED,
                mode=item.mode,
                reason=validation.failures or None,
                from_epoch=item.from_epoch,
                to_epoch=item.to_epoch,
                seconds=time.monotonic() - started,
                table_version=item.maintained.version,
                checked_run=item.maintained.metadata.run_id,
            )
        _raise_for(settings, (*graph, *answers))
    return ValidateResult((*graph, *answers))


_Work = Sequence[tuple[Backlog, AnswerRules]]


def _not_validated(completion: Completion, catalog: Catalog) -> _Work:
    """The backlog whose rows have not passed the checks yet."""
    work = []
    for item in completion.backlog(catalog.names):
        verdict = completion.verdicts.get(item.query)
        if not item.has_rows or (verdict and verdict.success and verdict.is_about(item)):
            continue
        if not catalog.is_usable(item.query):
            continue
        maintained, metadata = catalog.member(item.query), item.maintained.metadata
        # The rows are those of another text; maintain recomputes them first.
        if metadata.fingerprint != maintained.fingerprint:
            continue
        (output,) = maintained.outputs
        rules = AnswerRules(output.form, bool(metadata.extra["is_set"]), output.max_rows)
        work.append((item, rules))
    return work


def _validate_graph(engine: Engine, from_epoch: int, to_epoch: int) -> Validation:
    engine.query("checked_quads", quad_rows(from_epoch, to_epoch))
    engine.query("checked_transactions", transaction_rows(from_epoch, to_epoch))
    quads, transactions = map(engine.fetch, ("checked_quads", "checked_transactions"))
    results = run_checks([Check((QUADS_SUITE,), quads), Check((TRANSACTIONS_SUITE,), transactions)])
    return Validation("", from_epoch, to_epoch, results)


def _validate_queries(engine: Engine, work: _Work) -> list[Validation]:
    """The results in the order of `work`; queries with few rows are checked together."""
    found: dict[str, tuple[QualityResult, ...]] = {}
    together: dict[str, pa.Table] = {}
    for item, rules in work:
        try:
            name = f"checked_{item.query}"
            engine.query(name, answer_rows(item, rules))
            rows = engine.fetch(name)
            if isinstance(rows, pa.Table):
                together[item.query] = rows
            else:
                found |= _check(rows, [item.query])
        except Exception as error:  # noqa: BLE001  (a result like any other; the others go on)
            found[item.query] = (_unreadable(item.query, error),)
        if not engine.placement.holds(sum(table.num_rows for table in together.values())):
            found |= _check_together(together)
            together = {}
    found |= _check_together(together)
    return [
        Validation(item.query, item.from_epoch, item.to_epoch, found[item.query])
        for item, _ in work
    ]


_Results = dict[str, tuple[QualityResult, ...]]


def _check_together(tables: Mapping[str, pa.Table]) -> _Results:
    return _check(pa.concat_tables(tables.values()), list(tables)) if tables else {}


def _check(rows: DataFrame | pa.Table, queries: Sequence[str]) -> _Results:
    suites = (EMBEDDINGS_SUITE, ANSWERS_SUITE)
    results = run_checks([Check(suites, rows, tuple(queries))])
    return {query: tuple(r for r in results if r.scope == query) for query in queries}


def _unreadable(query: str, error: Exception) -> QualityResult:
    return QualityResult(
        suite="embeddings",
        scope=query,
        expectation="rows_can_be_read",
        sentence="The rows can be read and checked.",
        success=False,
        examples=(str(error)[:2000],),
    )


def _record(lake: Lake, run_id: str, validations: Sequence[Validation]) -> None:
    """Write the results to `quality`, and as a page if the lake is a folder."""
    now = datetime.now(UTC)
    rows = [
        {
            "run_id": run_id,
            "table": f"{result.suite}/{result.scope}" if result.scope else result.suite,
            "query": result.scope or None,
            "expectation": result.expectation,
            "success": result.success,
            "observed": json.dumps({"sentence": result.sentence, "examples": result.examples}),
            "unexpected_rows": result.unexpected_rows,
            "from_epoch": validation.from_epoch,
            "to_epoch": validation.to_epoch,
            "recorded_at": now,
        }
        for validation in validations
        for result in validation.results
    ]
    to_epoch = max(validation.to_epoch for validation in validations)
    metadata = Metadata(run_id, JOB, watermark=to_epoch)
    write(lake, QUALITY, rows, metadata)
    folder = local_folder(lake.root)
    if folder is not None:
        page = folder / PAGE
        page.parent.mkdir(parents=True, exist_ok=True)
        results = [result for validation in validations for result in validation.results]
        page.write_text(quality_page(run_id, now, results), encoding="utf-8")


def _raise_for(settings: Settings, validations: Sequence[Validation]) -> None:
    failed = [validation for validation in validations if not validation.success]
    if not failed:
        return
    what = "; ".join(f"{v.scope or 'the graph'}: {v.failures}" for v in failed)
    tables = ", ".join(f"embeddings/{v.scope}" if v.scope else "quads" for v in failed)
    raise QualityError(
        f"checks failed, and nothing that depends on them is published: {what}.",
        settings.lake,
        f'The rows are in {tables}; `weir sql "SELECT * FROM quality WHERE NOT success"` has '
        "examples. The next run checks again.",
    )


def main(argv: Sequence[str] | None = None) -> int:
    """The entry point under spark-submit."""
    # Imported while Spark starts.
    import_ahead()
    return run_stage(validate_answers, JOB, __doc__, argv)


if __name__ == "__main__":
    sys.exit(main())
