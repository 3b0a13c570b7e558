"""Published answers as graphs: the triples of a CONSTRUCT at an epoch, and their changes; the
report of shapes at an epoch.

A triple is in the graph while its weights sum to more than 0. So it also is if an earlier text of
the query was no CONSTRUCT, and had a row several times; its rows that are no triples are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

import pyarrow as pa
from sqlglot import exp

from weir.answers.logs import AnswerLog, existing_log, require_published
from weir.answers.moments import require_published_to
from weir.compute.connection import connect
from weir.compute.sql import (
    alias,
    any_of,
    ascending,
    bigint,
    case,
    column,
    columns,
    concatenated,
    equal,
    is_not_null,
    number,
    over,
    rows_of,
    select,
    semi_join,
    subquery,
    sum_of,
    text,
    union_all,
)
from weir.definitions.catalog import Catalog
from weir.definitions.kinds import PROGRAM
from weir.definitions.names import folders_of, is_declared
from weir.engine.terms import begins
from weir.errors import ConfigurationError
from weir.export.changed_at import change_times, was_edited_at
from weir.lake.delta.bindings import Bindings
from weir.lake.lake import Lake
from weir.lake.tables import ANSWERS
from weir.progress.completion import Completion
from weir.project import Project
from weir.rdf.terms import POSITIONS
from weir.settings import Settings
from weir.shacl.compile import REPORT_COLUMNS
from weir.shacl.report import report_lines

TRIPLE = POSITIONS[1:]
"""The columns of the answer of a CONSTRUCT."""
Change = tuple[int, bool, str]
"""Epoch, whether the triple appears, and the triple as it is written in a patch."""

_LOG, _BATCH = "log", 100_000
_KNOWN = pa.schema(dict[str, pa.DataType](weight=pa.int64(), triple=pa.string()))


@dataclass(frozen=True, slots=True)
class Triples:
    """The published answer of a CONSTRUCT query or the report of shapes, opened to be read.

    Attributes:
        query: its name.
        lake: has it.
        published: the epoch up to which it is published.
        log_id: identifies its log; another one if the query was dropped and computed again.
    """

    query: str
    lake: Lake
    published: int
    log_id: str
    _completion: Completion
    _bindings: Bindings
    _log: AnswerLog

    def known_epoch(self, epoch: int | None, option: str, *, or_report: bool = False) -> int:
        """An epoch at which triples, or also a report, are published; by default the newest.

        Raises:
            ConfigurationError: nothing is published there, or it is of an earlier text, which was
                no CONSTRUCT; `option` named the epoch.
        """
        if epoch is not None:
            require_published_to(self._completion, self.query, epoch, option)
        names = self._log.variables_at(self.lake, epoch)
        is_report = or_report and {*REPORT_COLUMNS} <= {*names}
        if not (is_report or {*TRIPLE} <= {name.lower() for name in names}):
            raise ConfigurationError(
                f"the published answer of {self.query} is no graph: it has the columns"
                f" {', '.join(names)}",
                self.lake.root,
                "If its text is a CONSTRUCT now, `weir run` publishes that, from the newest epoch"
                " on.",
            )
        return self.published if epoch is None else epoch

    def is_report_at(self, epoch: int | None) -> bool:
        """Whether the answer at an epoch, by default the newest, is the report of shapes."""
        return {*REPORT_COLUMNS} <= {*self._log.variables_at(self.lake, epoch)}

    def report_at(self, epoch: int) -> Iterator[str]:
        """The report at an epoch, as lines of N-Triples."""
        state = self._log.state(*columns(REPORT_COLUMNS)).where(column("epoch") <= number(epoch))
        rows = (row for batch in self._batches(state) for row in batch.to_pylist())
        return report_lines(
            (tuple(row[name] for name in REPORT_COLUMNS), row["weight"]) for row in rows
        )

    def at(self, epoch: int) -> Iterator[str]:
        """The triples at an epoch, as lines of N-Triples, by subject, predicate and object."""
        state = select(
            *columns(TRIPLE),
            from_=rows_of(self._log.relation),
            where=[*is_triple(), column("epoch") <= number(epoch)],
            group_by=columns(TRIPLE),
            having=sum_of(column("weight")) > number(0),
        )
        lines = select(
            alias(_line(columns(TRIPLE)), "line"),
            from_=subquery(state, "state"),
            order_by=[ascending(name) for name in columns(TRIPLE)],
        )
        for batch in self._batches(lines):
            yield from map(str, batch["line"].to_pylist())

    def changes(
        self, first: int, last: int, known: Iterable[tuple[bool, str]] | None = None
    ) -> Iterator[Change]:
        """The changes at the epochs from `first` to `last`, both included.

        They are in the order of epochs; of an epoch, triples that vanish come first. One that
        appears and vanishes within an epoch is in none.

        Args:
            first: the first epoch.
            last: the last one.
            known: changes at the epoch `first` that a reader has, in their order. What is given
                instead of them leads from them to the state at that epoch: an edit of the query
                may have changed the answer at an epoch that was published.
        """
        moved = self._moved(first, last)
        if known is None:
            yield from self._ordered(moved)
            return
        with self._bindings.scope():
            self._bindings.rows("known rows", _batches_of(known))
            # Rows of Python can be read once.
            self._bindings.table("known", 'SELECT * FROM "known rows"')
            yield from self._ordered(_without_known(moved, first))

    def was_edited_at(self, epoch: int) -> bool:
        """As of `was_edited_at`."""
        return was_edited_at(self.lake, self.query, epoch)

    def times(self, first: int, last: int) -> dict[int, datetime]:
        """As of `change_times`."""
        return change_times(self._bindings, self.lake, self._log, first, last)

    def _moved(self, first: int, last: int) -> exp.Select:
        """The triples that appear (weight 1) or vanish (-1) at an epoch from `first` to `last`."""
        # Without earlier epochs, all triples are changed.
        joins = [self._changed(first, last)] if first else []
        net = select(
            *columns(("epoch", *TRIPLE), _LOG),
            alias(bigint(sum_of(column("weight", _LOG))), "weight"),
            from_=rows_of(self._log.relation, _LOG),
            joins=joins,
            where=[*is_triple(_LOG), column("epoch", _LOG) <= number(last)],
            group_by=columns(("epoch", *TRIPLE), _LOG),
        )
        held = over(sum_of(column("weight")), columns(TRIPLE), [ascending(column("epoch"))])
        summed = select(
            *columns(("epoch", *TRIPLE, "weight")),
            alias(bigint(held), "held"),
            from_=subquery(net, "net"),
        )
        is_held = exp.Paren(this=column("held") > number(0))
        was_held = exp.Paren(this=column("held") - column("weight") > number(0))
        return select(
            column("epoch"),
            alias(case((is_held, number(1)), otherwise=number(-1)), "weight"),
            alias(_triple_of_patch(), "triple"),
            from_=subquery(summed, "summed"),
            where=[
                column("epoch") >= number(first),
                exp.NEQ(this=is_held.copy(), expression=was_held),
            ],
        )

    def _changed(self, first: int, last: int) -> exp.Join:
        """A join with the rows whose triples are changed at one of the epochs."""
        changed = select(
            *columns(TRIPLE),
            from_=rows_of(self._log.relation),
            where=[column("epoch") >= number(first), column("epoch") <= number(last)],
            distinct=True,
        )
        return semi_join(subquery(changed, "changed"), *equal(TRIPLE, _LOG, "changed"))

    def _ordered(self, changes: exp.Select) -> Iterator[Change]:
        """Changes in the order of epochs; of an epoch, those that vanish come first."""
        names = ("epoch", "weight", "triple")
        ordered = select(
            *columns(names),
            from_=subquery(changes, "changes"),
            order_by=[ascending(name) for name in columns(names)],
        )
        for batch in self._batches(ordered):
            rows = zip(*(batch[name].to_pylist() for name in names), strict=True)
            yield from ((epoch, weight > 0, triple) for epoch, weight, triple in rows)

    def _batches(self, query: exp.Select) -> Iterator[pa.RecordBatch]:
        """The rows of a query, computed while they are read."""
        with self.lake.using(ANSWERS.name(self.query)):
            yield from self._bindings.connection.sql(_sql(query)).to_arrow_reader(_BATCH)


@contextmanager
def published_triples(
    project: Project, query: str, *, or_report: bool = False
) -> Iterator[Triples]:
    """The published answer of a CONSTRUCT query, or also a report, open until the block ends.

    Raises:
        QualityError: it is held back, and none was published before.
        ConfigurationError: there is no such query, it is no CONSTRUCT, or nothing of it is
            published.
    """
    _require_graph(project.settings, query, or_report=or_report)
    require_published(project.settings, query)
    lake = project.open_lake()
    completion = Completion.read(lake)
    with closing(connect(project.settings)) as connection:
        bindings = Bindings(connection)
        log = existing_log(bindings, lake, query)
        published = completion.published(query)
        # A run that was killed may have left a table without rows.
        epoch = 0 if published is None else published.epoch
        log_id = str(lake.existing(ANSWERS.name(query)).metadata().id)
        yield Triples(query, lake, epoch, log_id, completion, bindings, log)


def _require_graph(settings: Settings, query: str, *, or_report: bool) -> None:
    """Refuse what is declared and no graph; of what is not declared, the columns decide."""
    if not is_declared(folders_of(settings), query):
        return
    catalog = Catalog.of(settings)
    if not catalog.is_usable(query):
        return
    member = catalog.member(query)
    form = member.output.form
    if form == "construct" or (or_report and form == "report"):
        return
    if member.kind == PROGRAM:
        what = "is a program: its answer is when atoms held, and no graph"
        hint = "`write_stream` in its front matter makes triples of them, for queries over streams"
    elif form == "ask":
        what, hint = "is an ASK: its answer is true or false", "Export a CONSTRUCT"
    elif form == "report":
        what = "is a shapes graph: patches are of the triples of a CONSTRUCT"
        hint = f"`weir export rdf {query} --at EPOCH` writes its report"
    else:
        what = "is a SELECT: its answer is a table of rows, and no graph"
        hint = "Write a CONSTRUCT whose template makes triples of its variables"
    raise ConfigurationError(
        f"{query} {what}",
        str(member.file),
        f"{hint}. `weir export data {query}` writes its rows.",
    )


def is_triple(table: str | None = None) -> Sequence[exp.Expr]:
    subject, predicate, object_ = (column(name, table) for name in TRIPLE)
    return (
        any_of([begins(subject, "<"), begins(subject, "_")]),
        begins(predicate, "<"),
        is_not_null(object_),
    )


def _line(terms: Sequence[exp.Expr]) -> exp.Expr:
    subject, predicate, object_ = terms
    return concatenated(subject, text(" "), predicate, text(" "), object_, text(" ."))


def _triple_of_patch() -> exp.Expr:
    """A triple with its dot; a blank node as Jena writes it, `<_:label>`.

    There, and for rdflib, a label in this form is the same node in all patches.
    """

    def term(name: str) -> exp.Expr:
        written = concatenated(text("<"), column(name), text(">"))
        return case((begins(column(name), "_"), written), otherwise=column(name))

    return _line([term(name) for name in TRIPLE])


def _without_known(moved: exp.Select, epoch: int) -> exp.Select:
    """The changes `moved` less those that a reader has of an epoch, which are taken back."""
    known = select(
        alias(number(epoch), "epoch"),
        alias(exp.Neg(this=column("weight")), "weight"),
        column("triple"),
        from_=rows_of("known"),
    )
    return select(
        *columns(("epoch", "triple")),
        alias(bigint(sum_of(column("weight"))), "weight"),
        from_=subquery(union_all([moved, known]), "both"),
        group_by=columns(("epoch", "triple")),
        having=sum_of(column("weight")).neq(number(0)),
    )


def _batches_of(known: Iterable[tuple[bool, str]]) -> pa.RecordBatchReader:
    def batches() -> Iterator[pa.RecordBatch]:
        changes = iter(known)
        while some := [*islice(changes, _BATCH)]:
            rows = [{"weight": 1 if appears else -1, "triple": triple} for appears, triple in some]
            yield pa.RecordBatch.from_pylist(rows, schema=_KNOWN)

    return pa.RecordBatchReader.from_batches(_KNOWN, batches())


def _sql(query: exp.Select) -> str:
    return query.sql(dialect="duckdb")
