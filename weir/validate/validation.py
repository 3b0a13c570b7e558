"""Runs the checks of the graph and of queries; gives a result per scope."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import count
from typing import TYPE_CHECKING

from weir.compute.duck import is_out_of_memory
from weir.compute.engine import Engine
from weir.compute.lost_rows import raise_if_lost
from weir.compute.packs import packs
from weir.expectations.answers import ANSWERS_SUITE, MAX_CHANGE, MAX_ROWS, MIN_ROWS
from weir.expectations.embeddings import EMBEDDINGS_SUITE
from weir.expectations.held_rows import HeldRows
from weir.expectations.quads import QUADS_SUITE
from weir.expectations.run import Check, run_checks
from weir.expectations.streams import STREAMS_SUITE
from weir.expectations.suite import QualityResult
from weir.expectations.transactions import TRANSACTIONS_SUITE
from weir.expected_errors import as_user_error
from weir.process.address_space import is_refusal
from weir.validate.answer_rows import (
    Checked,
    kind_of,
    make_answer_rows,
    stored_rows,
)
from weir.validate.stream_rows import CheckedStream, make_stream_rows
from weir.validate.validation_queries import quad_rows, transaction_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


_KEYS = {MAX_ROWS: "max_rows", MIN_ROWS: "min_rows", MAX_CHANGE: "max_change"}
"""The limit that a check is about, by the name of the check."""


@dataclass(frozen=True, slots=True)
class Validation:
    """The result of the checks of one scope: a query, or the graph (empty).

    Attributes:
        scope: the query, or empty.
        from_epoch: the rows after this epoch were checked.
        to_epoch: the rows up to this epoch were checked.
        results: of the checks.
        places: file and line of the limits of the query.
    """

    scope: str
    from_epoch: int
    to_epoch: int
    results: tuple[QualityResult, ...]
    places: Mapping[str, str] = field(default_factory=dict)

    def with_results(self, results: Iterable[QualityResult | None]) -> Validation:
        """With the results of other checks, as far as there are any."""
        more = tuple(result for result in results if result is not None)
        return replace(self, results=(*self.results, *more))

    @property
    def success(self) -> bool:
        """Whether all checks passed, but those that only warn."""
        return all(result.may_pass for result in self.results)

    @property
    def warnings(self) -> str:
        """Which checks that only warn failed, in one sentence; empty if none did."""
        return "; ".join(r.failure for r in self.results if r.may_pass and not r.success)

    @property
    def failures(self) -> str:
        """Which checks failed, in one sentence."""
        return "; ".join(
            f"{result.failure} ({self.places[_KEYS[result.expectation]]})"
            if result.expectation in _KEYS
            else result.failure
            for result in self.results
            if not result.may_pass
        )


def validate_graph(
    engine: Engine, from_epoch: int, to_epoch: int, streams: Sequence[CheckedStream] = ()
) -> Validation:
    """Check the quads, transactions and streams of the epochs (from_epoch, to_epoch]."""
    engine.query("checked_quads", quad_rows(from_epoch, to_epoch))
    engine.query("checked_transactions", transaction_rows(from_epoch, to_epoch))
    relations = {"checked_quads": QUADS_SUITE, "checked_transactions": TRANSACTIONS_SUITE}
    if streams:
        make_stream_rows(engine, "checked_epochs", streams, from_epoch, to_epoch)
        relations["checked_epochs"] = STREAMS_SUITE
    checks = [
        Check((suite,), engine.held([name]) or engine.frame(name))
        for name, suite in relations.items()
    ]
    return Validation("", from_epoch, to_epoch, run_checks(checks))


def validate_queries(
    engine: Engine, work: Sequence[Checked], parallel: int = 1
) -> list[Validation]:
    """Check queries, as many as possible together; the results are in the order of `work`.

    Args:
        engine: reads their rows.
        work: the queries.
        parallel: how many statements are prepared at once.
    """
    if not work:
        return []
    packed = packs(engine, work, kind_of, lambda checked: stored_rows(checked[0]), looked_up=True)
    with engine.scope() as own:
        results = _Checks(own, parallel).results(packed)
    return [
        Validation(
            item.query, item.from_epoch, item.to_epoch, results[item.query], rules.guards.places
        )
        for item, rules in work
    ]


_Results = dict[str, tuple[QualityResult, ...]]


@dataclass(slots=True)
class _Checks:
    """Checks packs of queries where their rows are, in DuckDB or on Spark.

    Attributes:
        engine: has the rows.
        parallel: how many packs are read at once.
    """

    engine: Engine
    parallel: int
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def results(self, packed: Sequence[Sequence[Checked]]) -> _Results:
        """The results by query.

        All packs are checked together. If that fails, each pack is checked by itself; if one fails,
        each of its queries. That the rows of a query cannot be read is a result like any other.
        """
        try:
            return self._together(packed)
        except Exception as error:  # noqa: BLE001  (the others continue)
            if len(packed) == 1 and len(packed[0]) == 1:
                return self._alone(packed[0][0], error)
        apart = packed if len(packed) > 1 else [[checked] for checked in packed[0]]
        results: _Results = {}
        for pack in apart:
            results |= self.results([pack])
        return results

    def _alone(self, checked: Checked, error: Exception) -> _Results:
        """The results of a query whose check failed: on Spark, if DuckDB ran out of memory.

        Raises:
            LostRowsError: the rows are lost.
            Exception: the system refuses memory.
        """
        query = checked[0].query
        # The query is not at fault: the stage is to be repeated.
        raise_if_lost(error)
        if is_out_of_memory(error):
            try:
                return _check(self.engine.frame(self._make([checked])), [query])
            except Exception as again:  # noqa: BLE001  (a result like any other)
                error = again
        if is_refusal(error):
            # The query is not at fault.
            raise error
        return {query: (_unreadable(query, error),)}

    def _together(self, packed: Sequence[Sequence[Checked]]) -> _Results:
        # Of few rows, Spark plans longer than it computes, in the thread that asks.
        with ThreadPoolExecutor(self.parallel) as threads:
            made = [*threads.map(self._make, packed)]
        queries = ([item.query for item, _ in pack] for pack in packed)
        names = dict(zip(made, queries, strict=True))
        on_driver = [name for name in names if self.engine.held([name]) is not None]
        results: _Results = {}
        if on_driver and (rows := self.engine.held(on_driver)) is not None:
            results |= _check(rows, [query for name in on_driver for query in names[name]])
        if others := [name for name in names if name not in on_driver]:
            frames = (self.engine.frame(name) for name in others)
            frame = reduce(lambda upper, lower: upper.unionByName(lower), frames)
            results |= _check(frame, [query for name in others for query in names[name]])
        return results

    def _make(self, pack: Sequence[Checked]) -> str:
        name = f"checked_{next(self._numbers)}"
        make_answer_rows(self.engine, name, pack)
        return name


def _check(rows: DataFrame | HeldRows, queries: Sequence[str]) -> _Results:
    suites = (EMBEDDINGS_SUITE, ANSWERS_SUITE)
    by_query: dict[str, list[QualityResult]] = {query: [] for query in queries}
    for result in run_checks([Check(suites, rows, tuple(queries))]):
        by_query[result.scope].append(result)
    return {query: tuple(results) for query, results in by_query.items()}


def _unreadable(query: str, error: Exception) -> QualityResult:
    expected = as_user_error(error)
    return QualityResult(
        suite="embeddings",
        scope=query,
        expectation="rows_can_be_read",
        sentence="The rows can be read and checked.",
        success=False,
        unexpected_rows=1,
        examples=(str(error)[:2000],),
        detail="" if expected is None else str(expected),
    )
