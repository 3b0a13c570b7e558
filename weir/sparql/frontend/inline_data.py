"""VALUES: https://www.w3.org/TR/sparql11-query/#inline-data."""

from __future__ import annotations

from collections.abc import Iterator

from weir.sparql.algebra.expressions import Constant, Variable
from weir.sparql.algebra.patterns import Values
from weir.sparql.frontend.source import Source
from weir.sparql.frontend.tree import Branch, Leaf, TermList, Tree


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
        for row, branch in _rows(value, source):
            if len(row) != len(names):
                raise source.malformed(
                    "VALUES",
                    source.first_token(branch) or source.first_word("VALUES"),
                    f"a row of {len(row)} terms for {len(names)} variables",
                    "Write UNDEF for a variable that a row leaves unbound.",
                )
            rows.append(row)
    return Values(tuple(names), tuple(rows))


def _rows(value: Branch, source: Source) -> Iterator[tuple[tuple[str | None, ...], Branch]]:
    """The rows of a branch of the grammar, each with its own branch."""
    # Without parentheses a row is a term.
    items = value if isinstance(value, tuple) else (value,)
    match items:
        case (TermList(rows),):
            yield from ((tuple(map(_written, row)), TermList((row,))) for row in rows)
        case _:
            # For `()`, the grammar gives a term without a token.
            written = (i for i in items if not (isinstance(i, Leaf) and i.token is None))
            yield tuple(_term(item, source) for item in written), items


def _written(leaf: Leaf | None) -> str | None:
    if leaf is None:
        return None
    assert isinstance(leaf.node, Constant), "VALUES gives terms"
    return leaf.node.term


def _term(item: Branch, source: Source) -> str | None:
    if not isinstance(item, Leaf):
        return None
    node = source.term(item)
    assert isinstance(node, Constant), "VALUES gives terms"
    return node.term
