"""Examine what the lake holds: files, logs, answers; with `--full` also against the graph.

Nothing is changed. The results go to `quality` and to the page `reports/audit.html`; `weir repair`
rebuilds what can be rebuilt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from weir.audit.answers import answer_results, comparable, embeddings_results, in_one_state
from weir.audit.checked import CheckOf, table_of
from weir.audit.files import LOG, file_results, is_damage
from weir.audit.graph import log_results, union_results
from weir.audit.recomputed import recomputed_results, sampled
from weir.audit.sources import source_results
from weir.catalog.catalog import Catalog
from weir.catalog.queries import RegisteredQuery
from weir.compute.engine import Engine
from weir.errors import ConfigurationError, QualityError
from weir.expectations.suite import QualityResult
from weir.expected_errors import as_user_error
from weir.lake.counted import counted
from weir.lake.damage.integrity import tables_in
from weir.lake.lake import Lake, local_folder
from weir.lake.tables import GRAPHS, LEDGER_SUMMARY, QUADS, QUALITY, RUNS, TRANSACTIONS, TRIPLES
from weir.process.address_space import is_refusal
from weir.progress.backlog import Backlog
from weir.progress.completion import Completion
from weir.project import Project
from weir.settings import Settings
from weir.stage import Progress, claimed, silent
from weir.validate.quality_results import record_results
from weir.validate.validation import Validation

PAGE = "reports/audit.html"
"""Where the page of the last audit is, below the lake's folder."""
QUERIES, EPOCHS = 5, 3
"""How many queries a full audit computes again, and each at how many epochs."""
_READABLE = CheckOf("rows_can_be_read", "The rows can be read and checked.")
_NEEDED = {RUNS.name, LEDGER_SUMMARY.name, QUALITY.name, TRANSACTIONS.name}
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class AuditResult:
    """The results of all checks, in the order of tables."""

    results: tuple[QualityResult, ...] = ()

    @property
    def failed(self) -> tuple[QualityResult, ...]:
        """Those of checks that do not hold."""
        return tuple(each for each in self.results if not each.success)

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
    """Examine all tables of the lake; `examined` has the arguments.

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
) -> AuditResult:
    """The results of all checks, which are recorded.

    Args:
        project: whose lake is examined.
        run_id: of the run; it also selects the sample of a full audit.
        progress: receives lines.
        full: whether the union of the graphs and the answers of some queries are computed again.
        queries: how many of them.

    Raises:
        BusyError: another audit is in progress.
        ConfigurationError: there is no lake; nothing is written.
    """
    lake, settings = project.open_lake(), project.settings
    _require_tables(lake)
    audit = _Audit(project, progress)
    found = [*audit.files()]
    damaged = {table_of(each) for each in found if is_damage(each)}
    if damaged & _NEEDED:
        # Without them a run can neither be claimed nor recorded, and no epoch is known.
        return AuditResult(tuple(found))
    with claimed(lake, "audit", run_id, settings.limits.lease_seconds) as run:
        found += audit.rows(damaged)
        if full:
            found += audit.against_the_graph(damaged, queries, run_id)
        result = AuditResult(tuple(found))
        head = audit.completion.head
        record_results(lake, run_id, _by_query(result.results, head), "audit", PAGE)
        run.totals |= {"from_epoch": 0, "to_epoch": head, "rows_in": len(result.results)}
        progress(result.summary)
    return result


def _require_tables(lake: Lake) -> None:
    folder = local_folder(lake.root)
    if folder is not None and folder.is_dir():
        # A damaged table, which cannot be opened, is one too.
        has_tables = bool(tables_in(folder))
    else:
        has_tables = lake.exists(RUNS.name)
    if not has_tables:
        raise ConfigurationError(
            f"there is no lake at {lake.root}",
            "",
            "`weir run` creates it; or correct `lake` in the configuration.",
        )


def failure(result: AuditResult, settings: Settings) -> QualityError:
    """The error that says which checks failed."""
    parts = []
    for each in result.failed:
        first, *others = each.failure.splitlines() or [""]
        parts += [f"{table_of(each)}: {first}", *(f"  {other}" for other in others)]
    return QualityError(
        "the lake is not what it should be:",
        settings.lake,
        "`weir repair` rebuilds what follows from other tables, and says what does not.",
        parts=parts,
        done=result,
    )


@dataclass
class _Audit:
    """The checks of one audit, over the lake as it was opened."""

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
        """Whether the files of a local lake are what was written."""
        folder = local_folder(self.lake.root)
        if folder is None:
            self.progress("the lake is no folder: files are verified as far as rows are read")
            return
        names = tables_in(folder)
        self.progress(f"reading the files of {counted(len(names), 'table')}")
        for name in names:
            yield from file_results(self.lake, folder / name, name)
        if TRANSACTIONS.name in names:
            for table in (QUADS, TRIPLES, GRAPHS):
                if table.name not in names:
                    yield LOG.result(table.name, [f"{folder / table.name}: the table is gone"])

    def rows(self, damaged: set[str]) -> Iterator[QualityResult]:
        """Whether logs and answers are well formed, and answers follow from embeddings."""
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
            if not {f"embeddings/{item.query}", f"answers/{item.query}"} & damaged
        ]
        self.progress(f"checking the rows of {counted(len(work), 'query')}")
        with self._engine() as engine:
            yield from embeddings_results(engine, self.catalog, work)
            for item in work:
                yield from self._answer(engine, item)

    def against_the_graph(
        self, damaged: set[str], queries: int, seed: str
    ) -> Iterator[QualityResult]:
        """Whether what follows from the graph is what the graph gives."""
        head = self.completion.head
        if not head or {TRANSACTIONS.name, QUADS.name, TRIPLES.name} & damaged:
            return
        self.progress("computing the union of all graphs")
        with self._engine() as engine:
            union = partial(union_results, engine, self.lake, head)
            yield from _readable(TRIPLES.name, union)
        self.progress("reading the last versions of the sources")
        with self._engine() as engine:
            said = partial(source_results, engine, self.project, head)
            yield from _readable(QUADS.name, said)
        work = []
        for item in comparable(self.completion, self.catalog.names):
            is_usable = self.catalog.is_usable(item.query)
            known = self.catalog.member(item.query) if is_usable else None
            is_as_stored = known is not None and (
                known.fingerprint == item.maintained.metadata.fingerprint
            )
            if (
                isinstance(known, RegisteredQuery)
                and known.windowing is None
                and is_as_stored
                and f"embeddings/{item.query}" not in damaged
            ):
                work.append((item, known))
        for sample in sampled(self.lake, work, queries, EPOCHS, seed):
            name = sample.item.query
            self.progress(f"computing {name} at epoch {sample.epoch} over the whole graph")
            with self._engine() as engine:
                again = partial(recomputed_results, engine, sample)
                yield from _readable(f"embeddings/{name}", again)

    def _answer(self, engine: Engine, item: Backlog) -> Iterator[QualityResult]:
        """Whether an answer is that of its embeddings; again if it was published meanwhile."""
        for _ in range(_ATTEMPTS):
            check = partial(answer_results, engine, self.lake, item)
            results = [*_readable(f"answers/{item.query}", check)]
            if all(each.success for each in results) or in_one_state(self.lake, item):
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
    """The results of checks; that the rows cannot be read is one like any other."""
    try:
        yield from checks()
    except Exception as error:
        expected = as_user_error(error)
        if expected is None or is_refusal(error):
            raise
        yield _READABLE.result(table, [f"{expected.where}: {expected.what}"])


def _by_query(results: Sequence[QualityResult], head: int) -> list[Validation]:
    scopes = dict.fromkeys(each.scope for each in results)
    return [
        Validation(scope, 0, head, tuple(each for each in results if each.scope == scope))
        for scope in scopes
    ]
