"""What the answers of edited definitions would gain and lose, as the next run would publish it.

The rows are made by the statement of publish, from tables that were computed by the code of
maintain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from typing import Any

from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.relations import LakeQuery, Statement, StoredTable
from weir.compute.sql import (
    alias,
    as_text,
    bigint,
    case,
    column,
    columns,
    number,
    padded_columns,
    rows_of,
    select,
    sum_of,
    union_all,
)
from weir.definitions.catalog import Catalog
from weir.definitions.checks import declared_checks
from weir.definitions.definition import Definition
from weir.lake.tables import ANSWERS
from weir.progress.backlog import HORIZON, Backlog
from weir.progress.watermarks import Watermark
from weir.project import Project
from weir.publish.epoch_times import epoch_times
from weir.publish.publication_query import published_columns, rows_to_publish, stored_columns
from weir.review.computed import Computed, computed
from weir.review.edits import Change, Edit
from weir.stage import Progress
from weir.validate.own_checks import OwnChecks

TIME = "event_time"
"""The column of a difference over streams with the instant of a row."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What an answer would gain and lose.

    Attributes:
        name: of the definition.
        change: what was done to it.
        columns: of `rows`: the variables, those of earlier texts last; over streams, the instant.
        gained: how many rows appear, by multiplicity.
        lost: how many vanish.
        rows: some of them: the weight, then the columns in N-Triples form.
        note: why a run would hold the answer back; empty if it would not.
        error: why nothing is known; empty if it is.
    """

    name: str
    change: Change
    columns: tuple[str, ...] = ()
    gained: int = 0
    lost: int = 0
    rows: Sequence[tuple[Any, ...]] = ()
    note: str = ""
    error: str = ""


def differences(
    project: Project, edits: Sequence[Edit], shown: int, progress: Progress
) -> Iterator[Difference]:
    """The differences of edits, in their order.

    Args:
        project: whose lake is read.
        edits: of definitions with different names.
        shown: how many rows of each sign are given; 0 for all.
        progress: receives a line per step.
    """
    taken = [edit.name for edit in edits]
    prefixes = (f"base{i}_" for i in count())
    prefix = next(p for p in prefixes if not any(name.startswith(p) for name in taken))
    renamed = [_renamed(edit, prefix) for edit in edits]
    both = [text for edit in renamed for text in (edit.before, edit.after) if text is not None]
    catalog = Catalog.of(project.settings)
    with computed(project, both, progress) as rows:
        for edit in renamed:
            names = [text.name for text in (edit.after, edit.before) if text is not None]
            wrong = [edit.error, *(rows.errors[name] for name in names if name in rows.errors)]
            if any(wrong):
                yield Difference(edit.name, edit.change, error=next(filter(None, wrong)))
                continue
            with rows.project.engine("diff", rows.lake) as engine:
                yield _Comparison(engine, rows, catalog, edit).difference(shown)


def _renamed(edit: Edit, prefix: str) -> Edit:
    """The edit with another name for the definition of the base, beside that of today."""
    if edit.before is None:
        return edit
    return replace(edit, before=replace(edit.before, name=f"{prefix}{edit.name}"))


@dataclass(frozen=True, slots=True)
class _Comparison:
    engine: Engine
    rows: Computed
    catalog: Catalog
    edit: Edit

    def difference(self, shown: int) -> Difference:
        names, over_streams = self._make("appended")
        identity = (*names, *((TIME,) if over_streams else ()))
        net = select(
            *columns(identity),
            alias(bigint(sum_of(column("weight"))), "weight"),
            from_=rows_of("appended"),
            group_by=columns(identity),
            having=sum_of(column("weight")).neq(number(0)),
        )
        self.engine.make(Statement("net", net, "cache"))
        gained, lost = self._total(1), -self._total(-1)
        sample = [*self._some(identity, 1, shown), *self._some(identity, -1, shown)]
        note = self._note(gained - lost)
        return Difference(self.edit.name, self.edit.change, identity, gained, lost, sample, note)

    def _make(self, name: str) -> tuple[tuple[str, ...], bool]:
        """Make the rows that would be appended; gives their columns, and whether they have times.

        If the base is what is published, publish makes the difference to it.
        """
        edit, completion = self.edit, self.rows.completion
        published = completion.published(edit.name) if edit.from_published else None
        stored = stored_columns(self.rows.lake, edit.name) if published is not None else ()
        sides: list[tuple[str, tuple[str, ...], int]] = []
        with_times = False
        if edit.after is not None:
            item = self._backlog(edit.after, published)
            sides.append(("after", self._load("after", item, stored), 1))
            with_times = item.is_over_streams
        elif published is not None:
            self.engine.query("published", self._published(stored), "cache")
            sides.append(("published", stored, -1))
            maintained = completion.maintained(edit.name)
            with_times = maintained is not None and HORIZON in maintained.metadata.extra
        if edit.before is not None:
            item = self._backlog(edit.before, None)
            sides.append(("before", self._load("before", item, ()), -1))
            with_times = with_times or item.is_over_streams
        names = _merged([own for _, own, _ in sides])
        rows = [_side(relation, names, own, sign) for relation, own, sign in sides]
        self.engine.make(Statement(name, union_all(rows), "cache"))
        return names, with_times

    def _backlog(self, definition: Definition, published: Watermark | None) -> Backlog:
        stored = self.rows.stored(definition.name)
        item = Backlog(definition.name, stored, published, rebuilt=True, reason="")
        return item.of_services() if definition.services.blocks else item

    def _load(self, name: str, item: Backlog, stored: tuple[str, ...]) -> tuple[str, ...]:
        """Make the rows that publish would append for a backlog; gives their columns."""
        times, names = f"times_{name}", published_columns(item, stored)
        self.engine.load(times, epoch_times(self.rows.lake, item.from_epoch))
        self.engine.query(name, rows_to_publish(item, names, stored, times), "cache")
        return names

    def _published(self, names: Sequence[str]) -> LakeQuery:
        table = StoredTable(f"stored_{self.edit.name}", ANSWERS.name(self.edit.name))
        rows = select(*columns(("weight", *names, TIME)), from_=rows_of(table.name))
        return LakeQuery(rows, (table,))

    def _total(self, sign: int) -> int:
        weight = column("weight")
        of_sign = case((_has_sign(sign), weight), otherwise=number(0))
        total = exp.func("COALESCE", sum_of(of_sign), number(0))
        ((value,),) = self.engine.rows(select(bigint(total), from_=rows_of("net")))
        return int(str(value))

    def _some(self, names: Sequence[str], sign: int, shown: int) -> list[tuple[Any, ...]]:
        # As text, a time is the same from both engines: in UTC.
        cells = [alias(as_text(column(n)), n) if n == TIME else column(n) for n in names]
        query = select(
            column("weight"),
            *cells,
            from_=rows_of("net"),
            where=[_has_sign(sign)],
            order_by=columns(names),
            limit=shown or None,
        )
        rows = self.engine.rows(query)
        if TIME not in names:
            return rows
        return [(*row, _time_of(str(time))) for *row, time in rows]

    def _note(self, net: int) -> str:
        """Why a run would hold the answer: its number of rows, and the checks of the project."""
        edit = self.edit
        if edit.after is None or not edit.from_published:
            return ""
        published = self.rows.completion.published(edit.name)
        rows = net + (0 if published is None else int(published.metadata.extra["rows"]))
        guards = edit.after.output.guards
        for key, most in (("max_rows", guards.max_rows), ("min_rows", guards.min_rows)):
            is_beyond = most is not None and (rows > most if key == "max_rows" else rows < most)
            if is_beyond:
                place = guards.places[key]
                return f"a run would hold it back: {rows:,} rows, {key} is {most:,} ({place})"
        failed = self._failed(edit.after, published)
        return f"a run would hold it back: {failed}" if failed else ""

    def _failed(self, definition: Definition, published: Watermark | None) -> str:
        """Which checks of the project an answer fails; empty if it passes, or has none."""
        folder = self.rows.project.settings.expectations
        checks = declared_checks(folder, self.catalog, [definition.name]).of_answers
        if not checks:
            return ""
        item = self._backlog(definition, published)
        own = OwnChecks(self.engine, self.rows.completion, self.catalog, checks)
        results = own.results([item])[definition.name].results
        return "; ".join(result.failure for result in results if not result.may_pass)


def _merged(columns_of_sides: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The columns of all texts; those that differ by case only are one."""
    names: dict[str, str] = {}
    for own in columns_of_sides:
        for name in own:
            names.setdefault(name.lower(), name)
    return tuple(names.values())


def _side(relation: str, every: Sequence[str], own: Sequence[str], sign: int) -> exp.Select:
    by_lower = {name.lower(): name for name in own}
    cells = [
        alias(column(by_lower[name.lower()]), name)
        if name.lower() in by_lower
        else padded_columns([name], ())[0]
        for name in every
    ]
    weight = column("weight") if sign > 0 else exp.Neg(this=column("weight"))
    return select(alias(weight, "weight"), *cells, column(TIME), from_=rows_of(relation))


def _time_of(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def _has_sign(sign: int) -> exp.Expr:
    weight = column("weight")
    return weight > number(0) if sign > 0 else weight < number(0)
