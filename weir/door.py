"""The door: which results of shapes the change sets of a batch would open, before it is committed.

A shapes graph with the key `door` has its report computed for the rows that ingest is about to
write, as maintain would compute it afterwards: by the same delta, from the stored rows at the
newest epoch. Nothing of it is stored; a maintain of the same process commits the rows if these
change sets are what ingest committed. A change set at whose epoch a result opens stops its source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from sqlglot import exp

from weir.compute.early_rows import EarlyRows
from weir.compute.engine import Engine
from weir.compute.relations import Statement
from weir.compute.sql import (
    alias,
    ascending,
    column,
    columns,
    number,
    one_of,
    rows_of,
    select,
    subquery,
    sum_of,
    text,
    union_all,
)
from weir.definitions.catalog import Catalog
from weir.definitions.definition import Definition
from weir.definitions.kinds import SHAPES
from weir.engine.fixpoint import make
from weir.engine.graph import QUADS, TRIPLES, scope_log, stored_logs
from weir.engine.neighbourhood import touched_seeds
from weir.engine.read_graph import read_neighbourhood
from weir.engine.relations import EpochRange
from weir.engine.thresholds import Thresholds
from weir.errors import ConfigurationError
from weir.ingest import netting
from weir.ingest.graph_target import GraphEpochs
from weir.ingest.sources.all_sources import all_sources
from weir.ingest.stage import IngestResult
from weir.lake.counted import counted
from weir.lake.tables import EMBEDDINGS
from weir.maintain.stage import maintain_queries
from weir.plan.lookups import Seed, by_scope, seeds
from weir.plan.plan import ANSWER
from weir.plan.scope import Scope
from weir.progress.completion import Completion
from weir.progress.watermarks import Watermark
from weir.project import Project
from weir.rdf.terms import Literal, parse_term, to_text
from weir.stage import Progress, silent
from weir.text.near import enumerated, meant
from weir.timeline.evaluation import EpochInputs

_LOOKED_UP = Thresholds(1, bulk_share=1e18, bulk_quads=0, neighbourhood_rows=10**15, small_rows=0)
"""Never the whole graph: the rows that are not committed are in no table that could be read."""
_SHOWN = 3
"""Results that the reason of a stop names."""


@dataclass
class Door:
    """The doors of a project.

    Attributes:
        project: whose shapes have doors.
        run_id: of the run.
        progress: receives a line per step.
        shapes: the reports that have one.
    """

    project: Project
    run_id: str
    progress: Progress
    shapes: Sequence[Definition]
    _unique: Iterator[int] = field(default_factory=count)
    _early: dict[str, EarlyRows] = field(default_factory=dict)

    @classmethod
    def of(cls, project: Project, run_id: str, progress: Progress) -> Door | None:
        """The doors of a project; None if it has none.

        Raises:
            ConfigurationError: a door names a source that there is not.
        """
        catalog = Catalog.of(project.settings)
        shapes = [report for report in catalog.of_kind(SHAPES) if report.door is not None]
        for mistake in mistakes_of_doors(shapes, [s.name for s in all_sources(project.settings)]):
            raise mistake
        return cls(project, run_id, progress, shapes) if shapes else None

    def refusals(
        self, engine: Engine, epochs: GraphEpochs, head: int, sources: Mapping[int, str]
    ) -> Mapping[int, str]:
        """What the change sets of a batch would open, by epoch; nothing of those that open nothing.

        Args:
            engine: knows the relations of the epochs.
            epochs: what the change sets become.
            head: the newest epoch of the lake.
            sources: by epoch, the source of its change set.

        Raises:
            BusyError: a report is behind, and another run maintains.
            WeirError: a report cannot be brought up to date.
        """
        reasons: dict[int, list[str]] = {}
        self._early = {}
        guarded = {one.name: _guarded_epochs(one, sources) for one in self.shapes}
        asked = [one for one in self.shapes if guarded[one.name]]
        stored = self._brought_up_to_date(asked, head)
        for one in asked:
            for epoch, reason in self._results(engine, one, epochs, stored.get(one.name), head):
                if epoch in guarded[one.name]:
                    reasons.setdefault(epoch, []).append(reason)
        return {epoch: "; ".join(of_epoch) for epoch, of_epoch in reasons.items()}

    def taken(self) -> None:
        """What was computed of the change sets need not be computed again by this process."""
        self.project.early_rows |= self._early

    def _brought_up_to_date(
        self, shapes: Sequence[Definition], head: int
    ) -> Mapping[str, Watermark]:
        """How far each report is once none of them is behind; none of them before any epoch."""
        if not (head and shapes):
            return {}
        current = self._current(shapes, head)
        behind = [one.name for one in shapes if one.name not in current]
        if not behind:
            return current
        self.progress(f"{', '.join(behind)}: bringing the report up to date, which has a door")
        maintain_queries(self.project, self.run_id, self.progress, only=behind)
        return self._current(shapes, head)

    def _current(self, shapes: Sequence[Definition], head: int) -> Mapping[str, Watermark]:
        completion, current = Completion.read(self.project.lake), dict[str, Watermark]()
        for one in shapes:
            stored = completion.maintained(one.name)
            if stored is None or stored.epoch < head:
                continue
            if stored.metadata.fingerprint == one.fingerprint:
                current[one.name] = stored
        return current

    def _results(
        self,
        engine: Engine,
        definition: Definition,
        pending: GraphEpochs,
        stored: Watermark | None,
        head: int,
    ) -> Iterator[tuple[int, str]]:
        """By epoch, the results of a report that would open, in words."""
        door = definition.door
        assert door is not None, "it has one"
        with engine.scope() as own:
            for table in (QUADS, TRIPLES):
                own.open(table, table)
            until = max(pending.numbers.values())
            epochs = EpochRange(head, until, from_nothing=head == 0)
            rows = self._new_rows(own, definition, pending, epochs)
            if rows is None:
                return
            if stored is not None and (few := own.fetch_few(rows)) is not None:
                early = EarlyRows(definition.fingerprint, stored.version, head, until, few)
                self._early[definition.name] = early
            cells = dict(definition.columns)
            key = ("epoch", *cells.values())
            of_severity = [
                column("node").eq(text(ANSWER)),
                one_of(column(cells["severity"]), door.severities),
            ]
            weighed: exp.Query = select(
                *columns((*key, "weight")), from_=rows_of(rows), where=of_severity
            )
            if epochs.from_nothing:
                # Of a node that is named, there may be results without any data.
                nothing = self._new_rows(own, definition, None, epochs)
                assert nothing is not None, "it is computed from nothing"
                before = alias(exp.Neg(this=column("weight")), "weight")
                held = select(*columns(key), before, from_=rows_of(nothing), where=of_severity)
                weighed = union_all([weighed, held])
            opened = select(
                *columns(key),
                from_=subquery(weighed, "weighed"),
                group_by=columns(key),
                having=sum_of(column("weight")) > number(0),
            )
            own.make(Statement(f"{rows}_opened", opened, "cache"))
            totals = select(
                column("epoch"),
                exp.Count(this=exp.Star()),
                from_=rows_of(f"{rows}_opened"),
                group_by=[column("epoch")],
                order_by=[ascending(column("epoch"))],
            )
            for epoch, total in own.rows(totals):
                shown = select(
                    *columns(cells[name] for name in ("focus_node", "result_path", "message")),
                    from_=rows_of(f"{rows}_opened"),
                    where=[column("epoch").eq(number(int(str(epoch))))],
                    order_by=[ascending(name) for name in columns(cells.values())],
                    limit=_SHOWN,
                )
                results = [_shown(*map(str, filter(None, row))) for row in own.rows(shown)]
                more = int(str(total)) - len(results)
                named = ", ".join([*results, *([f"{more} more"] if more else [])])
                opens = counted(int(str(total)), "result")
                yield int(str(epoch)), f"opens {opens} of {definition.name}: {named}"

    def _new_rows(
        self,
        engine: Engine,
        definition: Definition,
        pending: GraphEpochs | None,
        epochs: EpochRange,
    ) -> str | None:
        """The relation of the rows that maintain would store; None if no pattern is touched.

        Without `pending` changes, of a graph without a triple.
        """
        body, prefix = definition.body, f"door{next(self._unique)}"
        if pending is None:
            logs = {
                name: self._empty(engine, name, f"{prefix}_{name}") for name in (QUADS, TRIPLES)
            }
        else:
            logs = {QUADS: pending.log, TRIPLES: f"{prefix}_triples"}
            triples = netting.net_triples(pending.log, pending.present)
            engine.make(Statement(logs[TRIPLES], triples, "cache"))
        graph, touched = dict[Scope, str](), set[Seed]()
        scopes = by_scope(body.components)
        changes = {scope: f"{prefix}_changes{i}" for i, scope in enumerate(scopes)}
        for scope, parts in scopes.items():
            own = {table: logs[table] for table in stored_logs(scope)}
            rows = scope_log(scope, epochs.last, None, own)
            engine.make(Statement(changes[scope], rows, "cache"))
            touched |= touched_seeds(engine, changes[scope], seeds(parts), f"{changes[scope]}_s")
        if not (touched or epochs.from_nothing):
            return None
        for i, (scope, parts) in enumerate(scopes.items()):
            read = read_neighbourhood(
                engine,
                parts,
                body.lookups,
                changes[scope],
                scope,
                epochs,
                _LOOKED_UP,
                f"{prefix}_{i}",
                frozenset(touched),
            )
            graph[scope] = read.relation
        stored = f"{prefix}_stored"
        if not epochs.from_nothing and body.reads_stored:
            engine.open(stored, EMBEDDINGS.name(definition.name))
        inputs = EpochInputs(engine, epochs, graph, stored, prefix, "cache", frozenset(touched))
        delta = body.delta(inputs)
        # It is read more than once.
        for statement in (*delta.statements, replace(delta.result, keep="cache")):
            make(engine, statement)
        return delta.result.name

    @staticmethod
    def _empty(engine: Engine, table: str, name: str) -> str:
        """The relation of no rows of a log."""
        engine.make(Statement(name, select("*", from_=rows_of(table), where=[exp.false()])))
        return name


def _guarded_epochs(report: Definition, sources: Mapping[int, str]) -> list[int]:
    """The epochs of sources that a door names, of those by epoch."""
    door = report.door
    assert door is not None, "it has one"
    return [
        epoch for epoch, source in sources.items() if door.sources is None or source in door.sources
    ]


def _shown(*terms: str) -> str:
    """A result in words: its nodes as they are, its message as text."""
    parsed = [parse_term(term) for term in terms]
    return " ".join(term.lexical if isinstance(term, Literal) else to_text(term) for term in parsed)


def mistakes_of_doors(
    shapes: Iterable[Definition], sources: Sequence[str]
) -> Iterator[ConfigurationError]:
    """The names in doors that no source has: such a door would let everything pass."""
    for report in shapes:
        door = report.door
        for name in () if door is None else door.sources or ():
            if name not in sources:
                assert door is not None
                what = f"door: there is no source {name}"
                hint = f"{meant(name, sources)}There are: {enumerated(sources)}."
                yield ConfigurationError(what, door.place, hint)


def guarded(
    ingest: Callable[..., IngestResult],
    project: Project,
    run_id: str,
    progress: Progress = silent,
    **options: Any,
) -> IngestResult:
    """Ingest with the doors of a project.

    Args:
        ingest: `ingest_changes` or `ingest_or_fail`.
        project: whose sources are read.
        run_id: of the run.
        progress: receives a line per step.
        options: further ones of `ingest`.
    """
    project.early_rows.clear()
    door = Door.of(project, run_id, progress)
    return ingest(project, run_id, progress, examiner=door, **options)
