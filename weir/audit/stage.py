"""Examine what the lake holds: files, logs, answers; with `--full` also against the graph.

Nothing is changed. The results go to `quality`; `weir repair` rebuilds what can be rebuilt.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from weir.audit.answers import answer_results, comparable, embeddings_results, in_one_state
from weir.audit.checked import CheckOf, table_of
from weir.audit.current_tables import table_results
from weir.audit.derived_graphs import derived_graph_results
from weir.audit.files import LOG, file_results, is_damage
from weir.audit.graph import derived_results, log_results
from weir.audit.recomputed import recomputed_results, sampled
from weir.audit.sources import source_results
from weir.compute.engine import Engine
from weir.definitions.catalog import Catalog
from weir.errors import ConfigurationError, QualityError
from weir.expectations.suite import QualityResult
from weir.expected_errors import as_user_error
from weir.lake.counted import counted
from weir.lake.lake import Lake
from weir.lake.tables import (
    ANSWERS,
    CURRENT,
    DERIVED,
    EMBEDDINGS,
    GRAPHS,
    LEDGER_SUMMARY,
    QUADS,
    QUALITY,
    RUNS,
    TRANSACTIONS,
    TRIPLES,
)
from weir.process.address_space import is_refusal
from weir.progress.backlog import Backlog
from weir.progress.completion import Completion
from weir.project import Project
from weir.settings import Settings
from weir.stage import Progress, claimed, silent
from weir.validate.quality_results import record_results
from weir.validate.validation import Validation

QUERIES, EPOCHS = 5, 3
"""How many queries a full audit recomputes, and at how many epochs each."""
_READABLE = CheckOf("rows_can_be_read", "The rows can be read and checked.")
_NEEDED = {RUNS.name, LEDGER_SUMMARY.name, QUALITY.name, TRANSACTIONS.name}
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class AuditResult:
    """The results of all checks, in the order of tables."""

    results: tuple[QualityResult, ...] = ()

    @property
    def failed(self) -> tuple[QualityResult, ...]:
        """The results of failed checks."""
        return tuple(result for result in self.results if not result.success)

    @property
    def summary(self) -> str:
        """How many checks passed and failed."""
        failed = len(self.failed)
        passed = counted(len(self.results) - failed, "check")
        return f"{passed} passed" + (f", {failed:,} failed" if failed else "")


def audit_lake(
    project: Project,
    run_id: str,
    progress: Progress = silent,
    *,
    full: bool = False,
) -> AuditResult:
    """Examine all tables of the lake; the arguments are those of `examined`.

    Raises:
        BusyError: another audit is in progress.
        QualityError: a check failed.
    """
    result = examined(project, run_id, progress, full=full)
    if result.failed:
        raise failure(result, project.settings)
    return result


def examined(
    project: Project,
    run_id: str,
    progress: Progress = silent,
    *,
    full: bool = False,
    queries: int = QUERIES,
    only: Collection[str] | None = None,
) -> AuditResult:
    """Run all checks, and record their results.

    Args:
        project: whose lake is examined.
        run_id: of the run; it also selects the sample of a full audit.
        progress: receives lines.
        full: whether the union of the graphs, the merges of traversals and the answers of some
            queries are recomputed, too.
        queries: how many queries.
        only: the names of the queries that these are chosen from; None for all.

    Raises:
        BusyError: another audit is in progress.
        ConfigurationError: there is no lake; nothing is written.
    """
    lake, settings = project.open_lake(), project.settings
    _require_tables(lake)
    audit = _Audit(project, progress)
    results = [*audit.files()]
    damaged = {table_of(result) for result in results if is_damage(result)}
    if damaged & _NEEDED:
        # These tables are needed to claim and record the audit, and to know the epochs.
        return AuditResult(tuple(results))
    with claimed(lake, "audit", run_id, settings.limits.lease_seconds) as run:
        results += audit.rows(damaged)
        if full:
            results += audit.against_the_graph(damaged, queries, run_id, only)
        result = AuditResult(tuple(results))
        head = audit.completion.head
        record_results(lake, run_id, _by_query(result.results, head), "audit")
        run.totals |= {"from_epoch": 0, "to_epoch": head, "rows_in": len(result.results)}
        progress(result.summary)
    return result


def _require_tables(lake: Lake) -> None:
    if not lake.tables():
        raise ConfigurationError(
            f"there is no lake at {lake.root}",
            "",
            "`weir run` creates it; or correct `lake` in the configuration.",
        )


def failure(result: AuditResult, settings: Settings) -> QualityError:
    """The error that says which checks failed."""
    parts = []
    for check in result.failed:
        first, *others = check.failure.splitlines() or [""]
        parts += [f"{table_of(check)}: {first}", *(f"  {other}" for other in others)]
    return QualityError(
        "the lake is not what it should be:",
        settings.lake,
        "`weir repair` rebuilds what follows from other tables, and says what does not.",
        parts=parts,
        done=result,
    )


@dataclass
class _Audit:
    """The checks of one audit, on the lake as it was opened."""

    project: Project
    progress: Progress

    @property
    def lake(self) -> Lake:
        return self.project.lake

    @cached_property
    def catalog(self) -> Catalog:
        """What is declared."""
        return Catalog.of(self.project.settings)

    @cached_property
    def completion(self) -> Completion:
        """How far each table is complete."""
        return Completion.read(self.lake)

    def files(self) -> Iterator[QualityResult]:
        """Check the files of the lake."""
        names = self.lake.tables()
        self.progress(f"reading the files of {counted(len(names), 'table')}")
        for name in names:
            yield from file_results(self.lake, name)
        if TRANSACTIONS.name in names:
            for table in (QUADS, TRIPLES, GRAPHS):
                if table.name not in names:
                    gone = f"{self.lake.location(table.name)}: the table is gone"
                    yield LOG.result(table.name, [gone])

    def rows(self, damaged: set[str]) -> Iterator[QualityResult]:
        """Check the rows of the graph and of queries, and answers against embeddings."""
        head = self.completion.head
        graph = {TRANSACTIONS.name, QUADS.name, TRIPLES.name}
        if head and not graph & damaged:
            self.progress(f"checking the log of the graph, {counted(head, 'epoch')}")
            with self._engine() as engine:
                checks = partial(log_results, engine, self.lake, head)
                yield from _readable(QUADS.name, checks)
        work = [
            item
            for item in comparable(self.completion, self.catalog.names)
            if not {EMBEDDINGS.name(item.query), ANSWERS.name(item.query)} & damaged
        ]
        self.progress(f"checking the rows of {counted(len(work), 'query')}")
        with self._engine() as engine:
            yield from embeddings_results(engine, self.catalog, work)
            for item in work:
                yield from self._answer(engine, item)
            yield from self._tables(engine, damaged)
            yield from self._derived_graphs(engine, damaged)

    def against_the_graph(
        self, damaged: set[str], queries: int, seed: str, only: Collection[str] | None = None
    ) -> Iterator[QualityResult]:
        """Recompute union, merges, the last versions of sources and some answers, and compare."""
        head = self.completion.head
        if not head or {TRANSACTIONS.name, QUADS.name, TRIPLES.name} & damaged:
            return
        self.progress("computing the union of all graphs, and what traversals merge")
        with self._engine() as engine:
            derived = partial(derived_results, engine, self.lake, head)
            yield from _readable(TRIPLES.name, derived)
        self.progress("reading the last versions of the sources")
        with self._engine() as engine:
            comparison = partial(source_results, engine, self.project, head)
            yield from _readable(QUADS.name, comparison)
        work = []
        names = [name for name in self.catalog.names if only is None or name in only]
        for item in comparable(self.completion, names):
            is_usable = self.catalog.is_usable(item.query)
            known = self.catalog.member(item.query) if is_usable else None
            is_as_stored = known is not None and (
                known.fingerprint == item.maintained.metadata.fingerprint
            )
            if (
                known is not None
                and known.axis.has_states
                and is_as_stored
                and EMBEDDINGS.name(item.query) not in damaged
            ):
                work.append((item, known))
        for sample in sampled(self.lake, work, queries, EPOCHS, seed):
            name = sample.item.query
            self.progress(f"computing {name} at epoch {sample.epoch} over the whole graph")
            with self._engine() as engine:
                again = partial(recomputed_results, engine, sample)
                yield from _readable(EMBEDDINGS.name(name), again)

    def _tables(self, engine: Engine, damaged: set[str]) -> Iterator[QualityResult]:
        """Check that the tables of current answers equal the logs that they follow."""
        completion, most = self.completion, self.project.settings.limits.current_rows
        for query in self.catalog.names:
            table = CURRENT.name(query)
            if not {table, ANSWERS.name(query)} & damaged and completion.follows(query):
                check = partial(table_results, engine, self.lake, completion, query, most)
                yield from _readable(table, check)

    def _derived_graphs(self, engine: Engine, damaged: set[str]) -> Iterator[QualityResult]:
        """Check that derived graphs are those of their embeddings."""
        for definition in self.catalog.members:
            table = DERIVED.name(definition.name)
            if definition.graph is None or not self.lake.exists(table):
                continue
            if not {table, EMBEDDINGS.name(definition.name)} & damaged:
                check = partial(derived_graph_results, engine, self.lake, definition)
                yield from _readable(table, check)

    def _answer(self, engine: Engine, item: Backlog) -> Iterator[QualityResult]:
        """Check that an answer equals its embeddings; again if it was published meanwhile."""
        for _ in range(_ATTEMPTS):
            check = partial(answer_results, engine, self.lake, item)
            results = [*_readable(ANSWERS.name(item.query), check)]
            if all(result.success for result in results) or in_one_state(self.lake, item):
                break
            self.completion = Completion.read(self.lake)
            again = comparable(self.completion, [item.query])
            if not again:
                return
            (item,) = again
        yield from results

    def _engine(self) -> Engine:
        return self.project.engine("audit")


def _readable(table: str, checks: Callable[[], Iterable[QualityResult]]) -> Iterator[QualityResult]:
    """The results of checks; unreadable rows are a failed check like any other."""
    try:
        yield from checks()
    except Exception as error:
        expected = as_user_error(error)
        if expected is None or is_refusal(error):
            raise
        yield _READABLE.result(table, [f"{expected.where}: {expected.what}"])


def _by_query(results: Sequence[QualityResult], head: int) -> list[Validation]:
    scopes = dict.fromkeys(result.scope for result in results)
    return [
        Validation(scope, 0, head, tuple(result for result in results if result.scope == scope))
        for scope in scopes
    ]
