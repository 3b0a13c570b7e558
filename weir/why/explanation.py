"""Which changes made a row of an answer appear or vanish, and one match that it came from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Self, TypeAlias

import pyarrow as pa
from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.protocol import SqlEngine
from weir.compute.relations import Statement
from weir.compute.sql import (
    alias,
    all_of,
    any_of,
    ascending,
    bigint,
    column,
    columns,
    equal,
    inner_join,
    is_null,
    number,
    rows_of,
    select,
    sum_of,
    text,
)
from weir.definitions.definition import Body, Definition
from weir.engine.fixpoint import make
from weir.engine.graph import POSITIONS
from weir.engine.read_graph import read_neighbourhood
from weir.engine.relations import EpochRange
from weir.errors import ConfigurationError, WeirError
from weir.lake.delta.change_feed import ChangeFeedGap
from weir.lake.tables import EMBEDDINGS, QUADS, TRIPLES
from weir.maintain.run import thresholds
from weir.maintain.tasks import states_until, task_at_rest
from weir.maintain.touched import by_scope, read_touched
from weir.plan.plan import ANSWER
from weir.plan.scope import Scope
from weir.progress.completion import Completion
from weir.project import Project
from weir.timeline.evaluation import EpochInputs
from weir.why.fewest import fewest
from weir.why.graph_steps import NTH, put_back, taken_back

MOST_CHANGES = 100_000
"""More changes of an epoch, of what a query reads, are not looked at."""
MOST_TRIPLES = 20_000
"""In more triples around the changes, no match is looked for."""

Triple: TypeAlias = tuple[str, str, str]
"""Subject, predicate and object, as they are stored."""
Row: TypeAlias = tuple[str | None, ...]
"""The values of the published columns, in order."""
_History: TypeAlias = Callable[[Scope, str, int, str], exp.Query]
_STEPS, STORED, STORED_BEFORE = "why_steps", "why_stored", "why_stored_before"


@dataclass(frozen=True, slots=True)
class Change:
    """A quad that an epoch asserted (weight 1) or retracted (-1)."""

    graph: str
    triple: Triple
    weight: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a row appeared or vanished.

    Attributes:
        row: its values.
        weight: by how much its multiplicity changed.
        changes: without these changes of its epoch, the row would not have changed. As a rule, none
            of them can be left out.
        match: triples of the graph at the epoch (of a row that vanished: at the one before) that
            the row needs beside what does not lie around the changes; None if there are too many to
            look through.
    """

    row: Row
    weight: int
    changes: Sequence[Change]
    match: Sequence[Triple] | None


def explanations(
    project: Project,
    definition: Definition,
    epoch: int,
    values: Mapping[str, Sequence[str]],
    most: int,
) -> Iterator[Explanation]:
    """Explain rows of the answer that changed at an epoch, in the order of their values.

    Args:
        project: whose lake is read; nothing is written.
        definition: one that reads no streams.
        epoch: whose rows.
        values: by column, the terms of which a row must have one.
        most: so many rows at most.

    Raises:
        ConfigurationError: the epoch cannot be explained.
        WeirError: it changed too much.
    """
    lake = project.open_lake()
    completion = Completion.read(lake)
    _require_known(completion, definition, epoch)
    with project.engine("why") as engine:
        for table in (QUADS, TRIPLES):
            engine.open(table.name, table.name)
        embeddings = EMBEDDINGS.name(definition.name)
        engine.open(STORED, embeddings, where=column("epoch") <= number(epoch))
        engine.open(STORED_BEFORE, embeddings, where=column("epoch") < number(epoch))
        rows = _changed_rows(engine, definition, epoch, values, most)
        if not rows:
            return
        neighbourhood = Neighbourhood.of(project, completion, engine, definition, epoch)
        for row, weight in rows:
            yield neighbourhood.explain(row, weight)


def newest_change(project: Project, definition: Definition) -> int:
    """The newest epoch that changed the answer of a definition, as it was computed.

    Raises:
        ConfigurationError: nothing was computed.
    """
    name = EMBEDDINGS.name(definition.name)
    if project.open_lake().open(name) is None:
        raise _not_computed(definition, project.lake.root)
    with project.engine("why") as engine:
        engine.open(STORED, name)
        newest = select(
            alias(exp.Max(this=column("epoch")), "epoch"),
            from_=rows_of(STORED),
            where=[column("node").eq(text(ANSWER))],
        )
        ((epoch,),) = engine.rows(newest)
    return int(str(epoch or 0))


def _not_computed(definition: Definition, root: str) -> ConfigurationError:
    return ConfigurationError(
        f"{definition.name} was not computed yet as its file has it",
        root,
        "`weir run` computes it.",
    )


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """What an epoch changed for a definition, and what the changes can join with.

    Attributes:
        engine: has the relations, and the embeddings at the epoch and before it as `STORED` and
            `STORED_BEFORE`.
        body: computes the answer.
        columns: those of the embeddings that are published.
        epoch: the epoch.
        graph: per scope, the interval relation of the changes and what they can join with.
        changed: the triples that changed.
    """

    engine: SqlEngine
    body: Body
    columns: Sequence[str]
    epoch: int
    graph: Mapping[Scope, str]
    changed: Sequence[Triple]

    @classmethod
    def of(
        cls,
        project: Project,
        completion: Completion,
        engine: Engine,
        definition: Definition,
        epoch: int,
    ) -> Self:
        task, epochs = task_at_rest(completion, definition), EpochRange(epoch - 1, epoch)
        try:
            changes = read_touched(engine, completion.lake, [task], epochs)
        except ChangeFeedGap as gap:
            raise ConfigurationError(
                f"the changes of epoch {epoch} are no longer known: {gap}",
                completion.lake.root,
                "Ask for a newer epoch; `limits.keep_epochs` says how long changes are kept.",
            ) from gap
        # The neighbourhood, however small the graph is: what lies around is looked through.
        limits = replace(thresholds(project.settings.limits, completion.quads), bulk_quads=0)
        graph = {
            scope: read_neighbourhood(
                engine,
                parts,
                changes.by_scope[scope].relation,
                scope,
                epochs,
                limits,
                f"why{i}",
                changes.touched,
            ).relation
            for i, (scope, parts) in enumerate(by_scope([task]).items())
            if scope in changes.by_scope
        }
        relations = [seen.relation for seen in changes.by_scope.values()]
        changed = triples_of(engine, relations, MOST_CHANGES)
        if changed is None:
            raise WeirError(
                f"epoch {epoch} changed more than {MOST_CHANGES:,} triples that"
                f" {definition.name} may read",
                completion.lake.root,
                "Changes of this size are not explained row by row.",
            )
        stored = [name for _, name in definition.columns]
        return cls(engine, definition.body, stored, epoch, graph, changed)

    def explain(self, row: Row, weight: int) -> Explanation:
        """Why a row changed by a weight."""
        triples = fewest(self.changed, lambda steps: self._undone(row, weight, steps))
        if triples is None:
            raise WeirError(f"no change of epoch {self.epoch} explains the row {row}")
        return Explanation(row, weight, self._changes(triples), self._match(row, weight, triples))

    def _undone(self, row: Row, weight: int, steps: Sequence[Triple]) -> int | None:
        """After how many steps, which take back changes, the row has its earlier multiplicity."""
        epochs = EpochRange(self.epoch, self.epoch + len(steps))
        by = 1 if weight > 0 else -1
        for epoch, change in self._log(taken_back, epochs, STORED, row, steps):
            if by * change <= -by * weight:
                return epoch - self.epoch
        return None

    def _match(self, row: Row, weight: int, first: Sequence[Triple]) -> Sequence[Triple] | None:
        """The fewest triples with which the row is there, where it is."""
        at, stored = (self.epoch, STORED) if weight > 0 else (self.epoch - 1, STORED_BEFORE)
        there = triples_of(self.engine, [*self.graph.values()], MOST_TRIPLES, at)
        if there is None:
            return None
        times = self._multiplicity(row, stored)
        order = {triple: None for triple in (*first, *there) if triple in {*there}}

        def needed(steps: Sequence[Triple]) -> int | None:
            gone = at + 1
            log = self._log(put_back, EpochRange(at, gone + len(steps)), stored, row, steps)
            missing = [change for epoch, change in log if epoch <= gone]
            if times + (missing[-1] if missing else 0) > 0:
                return 0
            return next((epoch - gone for epoch, change in log if times + change > 0), None)

        return fewest([*order], needed)

    def _log(
        self, history: _History, epochs: EpochRange, stored: str, row: Row, steps: Sequence[Triple]
    ) -> Sequence[tuple[int, int]]:
        """The epochs of a history at which the row changes: by how much since it begins."""
        with self.engine.scope() as engine:
            engine.load(_STEPS, _numbered(steps))
            graph = {}
            for i, (scope, relation) in enumerate(self.graph.items()):
                graph[scope] = f"why_history{i}"
                select_ = history(scope, relation, epochs.after, _STEPS)
                engine.make(Statement(graph[scope], select_, "small"))
            inputs = EpochInputs(engine, epochs, graph, stored, "why_q")
            delta = self.body.delta(inputs)
            for statement in (*delta.statements, delta.result):
                make(engine, statement)
            log = select(
                column("epoch"),
                alias(bigint(sum_of(column("weight"))), "weight"),
                from_=rows_of(delta.result.name),
                where=[*_is_row(self.columns, row)],
                group_by=[column("epoch")],
            ).order_by(ascending(column("epoch")))
            rows = [(int(str(at)), int(str(weight))) for at, weight in engine.rows(log)]
        totals = accumulate(weight for _, weight in rows)
        return [(at, total) for (at, _), total in zip(rows, totals, strict=True)]

    def _multiplicity(self, row: Row, stored: str) -> int:
        total = select(
            alias(bigint(sum_of(column("weight"))), "weight"),
            from_=rows_of(stored),
            where=[*_is_row(self.columns, row)],
        )
        ((weight,),) = self.engine.rows(total)
        return int(str(weight or 0))

    def _changes(self, triples: Sequence[Triple]) -> Sequence[Change]:
        """The quads of the epoch that have one of some triples."""
        with self.engine.scope() as engine:
            engine.load(_STEPS, _numbered(triples))
            at = all_of(
                [
                    column("epoch", "q") > number(self.epoch - 1),
                    column("epoch", "q") <= number(self.epoch),
                ]
            )
            quads = select(
                *columns(("graph", *POSITIONS, "weight"), "q"),
                from_=rows_of(QUADS.name, "q"),
                joins=[inner_join(rows_of(_STEPS, "s"), *equal(POSITIONS, "q", "s"))],
                where=[at],
            ).order_by(*columns((*POSITIONS, "graph"), "q"))
            return [
                Change(str(graph), (str(s), str(p), str(o)), int(str(weight)))
                for graph, s, p, o, weight in engine.rows(quads)
            ]


def _changed_rows(
    engine: Engine,
    definition: Definition,
    epoch: int,
    values: Mapping[str, Sequence[str]],
    most: int,
) -> Sequence[tuple[Row, int]]:
    """The rows of an answer that changed at an epoch, with their weights."""
    stored = [name for _, name in definition.columns]
    columns_of = dict(definition.columns)
    weight = sum_of(column("weight"))
    rows = (
        select(
            *columns(stored),
            alias(bigint(weight), "weight"),
            from_=rows_of(STORED),
            where=[
                column("node").eq(text(ANSWER)),
                column("epoch").eq(number(epoch)),
                *(_is_one_of(columns_of[name], terms) for name, terms in values.items()),
            ],
            group_by=columns(stored),
            having=weight.neq(number(0)),
        )
        .order_by(*columns(stored))
        .limit(most)
    )
    return [
        (tuple(None if cell is None else str(cell) for cell in cells), int(str(weight)))
        for *cells, weight in engine.rows(rows)
    ]


def _is_one_of(name: str, terms: Sequence[str]) -> exp.Expr:
    """Whether a column has one of some terms; a text is that of a literal of any type, too."""
    cell = column(name)
    return any_of(
        [
            condition
            for term in terms
            for condition in (
                cell.eq(text(term)),
                exp.StartsWith(this=cell.copy(), expression=text(f"{term}^^")),
                exp.StartsWith(this=cell.copy(), expression=text(f"{term}@")),
            )
        ]
    )


def _is_row(names: Sequence[str], row: Row) -> Iterator[exp.Expr]:
    """Whether a stored row is a row of the answer."""
    yield column("node").eq(text(ANSWER))
    for name, value in zip(names, row, strict=True):
        yield is_null(column(name)) if value is None else column(name).eq(text(value))


def triples_of(
    engine: SqlEngine, relations: Iterable[str], most: int, at: int | None = None
) -> Sequence[Triple] | None:
    """The triples of some relations, each once (at an epoch); None if they are more than `most`."""
    rows: dict[Triple, None] = {}
    for relation in relations:
        is_there = (
            [] if at is None else [column("since") <= number(at), column("until") > number(at)]
        )
        triples = select(
            *columns(POSITIONS), from_=rows_of(relation), where=is_there, distinct=True
        )
        ordered = triples.order_by(*columns(POSITIONS)).limit(most + 1)
        rows |= {(str(s), str(p), str(o)): None for s, p, o in engine.rows(ordered)}
        if len(rows) > most:
            return None
    return [*rows]


def _numbered(steps: Sequence[Triple]) -> pa.Table:
    """A relation of steps: subject, predicate, object, nth."""
    cells = [pa.array([step[i] for step in steps], pa.string()) for i in range(len(POSITIONS))]
    return pa.table([*cells, pa.array(range(1, len(steps) + 1), pa.int64())], [*POSITIONS, NTH])


def _require_known(completion: Completion, definition: Definition, epoch: int) -> None:
    """Raise an error if the rows of an epoch cannot be explained."""
    name, where = definition.name, completion.lake.root
    if not definition.axis.has_states:
        raise ConfigurationError(
            f"{name} reads streams",
            str(definition.file),
            "Only answers over the graph are explained.",
        )
    stored = completion.maintained(name)
    if stored is None or stored.metadata.fingerprint != definition.fingerprint:
        raise _not_computed(definition, where)
    if epoch > stored.epoch:
        raise ConfigurationError(
            f"{name} is computed up to epoch {stored.epoch}", where, "`weir run` computes the rest."
        )
    if epoch <= stored.metadata.base:
        raise ConfigurationError(
            f"the answer of {name} was computed as a whole at epoch {stored.metadata.base}",
            where,
            "Later epochs can be explained.",
        )
    if epoch <= states_until(completion):
        raise ConfigurationError(
            f"the changes up to epoch {states_until(completion)} were compacted away",
            where,
            "Later epochs can be explained.",
        )
