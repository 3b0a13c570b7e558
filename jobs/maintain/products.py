"""The check that a product of parts without a common variable does not get too large."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from sqlglot import exp

from jobs.compute.engine import Engine
from jobs.compute.sql import alias, column, rows_of, select
from jobs.engine.fixpoint import make
from jobs.engine.plan_delta import PlanDelta
from jobs.errors import WeirError
from jobs.plan.leaves import MEMBER


class ProductCheck:
    """Checks products between the statements that make their parts and those that make them.

    Args:
        engine: counts.
        products: of each the relations of its parts.
        limit: most rows.
    """

    def __init__(self, engine: Engine, products: Sequence[tuple[str, ...]], limit: int) -> None:
        self._engine, self._limit = engine, limit
        self._unchecked = [*products]
        self._made: set[str] = set()

    def made(self, name: str) -> Iterator[tuple[str, ...]]:
        """The products whose parts are complete with the relation `name`."""
        self._made.add(name)
        complete = [parts for parts in self._unchecked if self._made.issuperset(parts)]
        self._unchecked = [parts for parts in self._unchecked if parts not in complete]
        yield from complete

    def of_query(self, parts: tuple[str, ...], file: str) -> None:
        """Check a product of one query.

        Raises:
            WeirError: it exceeds the limit.
        """
        counts = [self._engine.count(part) for part in parts]
        if prod(counts) > self._limit:
            raise self._error(counts, file)

    def of_members(self, parts: tuple[str, ...], files: Mapping[str, str]) -> dict[str, WeirError]:
        """Of each member whose product exceeds the limit, the error.

        Args:
            parts: relations with the column `member`.
            files: the file of each member.
        """
        counts = [self._by_member(part) for part in parts]
        found = {}
        for member, file in files.items():
            own = [each.get(member, 0) for each in counts]
            if prod(own) > self._limit:
                found[member] = self._error(own, file)
        return found

    def _by_member(self, part: str) -> dict[str, int]:
        return rows_by_member(self._engine, part)

    def _error(self, counts: Sequence[int], file: str) -> WeirError:
        sizes = " x ".join(f"{count:,}" for count in counts)
        return WeirError(
            f"parts of it share no variable, and their product has {sizes} = {prod(counts):,}"
            f" rows, more than product_rows = {self._limit:,}. `weir explain` shows them.",
            file,
            "Join the parts by a variable, or write `#+ allow_product: true`.",
        )


def make_delta(
    engine: Engine, delta: PlanDelta, limit: int, *, allow_product: bool, file: str
) -> None:
    """Make the relations of one query's delta; the size of a product is checked before it is made.

    Args:
        engine: makes them.
        delta: what to make.
        limit: most rows of a product.
        allow_product: whether the query may exceed it.
        file: that declares the query.

    Raises:
        WeirError: a product exceeds the limit.
    """
    check = ProductCheck(engine, () if allow_product else delta.products, limit)
    for statement in (*delta.statements, delta.result):
        make(engine, statement)
        for parts in check.made(statement.name):
            check.of_query(parts, file)


def rows_by_member(engine: Engine, relation: str) -> dict[str, int]:
    """How many rows of a relation each member has; those without rows are missing."""
    found = engine.rows(
        select(
            column(MEMBER),
            alias(exp.Count(this=exp.Star(), big_int=True), "rows"),
            from_=rows_of(relation),
            group_by=[column(MEMBER)],
        )
    )
    return {str(member): int(str(rows)) for member, rows in found}
