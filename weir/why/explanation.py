"""Which changes made rows of an answer appear or vanish, and one match that each came from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import inf
from typing import Self, TypeAlias

import pyarrow as pa
from sqlglot import exp

from weir.compute.budget import Budget
from weir.compute.engine import Engine
from weir.compute.protocol import SqlEngine
from weir.compute.relations import Keep, Statement
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
    one_of,
    rows_of,
    select,
    subquery,
    sum_of,
    text,
)
from weir.definitions.definition import Body, Definition
from weir.engine.fixpoint import make
from weir.engine.graph import (
    POSITIONS,
    graphs_of,
    is_unreserved,
    scope_log,
    shown_columns,
    stored_log,
)
from weir.engine.read_graph import changes_relation, read_neighbourhood
from weir.engine.relations import EpochRange
from weir.errors import ConfigurationError, WeirError
from weir.lake.tables import EMBEDDINGS, QUADS, TRIPLES
from weir.maintain.run import thresholds
from weir.maintain.tasks import states_until
from weir.plan.lookups import by_scope, predicates
from weir.plan.plan import ANSWER
from weir.plan.scope import Scope
from weir.progress.completion import Completion
from weir.progress.watermarks import Watermark
from weir.project import Project
from weir.timeline.evaluation import EpochInputs
from weir.why.fewest import Needed, fewest
from weir.why.graph_steps import NTH, put_back, taken_back

MOST_CHANGES = 100_000
"""More changes of an epoch, of what a query reads, are not looked at."""
MOST_TRIPLES = 20_000
"""In more triples around the changes, no match is looked for."""
MOST_NAMED = 20
"""Of a row, no more changes are named, and no more triples of a match: each takes an evaluation."""

Triple: TypeAlias = tuple[str, str, str]
"""Subject, predicate and object, as they are stored."""
Row: TypeAlias = tuple[str | None, ...]
"""The values of the published columns, in order."""
_History: TypeAlias = Callable[[Scope, str, int, str], exp.Query]
_STEPS, STORED, STORED_BEFORE = "why_steps", "why_stored", "why_stored_before"


@dataclass(frozen=True, slots=True)
class Value:
    """What a cell may be.

    Attributes:
        terms: exact terms.
        lexical: a plain literal; literals of any type or language with its text are meant, too.
    """

    terms: Sequence[str]
    lexical: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A quad that an epoch asserted (weight 1) or retracted (-1)."""

    graph: str
    triple: Triple
    weight: int


@dataclass(frozen=True, slots=True)
class Match:
    """Triples of the graph that a row needs, where it is: at the epoch, or before it vanished.

    Attributes:
        triples: no more than `MOST_NAMED`.
        is_all: whether there are no more.
        is_beside_stored: whether the query stores rows of its parts; the triples that these came
            from are not among `triples`.
    """

    triples: Sequence[Triple]
    is_all: bool
    is_beside_stored: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a row appeared or vanished.

    Attributes:
        row: its values.
        weight: by how much its multiplicity changed.
        changes: without these changes, a row that appeared would have no more copies than before
            the epoch, and one that vanished no fewer. As a rule, none of them can be left out. None
            at all if the row needs no triple.
        is_all: whether that are all such changes; else there are more than `MOST_NAMED`.
        match: what the row came from; None if there are too many triples to look through.
    """

    row: Row
    weight: int
    changes: Sequence[Change]
    is_all: bool
    match: Match | None


@dataclass(frozen=True, slots=True)
class ExplainedEpoch:
    """Rows of an answer that changed at an epoch.

    Attributes:
        epoch: the epoch.
        rows: why they did.
        is_more: whether there are other such rows.
        is_published: whether the published answer has this epoch.
    """

    epoch: int
    rows: Sequence[Explanation]
    is_more: bool
    is_published: bool


def explain_epoch(
    project: Project,
    definition: Definition,
    epoch: int | None,
    values: Mapping[str, Sequence[Value]],
    most: int,
) -> ExplainedEpoch:
    """Explain rows of the answer that changed at an epoch, in the order of their values.

    Args:
        project: whose lake is read; nothing is written.
        definition: one that reads no streams.
        epoch: whose rows; None for the newest that changed the answer.
        values: by column, of which a row must have one.
        most: so many rows at most.

    Raises:
        ConfigurationError: the epoch cannot be explained.
        QueryLimitError: it takes longer than a query may take.
        WeirError: the epoch changed too much.
    """
    completion = Completion.read(project.open_lake())
    stored = _stored(completion, definition)
    base = stored.metadata.base
    embeddings = EMBEDDINGS.name(definition.name)
    with project.engine("why") as unbounded:
        engine = unbounded.within(Budget(project.settings.limits.query_seconds))
        if epoch is None:
            engine.open("why_all", embeddings)
            epoch = _newest_change(engine, "why_all", base)
            if epoch is None:
                raise ConfigurationError(
                    f"no epoch has changed the answer of {definition.name} since it was computed as"
                    f" a whole at epoch {base}",
                    completion.lake.root,
                    "What changes it from now on can be explained.",
                )
        _require_known(completion, definition.name, epoch, stored)
        for table in (QUADS, TRIPLES):
            engine.open(table.name, table.name)
        engine.open(STORED, embeddings, where=column("epoch") <= number(epoch))
        engine.open(STORED_BEFORE, embeddings, where=column("epoch") < number(epoch))
        rows = _changed_rows(engine, definition, epoch, values, most + 1)
        explanations = []
        if rows:
            neighbourhood = Neighbourhood.of(project, completion, engine, definition, epoch)
            explanations = [neighbourhood.explain(row, weight) for row, weight in rows[:most]]
    published = completion.published(definition.name)
    is_published = published is not None and published.epoch >= epoch
    return ExplainedEpoch(epoch, explanations, len(rows) > most, is_published)


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """What an epoch changed for a definition, and what the changes can join with.

    Attributes:
        engine: has the relations, the quads of the epoch (`newest`), and the embeddings at the
            epoch and before it as `STORED` and `STORED_BEFORE`.
        body: computes the answer.
        columns: those of the embeddings that are published.
        epoch: the epoch.
        graph: per scope, the interval relation of the changes and what they can join with.
        changed: the triples that changed.
        keep: how relations as large as those of the graph are stored.
    """

    engine: SqlEngine
    body: Body
    columns: Sequence[str]
    epoch: int
    graph: Mapping[Scope, str]
    changed: Sequence[Triple]
    keep: Keep = "small"

    @classmethod
    def of(
        cls,
        project: Project,
        completion: Completion,
        engine: Engine,
        definition: Definition,
        epoch: int,
    ) -> Self:
        """Read it from the lake.

        Raises:
            WeirError: the epoch has more than `MOST_CHANGES` changes.
        """
        epochs = EpochRange(epoch - 1, epoch)
        at = all_of([column("epoch") > number(epoch - 1), column("epoch") <= number(epoch)])
        for table in (QUADS, TRIPLES):
            engine.open(newest(table.name), table.name, where=at)
        components = by_scope(definition.body.components)
        changes = {scope: f"why_changes{i}" for i, scope in enumerate(components)}
        for scope, parts in components.items():
            _make_changes(engine, changes[scope], scope, epochs, predicates(parts))
        if sum(map(engine.count, changes.values())) > MOST_CHANGES:
            raise WeirError(
                f"epoch {epoch} has more than {MOST_CHANGES:,} changes that {definition.name} may"
                " read",
                completion.lake.root,
                f"Its rows are not explained one by one; `weir log {definition.name}` has them.",
            )
        limits = replace(
            thresholds(project.settings.limits, completion.quads), bulk_quads=0, bulk_share=inf
        )
        graph: dict[Scope, str] = {}
        keep: Keep = "small"
        for i, (scope, parts) in enumerate(components.items()):
            read = read_neighbourhood(
                engine, parts, changes[scope], scope, epochs, limits, f"why{i}"
            )
            graph[scope] = read.relation
            keep = "cache" if read.keep == "cache" else keep
        changed = triples_of(engine, changes.values(), MOST_CHANGES)
        assert changed is not None, "they were counted"
        stored = [name for _, name in definition.columns]
        return cls(engine, definition.body, stored, epoch, graph, changed, keep)

    def explain(self, row: Row, weight: int) -> Explanation:
        """Why a row changed by a weight."""
        needed = self._needed_changes(row, weight)
        changes = self._quads(needed.steps) if needed.steps else ()
        match = self._match(row, weight, needed.steps)
        return Explanation(row, weight, changes, needed.is_all, match)

    def _needed_changes(self, row: Row, weight: int) -> Needed[Triple]:
        """The changes without which a row would not have changed; none if it needs no triple."""
        by = 1 if weight > 0 else -1

        def undone(steps: Sequence[Triple]) -> int | None:
            epochs = EpochRange(self.epoch, self.epoch + len(steps))
            log = self._log(taken_back, epochs, STORED, row, steps)
            return next(
                (at - self.epoch for at, by_now in log if by * by_now <= -by * weight), None
            )

        needed = fewest(self.changed, undone, MOST_NAMED) if self.changed else None
        return needed or Needed((), is_all=True)

    def _match(self, row: Row, weight: int, first: Sequence[Triple]) -> Match | None:
        """The fewest triples of the neighbourhood with which there is one copy of the row more."""
        at, stored = (self.epoch, STORED) if weight > 0 else (self.epoch - 1, STORED_BEFORE)
        there = triples_of(self.engine, self.graph.values(), MOST_TRIPLES, at)
        if there is None:
            return None
        known, gone = frozenset(there), at + 1
        order = dict.fromkeys([*(triple for triple in first if triple in known), *there])

        def needed(steps: Sequence[Triple]) -> int | None:
            log = self._log(put_back, EpochRange(at, gone + len(steps)), stored, row, steps)
            lost = next((by_now for epoch, by_now in log if epoch == gone), 0)
            if not lost:
                return 0
            return next((epoch - gone for epoch, by_now in log if by_now > lost), None)

        triples = fewest([*order], needed, MOST_NAMED)
        if triples is None:
            return None
        return Match(triples.steps, triples.is_all, self.body.reads_stored)

    def _log(
        self, history: _History, epochs: EpochRange, stored: str, row: Row, steps: Sequence[Triple]
    ) -> Sequence[tuple[int, int]]:
        """The epochs of a history at which the row changes: by how much since it begins."""
        with self.engine.scope() as engine:
            engine.load(_STEPS, _numbered(steps))
            graph = {}
            for i, (scope, relation) in enumerate(self.graph.items()):
                graph[scope] = f"why_history{i}"
                spans = history(scope, relation, epochs.after, _STEPS)
                engine.make(Statement(graph[scope], spans, self.keep))
            inputs = EpochInputs(engine, epochs, graph, stored, "why_q", self.keep)
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

    def _quads(self, triples: Sequence[Triple]) -> Sequence[Change]:
        """The changes of the epoch that have one of some triples, in graphs that are read."""
        changes: set[Change] = set()
        with self.engine.scope() as engine:
            engine.load(_STEPS, _numbered(triples))
            for scope in self.graph:
                graph = shown_columns(scope)[0] if scope.each else column("graph")
                quads = select(
                    alias(graph.unalias(), "graph"),
                    *columns((*POSITIONS, "weight")),
                    from_=rows_of(newest(QUADS.name)),
                    where=[is_unreserved() if scope.is_union else graphs_of(scope)],
                )
                named = select(
                    *columns(("graph", *POSITIONS, "weight"), "q"),
                    from_=subquery(quads, "q"),
                    joins=[inner_join(rows_of(_STEPS, "s"), *equal(POSITIONS, "q", "s"))],
                )
                changes |= {
                    Change(str(name), (str(s), str(p), str(o)), int(str(weight)))
                    for name, s, p, o, weight in engine.rows(named)
                }
        return sorted(changes, key=lambda change: (change.triple, change.graph, change.weight))


def newest(table: str) -> str:
    """The name of the relation of an epoch's rows of a log."""
    return f"why_{table}"


def _make_changes(
    engine: Engine, name: str, scope: Scope, epochs: EpochRange, known: frozenset[str] | None
) -> None:
    """Make the relation of the log rows of a scope within an epoch."""
    if scope.is_merge:
        changes_relation(engine, scope, epochs, name, known)
        return
    log = scope_log(scope, epochs.last, known, newest(stored_log(scope)))
    engine.make(Statement(name, log, "small"))


def _newest_change(engine: Engine, embeddings: str, base: int) -> int | None:
    """The newest epoch after `base` that changed the answer; None if there is none."""
    newest = select(
        alias(exp.Max(this=column("epoch")), "epoch"),
        from_=rows_of(embeddings),
        where=[column("node").eq(text(ANSWER)), column("epoch") > number(base)],
    )
    ((epoch,),) = engine.rows(newest)
    return None if epoch is None else int(str(epoch))


def _changed_rows(
    engine: Engine,
    definition: Definition,
    epoch: int,
    values: Mapping[str, Sequence[Value]],
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
                *(_is_one_of(columns_of[name], wanted) for name, wanted in values.items()),
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


def _is_one_of(name: str, values: Sequence[Value]) -> exp.Expr:
    """Whether a column has one of some values."""
    cell = column(name)
    conditions = [one_of(cell, [term for value in values for term in value.terms])]
    for value in values:
        for suffix in () if value.lexical is None else ("^^", "@"):
            begin = text(f"{value.lexical}{suffix}")
            conditions.append(exp.StartsWith(this=cell.copy(), expression=begin))
    return any_of(conditions)


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


def _stored(completion: Completion, definition: Definition) -> Watermark:
    """How far the stored rows of a definition are complete.

    Raises:
        ConfigurationError: its rows cannot be explained.
    """
    name = definition.name
    if not definition.axis.has_states:
        raise ConfigurationError(
            f"{name} reads streams",
            str(definition.file),
            "Only answers over the graph are explained.",
        )
    stored = completion.maintained(name)
    if stored is None or stored.metadata.fingerprint != definition.fingerprint:
        raise ConfigurationError(
            f"{name} was not computed yet as its file has it",
            completion.lake.root,
            "`weir run` computes it.",
        )
    return stored


def _require_known(completion: Completion, name: str, epoch: int, stored: Watermark) -> None:
    """Raise an error if the rows of an epoch cannot be explained."""
    where, base = completion.lake.root, stored.metadata.base
    if epoch > stored.epoch:
        raise ConfigurationError(
            f"{name} is computed up to epoch {stored.epoch}", where, "`weir run` computes the rest."
        )
    if epoch <= base:
        raise ConfigurationError(
            f"the answer of {name} was computed as a whole at epoch {base}",
            where,
            f"Epochs after {base} can be explained.",
        )
    until = states_until(completion)
    if epoch <= until:
        raise ConfigurationError(
            f"the changes up to epoch {until} were compacted away",
            where,
            f"Epochs after {until} can be explained; `limits.keep_epochs` says how many are kept.",
        )
