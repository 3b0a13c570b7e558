"""VALUES: https://www.w3.org/TR/sparql11-query/#inline-data."""

from __future__ import annotations

from jobs.sparql.algebra.expressions import Constant, Variable
from jobs.sparql.algebra.patterns import Values
from jobs.sparql.frontend.source import Source
from jobs.sparql.frontend.tree import Branch, Leaf, Tree


def read_values(tree: Tree, source: Source) -> Values:
    """The data block of a VALUES clause.

    Raises:
        QuerySyntaxError: a row with too few or too many terms, or a variable given twice.
    """
    names: list[str] = []
    for leaf in tree.all("var"):
        assert isinstance(leaf, Leaf), "VALUES names variables"
        assert isinstance(leaf.node, Variable), "VALUES names variables"
        if leaf.node.name in names:
            raise source.malformed(
                f"?{leaf.node.name}", leaf.token, "VALUES has this variable twice"
            )
        names.append(leaf.node.name)
    rows = []
    for value in tree.all("value"):
        # Without parentheses a row is a term.
        row = tuple(_term(item, source) for item in _items(value))
        if len(row) != len(names):
            raise source.malformed(
                "VALUES",
                source.first_token(value) or source.first_word("VALUES"),
                f"a row of {len(row)} terms for {len(names)} variables",
                "Write UNDEF for a variable that a row leaves unbound.",
            )
        rows.append(row)
    return Values(tuple(names), tuple(rows))


def _items(value: Branch) -> tuple[Branch, ...]:
    if not isinstance(value, tuple):
        return (value,)
    # The grammar gives a term for `()`.
    return tuple(item for item in value if not (isinstance(item, Leaf) and item.token is None))


def _term(item: Branch, source: Source) -> str | None:
    if not isinstance(item, Leaf):
        return None
    node = source.term(item)
    assert isinstance(node, Constant), "VALUES gives terms"
    return node.term
