"""Products in bodies of rules: literals that share no variable make every pair, up to a limit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.sql import alias, number, select, subquery
from weir.engine.sweep import Key
from weir.errors import WeirError
from weir.lars.syntax import Rule


@dataclass(frozen=True, slots=True)
class ProductLimit:
    """How many rows such a body may make, and the file of its rules, for the error."""

    rows: int
    file: str

    def check(
        self, engine: SqlEngine, rule: Rule, literals: Iterable[Key], body: exp.Query
    ) -> None:
        """Check a body, if it is a product.

        Args:
            engine: has the relations that `body` reads.
            rule: whose body it is.
            literals: the columns of its literals that are not negated.
            body: its rows.

        Raises:
            WeirError: it has more rows than the limit.
        """
        if not is_product(literals):
            return
        some = subquery(select(number(1), from_=subquery(body, "b"), limit=self.rows + 1), "some")
        count = alias(exp.Count(this=exp.Star(), big_int=True), "rows")
        ((row_count,),) = engine.rows(select(count, from_=some))
        if int(str(row_count)) > self.rows:
            raise WeirError(
                "the rule pairs atoms that share no variable, and makes more rows than"
                f" product_rows = {self.rows:,}",
                f"{self.file}:{rule.place}",
                "Join them by a variable, or raise `limits.product_rows`.",
            )


def is_product(literals: Iterable[Key]) -> bool:
    """Whether some literals share no column, directly or through others, with the rest."""
    groups: list[set[str]] = []
    for names in filter(None, literals):
        meeting = [group for group in groups if group & {*names}]
        groups = [group for group in groups if group not in meeting]
        groups.append({*names}.union(*meeting))
    return len(groups) > 1
