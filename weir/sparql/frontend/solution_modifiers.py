"""Solution modifiers: ORDER BY, projection, DISTINCT, REDUCED, LIMIT and OFFSET.

https://www.w3.org/TR/sparql11-query/#sparqlSolMod
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from weir.sparql.algebra.expressions import Call, Constant, Variable
from weir.sparql.algebra.patterns import (
    Aggregate,
    Distinct,
    Group,
    OrderKey,
    Pattern,
    Project,
    Reduced,
    Slice,
)
from weir.sparql.algebra.scoping import variables_of
from weir.sparql.frontend.source import Source
from weir.sparql.frontend.tree import Leaf, Tree

MAX_ROWS = 2**61
"""The greatest LIMIT or OFFSET, as the engine counts in 64 bits; greater ones are cut to it."""


@dataclass(frozen=True, slots=True)
class OffsetAndLimit:
    """OFFSET and LIMIT; None is no limit."""

    offset: int = 0
    limit: int | None = None


def read_limits(tree: Tree, source: Source) -> OffsetAndLimit:
    """The limits of a query level."""
    clause = tree.get("limitoffset")
    if not isinstance(clause, Tree):
        return OffsetAndLimit()
    return OffsetAndLimit(
        _number(clause, "offset", source) or 0,
        _number(clause, "limit", source),
    )


def sliced(pattern: Pattern, keys: tuple[OrderKey, ...], limits: OffsetAndLimit) -> Pattern:
    """`pattern` cut to `limits` in the order of `keys`; without limits the order has no effect."""
    if limits == OffsetAndLimit():
        return pattern
    return Slice(pattern, keys, limits.offset, limits.limit)


def finish_select(
    pattern: Pattern,
    variables: tuple[str, ...],
    modifier: str | None,
    keys: tuple[OrderKey, ...],
    limits: OffsetAndLimit,
    fresh: Callable[[], str],
) -> Pattern:
    """The solutions of a SELECT; `modifier` is DISTINCT, REDUCED or None.

    SPARQL orders, projects, removes duplicates and slices, in this order. Without DISTINCT, slicing
    may come before projecting. With DISTINCT it comes last. If the order then depends on variables
    that are not projected, a distinct solution takes the place of the first of its duplicates,
    which is the one with the least text of sort keys.
    """
    if modifier != "DISTINCT":
        projected = Project(variables, sliced(pattern, keys, limits))
        return projected if modifier is None else Reduced(projected)
    order_variables = frozenset().union(*(variables_of(key.expression) for key in keys))
    if limits == OffsetAndLimit() or order_variables & set(pattern.in_scope) <= set(variables):
        return sliced(Distinct(Project(variables, pattern)), keys, limits)
    first = fresh()
    place = Call("CONCAT", tuple(Call(_SORT_KEY[k.descending], (k.expression,)) for k in keys))
    groups = Group(variables, ((first, Aggregate("MIN", place)),), pattern)
    return Project(variables, sliced(groups, (OrderKey(Variable(first)),), limits))


_SORT_KEY = {False: "SORTKEY", True: "SORTKEY DESC"}


def _number(clause: Tree, part: str, source: Source) -> int | None:
    leaf = clause.get(part)
    if leaf is None:
        return None
    assert isinstance(leaf, Leaf), "a limit is a number"
    assert isinstance(leaf.node, Constant), "a limit is a number"
    text = leaf.token.text if leaf.token else ""
    if not text.isdecimal():
        raise source.malformed(text, leaf.token, f"{part.upper()} takes a whole number")
    digits = text.lstrip("0") or "0"
    # int() refuses numbers of thousands of digits.
    return MAX_ROWS if len(digits) > len(str(MAX_ROWS)) else min(int(digits), MAX_ROWS)
