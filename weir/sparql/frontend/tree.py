"""The syntax tree of a query, free of the parser's types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from weir.sparql.algebra.expressions import Constant, Variable
from weir.sparql.frontend.lexer import Token


@dataclass(frozen=True, slots=True)
class Leaf:
    """A variable, blank node or term with its token, None if the syntax implies it (`a`, `[]`)."""

    node: Variable | Constant
    token: Token | None = None

    @property
    def is_signed(self) -> bool:
        """Whether it is a number that has its sign."""
        return isinstance(self.node, Constant) and self.node.term[:2] in ('"-', '"+')

    def signed(self, sign: str) -> Leaf:
        """A number with `sign` before it."""
        assert isinstance(self.node, Constant), "a number is a constant"
        return Leaf(Constant(f'"{sign}{self.node.term[1:]}'), self.token)


@dataclass(frozen=True, slots=True)
class Tree:
    """A production of the grammar, named as rdflib's parser names it, and its parts."""

    name: str
    parts: Mapping[str, Branch]

    def get(self, part: str) -> Branch | None:
        """The part, or None without it."""
        return self.parts.get(part)

    def all(self, part: str) -> tuple[Branch, ...]:
        """The part as a tuple, empty without it."""
        found = self.parts.get(part)
        if found is None:
            return ()
        return found if isinstance(found, tuple) else (found,)


@dataclass(frozen=True, slots=True)
class TermList:
    """The rows of VALUES, or the list of IN as one row; None is UNDEF.

    The grammar reads one term in its place: it takes a while for each, and lists are long.
    """

    rows: tuple[tuple[Leaf | None, ...], ...]


Branch = Tree | Leaf | TermList | str | tuple["Branch", ...]


def leaves(branch: Branch | None) -> Iterator[Leaf]:
    """The terms and variables below `branch`, in the order of the tree."""
    match branch:
        case Leaf():
            yield branch
        case Tree():
            for part in branch.parts.values():
                yield from leaves(part)
        case tuple():
            for item in branch:
                yield from leaves(item)
        case TermList(rows):
            yield from (leaf for row in rows for leaf in row if leaf is not None)
        case None | str():
            pass
        case _:
            assert_never(branch)
