"""The check that a product does not get too large: of parts without a common variable, or of an
EXISTS.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod

from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.sql import alias, column, rows_of, select
from weir.definitions.definition import Definition
from weir.engine.fixpoint import make
from weir.engine.plan_delta import PlanDelta
from weir.engine.run import ProductOf
from weir.errors import WeirError
from weir.plan.leaves import MEMBER


class ProductCheck:
    """Checks products between the statements that make their parts and those that make them.

    Args:
        engine: counts.
        products: the products.
        limit: most rows.
        left: the names of the relations that are not made yet.
    """

    def __init__(
        self, engine: Engine, products: Sequence[ProductOf], limit: int, left: Iterable[str]
    ) -> None:
        self._engine, self._limit = engine, limit
        self._unchecked = [*products]
        parts = {part for product in products for part in product.parts}
        self._made = parts.difference(left)

    def made(self, name: str) -> Iterator[ProductOf]:
        """The products whose parts are complete with the relation `name`."""
        self._made.add(name)
        return self.complete()

    def complete(self) -> Iterator[ProductOf]:
        """The products whose parts are complete, each once."""
        complete = [product for product in self._unchecked if self._made.issuperset(product.parts)]
        self._unchecked = [product for product in self._unchecked if product not in complete]
        yield from complete

    def of_query(self, product: ProductOf, file: str, names: Sequence[str]) -> None:
        """Check a product of one query.

        Args:
            product: its parts have been made.
            file: declares the query.
            names: of the columns of its plan.

        Raises:
            WeirError: it exceeds the limit.
        """
        counts = [self._engine.count(part) for part in product.parts]
        if prod(counts) > self._limit:
            raise self._error(product, counts, file, names)

    def of_members(
        self, product: ProductOf, members: Mapping[str, tuple[str, Sequence[str]]]
    ) -> dict[str, WeirError]:
        """Of each member whose product exceeds the limit, the error.

        Args:
            product: its parts have been made, with the column `member`.
            members: the file of each, and the names of the columns of its plan.
        """
        counts = [self._by_member(part) for part in product.parts]
        errors = {}
        for member, (file, names) in members.items():
            own = [rows.get(member, 0) for rows in counts]
            if prod(own) > self._limit:
                errors[member] = self._error(product, own, file, names)
        return errors

    def _by_member(self, part: str) -> dict[str, int]:
        return rows_by_member(self._engine, part)

    def _error(
        self, product: ProductOf, counts: Sequence[int], file: str, names: Sequence[str]
    ) -> WeirError:
        sizes = " x ".join(f"{count:,}" for count in counts)
        rows = (
            f"{sizes} = {prod(counts):,} rows, more than product_rows = {self._limit:,}."
            " `weir explain` shows them."
        )
        if product.correlated:
            outside = ", ".join(f"?{names[int(column[1:])]}" for column in product.correlated)
            return WeirError(
                f"an EXISTS depends on {outside} in a part that shares no variable with the"
                f" solutions outside; evaluated for each of their values, that part has {rows}",
                file,
                "Share a variable with the part, or write `#+ allow_product: true`.",
            )
        return WeirError(
            f"parts of it share no variable, and their product has {rows}",
            file,
            "Join the parts by a variable, or write `#+ allow_product: true`.",
        )


def make_delta(engine: Engine, delta: PlanDelta, limit: int, definition: Definition) -> None:
    """Make the relations of a delta; the size of a product is checked before it is made.

    Args:
        engine: makes them.
        delta: what to make.
        limit: most rows of a product.
        definition: whose delta it is.

    Raises:
        WeirError: a product exceeds the limit.
    """
    statements = (*delta.statements, delta.result)
    check = ProductCheck(engine, delta.products, limit, [own.name for own in statements])
    for product in check.complete():
        check.of_query(product, definition.file.name, definition.body.variables)
    for statement in statements:
        make(engine, statement)
        for product in check.made(statement.name):
            check.of_query(product, definition.file.name, definition.body.variables)


def rows_by_member(engine: Engine, relation: str) -> dict[str, int]:
    """How many rows of a relation each member has; those without rows are missing."""
    counted = engine.rows(
        select(
            column(MEMBER),
            alias(exp.Count(this=exp.Star(), big_int=True), "rows"),
            from_=rows_of(relation),
            group_by=[column(MEMBER)],
        )
    )
    return {str(member): int(str(rows)) for member, rows in counted}
