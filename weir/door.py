"""The door: which results of shapes the change sets of a batch would open, before it is committed.

A shapes graph with the key `door` has its report computed for the rows that ingest is about to
write, by a dry run of maintain: the derived graphs that it reads, and the report, from the stored
rows at the newest epoch. Nothing of it is stored; a maintain of the same process commits the rows
if these change sets are what ingest committed. A change set at whose epoch a result opens stops its
source. So does one that a report cannot be computed of: nothing passes a door unseen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

from sqlglot import exp

from weir.compute.early_rows import EarlyRows
from weir.compute.engine import Engine
from weir.compute.lost_rows import LostRowsError
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
from weir.engine.graph import QUADS, TRIPLES
from weir.errors import BusyError, ConfigurationError, WeirError
from weir.ingest.graph_target import GraphEpochs
from weir.ingest.sources.all_sources import all_sources
from weir.ingest.stage import IngestResult
from weir.lake.counted import counted
from weir.maintain.dry_run import DryRun
from weir.maintain.stage import maintain_queries
from weir.maintain.tasks import Task
from weir.maintain.unfinished import is_unfinished
from weir.plan.plan import ANSWER
from weir.progress.completion import Completion
from weir.progress.watermarks import IngestedEpoch
from weir.project import Project
from weir.rdf.terms import Literal, parse_term, to_text
from weir.stage import Progress, silent
from weir.text.near import enumerated, meant

_OF_THE_RUN = (BusyError, LostRowsError, ConfigurationError)
"""Errors of which no report is the cause: they end the run."""
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
    _early: dict[str, EarlyRows] = field(default_factory=dict)

    @classmethod
    def of(cls, project: Project, run_id: str, progress: Progress) -> Door | None:
        """The doors of a project; None if it has none.

        Raises:
            ConfigurationError: a door names a source that there is not, or its file has an error.
        """
        catalog = Catalog.of(project.settings)
        for unusable in catalog.unusable(SHAPES):
            if unusable.has_door:
                # It would let everything pass.
                raise unusable.error
        shapes = [report for report in catalog.of_kind(SHAPES) if report.door is not None]
        for mistake in mistakes_of_doors(shapes, [s.name for s in all_sources(project.settings)]):
            raise mistake
        return cls(project, run_id, progress, shapes) if shapes else None

    def refusals(
        self, engine: Engine, epochs: GraphEpochs, head: int, sources: Mapping[int, str]
    ) -> Mapping[int, str]:
        """What the change sets of a batch would open, by epoch; nothing of those that open nothing.

        A report that cannot be brought up to date, or whose new rows cannot be computed, refuses
        all change sets that it guards; those of other sources go on.

        Args:
            engine: knows the relations of the epochs.
            epochs: what the change sets become.
            head: the newest epoch of the lake.
            sources: by epoch, the source of its change set.

        Raises:
            BusyError: a report is behind, and another run maintains.
            LostRowsError: rows were lost on the way; the run is to be repeated.
        """
        self._early = {}
        guarded = {one.name: _guarded_epochs(one, sources) for one in self.shapes}
        asked = [one for one in self.shapes if guarded[one.name]]
        if not asked:
            return {}
        reasons: dict[int, list[str]] = {}
        for name, opened in self._reasons(engine, asked, epochs, head).items():
            for epoch, reason in opened:
                if epoch in guarded[name]:
                    reasons.setdefault(epoch, []).append(reason)
        return {epoch: "; ".join(of_epoch) for epoch, of_epoch in reasons.items()}

    def taken(self) -> None:
        """What was computed of the change sets need not be computed again by this process."""
        self.project.early_rows |= self._early

    def _reasons(
        self, engine: Engine, reports: Sequence[Definition], epochs: GraphEpochs, head: int
    ) -> Mapping[str, Sequence[tuple[int, str]]]:
        """By report, why an epoch is refused: what would open, or that it cannot be computed."""
        try:
            with engine.scope() as own:
                answers = self._answers(own, reports, epochs, head)
                return {one.name: [*_opened(own, one, answers[one.name])] for one in reports}
        except _OF_THE_RUN:
            raise
        except WeirError as error:
            if len(reports) > 1:
                alone = (self._reasons(engine, [one], epochs, head) for one in reports)
                return dict(chain.from_iterable(opened.items() for opened in alone))
            (one,) = reports
            self.progress(f"{one.name}: {error}")
            reason = f"cannot be checked by {one.name}: {error.what}"
            return {one.name: [(epoch, reason) for epoch in epochs.numbers.values()]}

    def _answers(
        self, engine: Engine, reports: Sequence[Definition], epochs: GraphEpochs, head: int
    ) -> Mapping[str, list[str]]:
        """By report, the relations of what its answer would have more: columns, epoch, weight.

        Of a first epoch the second one takes away what holds without any data, as of a node that is
        named: no change set opens that.
        """
        definitions = _with_givers(reports)
        dry = DryRun.of(self.project, self._brought_up_to_date(definitions), _as_ingested(epochs))
        answers: dict[str, list[str]] = {one.name: [] for one in reports}

        def receive(sign: int, task: Task, own: Engine, rows: str) -> None:
            if task.stored is not None and (few := own.fetch_few(rows)) is not None:
                known = (task.definition.fingerprint, task.stored.version, head, dry.run.last)
                self._early[task.name] = EarlyRows(*known, few)
            if task.name in answers:
                guarded = f"door_of_{task.name}_{len(answers[task.name])}"
                engine.make(Statement(guarded, _guarded(task.definition, rows, sign), "cache"))
                answers[task.name].append(guarded)

        triples = "pending_triples"
        engine.make(Statement(triples, select("*", from_=rows_of(epochs.triples)), "cache"))
        pending = {QUADS: epochs.log, TRIPLES: triples}
        dry.new_rows(engine, definitions, pending, partial(receive, 1))
        if not head:
            nothing = {table: f"nothing_of_{table}" for table in pending}
            for table, name in nothing.items():
                none = select("*", from_=rows_of(pending[table]), where=[exp.false()])
                engine.make(Statement(name, none, "cache"))
            dry.new_rows(engine, definitions, nothing, partial(receive, -1))
        return answers

    def _brought_up_to_date(self, definitions: Sequence[Definition]) -> Completion:
        """The completion of the lake once no definition is behind.

        Raises:
            WeirError: one stays behind.
        """
        completion = Completion.read(self.project.lake)
        behind = _unfinished(completion, definitions)
        if not behind:
            return completion
        # What reads one of them may be behind once that is not.
        names = [one.name for one in definitions]
        self.progress(f"{', '.join(behind)}: bringing up to date what a door reads")
        failed: WeirError | None = None
        try:
            maintain_queries(self.project, self.run_id, self.progress, only=names)
        except _OF_THE_RUN:
            raise
        except WeirError as error:
            # It may be about other queries, as about files with errors.
            failed = error
        completion = Completion.read(self.project.lake)
        left = _unfinished(completion, definitions)
        if left:
            what = f"{enumerated(left)} cannot be brought up to date"
            parts = () if failed is None else failed.parts
            raise WeirError(what, "", "Correct it and run again.", parts=parts) from failed
        return completion


def _unfinished(completion: Completion, definitions: Sequence[Definition]) -> list[str]:
    """The names of those of which maintain has something to do."""
    return [one.name for one in definitions if is_unfinished(completion, one)]


def _with_givers(reports: Sequence[Definition]) -> Sequence[Definition]:
    """Reports, and all whose graphs they read, also by others."""
    whole: dict[str, Definition] = {}
    left = [*reports]
    while left:
        one = left.pop()
        whole[one.name] = one
        left += one.derived
    return [*whole.values()]


def _as_ingested(epochs: GraphEpochs) -> Sequence[IngestedEpoch]:
    """Epochs of a batch, in order, for what reads changes; they are in no version of a table."""
    numbers = sorted(epochs.numbers.values())
    return [
        IngestedEpoch(number_, 0, 0, *epochs.counts.get(number_, (0, 0))) for number_ in numbers
    ]


def _guarded(report: Definition, rows: str, sign: int) -> exp.Select:
    """What a door guards of the new rows of its report: the columns, epoch, weight times a sign."""
    door, cells = report.door, dict(report.columns)
    assert door is not None, "it has one"
    weight = alias(column("weight") if sign > 0 else exp.Neg(this=column("weight")), "weight")
    return select(
        *columns((*cells.values(), "epoch")),
        weight,
        from_=rows_of(rows),
        where=[
            column("node").eq(text(ANSWER)),
            one_of(column(cells["severity"]), door.severities),
        ],
    )


def _opened(
    engine: Engine, report: Definition, relations: Sequence[str]
) -> Iterator[tuple[int, str]]:
    """By epoch, the results of a report that would open, in words.

    Args:
        engine: knows the relations.
        report: whose results.
        relations: of what it would have more.
    """
    if not relations:
        return
    cells = dict(report.columns)
    key, opened = ("epoch", *cells.values()), f"door_of_{report.name}_opened"
    weighed = [select(*columns((*key, "weight")), from_=rows_of(one)) for one in relations]
    at_once = select(
        *columns(key),
        from_=subquery(union_all(weighed), "weighed"),
        group_by=columns(key),
        having=sum_of(column("weight")) > number(0),
    )
    engine.make(Statement(opened, at_once, "cache"))
    totals = select(
        column("epoch"),
        exp.Count(this=exp.Star()),
        from_=rows_of(opened),
        group_by=[column("epoch")],
        order_by=[ascending(column("epoch"))],
    )
    for epoch, total in engine.rows(totals):
        shown = select(
            *columns(cells[name] for name in ("focus_node", "result_path", "message")),
            from_=rows_of(opened),
            where=[column("epoch").eq(number(int(str(epoch))))],
            order_by=[ascending(name) for name in columns(cells.values())],
            limit=_SHOWN,
        )
        results = [_shown(*map(str, filter(None, row))) for row in engine.rows(shown)]
        more = int(str(total)) - len(results)
        named = ", ".join([*results, *([f"{more} more"] if more else [])])
        opens = counted(int(str(total)), "result")
        yield int(str(epoch)), f"opens {opens} of {report.name}: {named}"


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
