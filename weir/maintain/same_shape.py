"""Queries of one shape, computed together: their statements are made once, for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from weir.compute.arrow import RowsByKey
from weir.compute.engine import Engine
from weir.compute.relations import Statement
from weir.compute.sql import (
    alias,
    column,
    columns,
    rows_of,
    select,
    text,
    union_all,
)
from weir.compute.writing import Commit
from weir.engine.fixpoint import make
from weir.errors import WeirError
from weir.maintain.course import Course
from weir.maintain.products import ProductCheck, rows_by_member
from weir.maintain.tasks import CommitForm, Task
from weir.plan.leaves import MEMBER
from weir.timeline.evaluation import LegInputs

_MEMBERS = 500
"""Most queries that are computed together: a statement's rows are those of all of them."""
_MEMBERS_WITH_STATE = 100
"""The same, where the statements also read a stored table of each."""


class TooLarge(Exception):  # noqa: N818  (named after what is wrong)
    """Products of some members exceed the limit: `errors` has what to report for each."""

    def __init__(self, errors: Mapping[str, WeirError]) -> None:
        super().__init__(", ".join(errors))
        self.errors = errors


def of_one_shape(tasks: Iterable[Task]) -> Iterator[list[Task]]:
    """The tasks in groups of one shape, bounded in size; all stand at the same epoch."""
    by_shape: dict[str, list[Task]] = {}
    for task in tasks:
        # No hash is a name: without a shape, a task is by itself.
        by_shape.setdefault(task.definition.body.shape or task.name, []).append(task)
    for members in by_shape.values():
        size = _MEMBERS_WITH_STATE if _reads_state(members[0]) else _MEMBERS
        yield from (members[i : i + size] for i in range(0, len(members), size))


def _reads_state(task: Task) -> bool:
    return not task.from_nothing and task.definition.body.reads_stored


@dataclass(frozen=True, slots=True)
class MemberRows:
    """The new rows of the members of a group.

    Attributes:
        relation: all of them, with the column `member`; sorted by it, unless they are `fetched`.
        counts: how many rows each member has, if it has any.
        fetched: the rows of each member, if they are few; by member.
    """

    relation: str
    counts: Mapping[str, int]
    fetched: RowsByKey | None

    @property
    def total(self) -> int:
        """How many rows there are."""
        return sum(self.counts.values())

    def count(self, task: Task) -> int:
        """How many new rows a query has."""
        return self.counts.get(task.name, 0)

    def write(self, engine: Engine, task: Task, form: CommitForm) -> Commit:
        """Commit the new rows of a task."""
        table, metadata, mode = task.table, form.metadata, form.mode
        name = task.name
        if self.fetched is not None:
            return engine.write_rows(table, self.fetched[name], metadata, mode=mode)
        own = select(
            *columns(table.column_names),
            from_=rows_of(self.relation),
            where=[column(MEMBER).eq(text(name))],
        )
        relation = f"{self.relation}_of_{name}"
        engine.make(Statement(relation, own))
        return engine.write(table, relation, metadata, mode=mode, rows=self.count(task))


def rows_of_members(
    engine: Engine, tasks: Sequence[Task], leg: LegInputs, product_rows: int
) -> MemberRows:
    """The new rows of tasks of one shape.

    Args:
        engine: makes the relations.
        tasks: all have the same range.
        leg: what is read; its stored rows have the column `member`.
        product_rows: most rows of a product.

    Raises:
        TooLarge: products of some members have more.
    """
    bodies = {task.name: task.definition.body for task in tasks}
    members = tasks[0].definition.body.together(bodies)
    relation = f"{leg.prefix}_members"
    engine.load(relation, members.table)
    delta = members.delta(leg, relation)
    declared = {
        task.name: (task.definition.file.name, task.definition.body.variables) for task in tasks
    }
    # Read for each member: made once.
    result = replace(delta.result, keep=leg.keep)
    statements = (*delta.statements, result)
    check = ProductCheck(engine, delta.products, product_rows, [own.name for own in statements])
    for statement in statements:
        make(engine, statement)
        for product in check.made(statement.name):
            if errors := check.of_members(product, declared):
                raise TooLarge(errors)
    return _of_members(engine, result.name)


def open_stored_of_members(
    engine: Engine, course: Course, tasks: Sequence[Task], name: str
) -> None:
    """Name the stored rows of all members, with the column `member`, if they are needed."""
    if not _reads_state(tasks[0]):
        return
    parts = []
    for task in tasks:
        own = f"{name}_{task.name}"
        course.open_stored(engine, task, own)
        member = alias(text(task.name), MEMBER)
        parts.append(select(member, *columns(task.table.column_names), from_=rows_of(own)))
    engine.make(Statement(name, union_all(parts)))


def _of_members(engine: Engine, relation: str) -> MemberRows:
    counts = rows_by_member(engine, relation)
    few = engine.fetch_few(relation, sum(counts.values()))
    if few is not None:
        return MemberRows(relation, counts, RowsByKey(few.sort_by(MEMBER), MEMBER))
    # In order, the rows of a member are found without looking at all.
    ordered = f"{relation}_ordered"
    rows = select("*", from_=rows_of(relation)).order_by(column(MEMBER))
    engine.make(Statement(ordered, rows, "cache"))
    return MemberRows(ordered, counts, None)
