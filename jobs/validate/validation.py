"""The checks of the graph and of the queries, and their results per scope."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from expectations.answers import ANSWERS_SUITE
from expectations.embeddings import EMBEDDINGS_SUITE
from expectations.quads import QUADS_SUITE
from expectations.run import Check, run_checks
from expectations.suite import QualityResult
from expectations.transactions import TRANSACTIONS_SUITE
from jobs.compute.engine import Engine
from jobs.progress.backlog import Backlog
from jobs.validate.validation_queries import (
    AnswerRules,
    answer_rows,
    quad_rows,
    transaction_rows,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


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


Work = Sequence[tuple[Backlog, AnswerRules]]
"""What is to be checked: the rows that a query has not published, and the rules of its answer."""


def validate_graph(engine: Engine, from_epoch: int, to_epoch: int) -> Validation:
    """The result for the quads and the transactions of the epochs (from_epoch, to_epoch]."""
    engine.query("checked_quads", quad_rows(from_epoch, to_epoch))
    engine.query("checked_transactions", transaction_rows(from_epoch, to_epoch))
    quads, transactions = map(engine.fetch, ("checked_quads", "checked_transactions"))
    results = run_checks([Check((QUADS_SUITE,), quads), Check((TRANSACTIONS_SUITE,), transactions)])
    return Validation("", from_epoch, to_epoch, results)


def validate_queries(engine: Engine, work: Work) -> list[Validation]:
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
        except Exception as error:  # noqa: BLE001  (a result like any other; the others continue)
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
