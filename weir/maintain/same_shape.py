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
from weir.engine.members import members_table
from weir.engine.plan_delta import plan_delta
from weir.engine.relations import Inputs
from weir.errors import WeirError
from weir.lake.delta.commit import SaveMode
from weir.lake.delta.metadata import Metadata
from weir.lake.tables import Table, embeddings
from weir.maintain.prepared import Prepared
from weir.maintain.products import ProductCheck, rows_by_member
from weir.maintain.tasks import Task
from weir.plan.leaves import MEMBER
from weir.plan.members import plan_of_members
from weir.plan.parameterized import parameterized
from weir.plan.plan import Plan

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
        by_shape.setdefault(task.planned.shape, []).append(task)
    for members in by_shape.values():
        size = _MEMBERS_WITH_STATE if _reads_state(members[0]) else _MEMBERS
        yield from (members[i : i + size] for i in range(0, len(members), size))


def _reads_state(task: Task) -> bool:
    return not task.from_nothing and len(task.plan.stored) > 1


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
        return self.counts.get(task.query.name, 0)

    def write(
        self, engine: Engine, task: Task, table: Table, metadata: Metadata, mode: SaveMode
    ) -> Commit:
        """Commit the new rows of a query."""
        name = task.query.name
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
    engine: Engine, members: Sequence[Task], prepared: Prepared, prefix: str, product_rows: int
) -> MemberRows:
    """The new rows of queries of one shape.

    Args:
        engine: makes the relations.
        members: the queries; all have the same range.
        prepared: the graph over the range.
        prefix: begins the names of the relations that are made.
        product_rows: most rows of a product.

    Raises:
        TooLarge: products of some members have more.
    """
    general, _ = parameterized(members[0].plan)
    group = plan_of_members(general, [task.planned.parameters for task in members])
    names = [task.query.name for task in members]
    relation, stored = f"{prefix}_members", f"{prefix}_stored"
    engine.load(relation, members_table(names, group))
    if _reads_state(members[0]):
        _open_stored(engine, members, stored, general)
    inputs = Inputs(prepared.graphs, stored, relation)
    delta = plan_delta(group.plan, prepared.epochs, inputs, prefix, prepared.keep)
    products = () if general.allow_product else delta.products
    check = ProductCheck(engine, products, product_rows)
    declared = {task.query.name: (task.query.file.name, task.plan.names) for task in members}
    # Read for each member: made once.
    result = replace(delta.result, keep=prepared.keep)
    for statement in (*delta.statements, result):
        make(engine, statement)
        for product in check.made(statement.name):
            if errors := check.of_members(product, declared):
                raise TooLarge(errors)
    return _of_members(engine, result.name)


def _open_stored(engine: Engine, members: Sequence[Task], name: str, plan: Plan) -> None:
    """Make the view of the stored logs of all members, with the column `member`."""
    parts = []
    for task in members:
        table = embeddings(task.query.name, plan.width)
        own = f"{name}_{task.query.name}"
        engine.open(own, table.name)
        member = alias(text(task.query.name), MEMBER)
        parts.append(select(member, *columns(table.column_names), from_=rows_of(own)))
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
