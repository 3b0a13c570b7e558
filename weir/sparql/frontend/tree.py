"""The syntax tree of a query, free of the parser's types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from weir.sparql.algebra.expressions import Constant, Variable
from weir.sparql.frontend.lexer import Token


@dataclass(frozen=True, slots=True)
class Leaf:
    """A variable, blank node or term; `token` is None if the syntax implies it (`a`, `[]`)."""

    node: Variable | Constant
    token: Token | None = None

    @property
    def is_signed(self) -> bool:
        """Whether it is a number with a sign."""
        return isinstance(self.node, Constant) and self.node.term[:2] in ('"-', '"+')

    def signed(self, sign: str) -> Leaf:
        """The number with `sign` before it."""
        assert isinstance(self.node, Constant), "a number is a constant"
        return Leaf(Constant(f'"{sign}{self.node.term[1:]}'), self.token)


@dataclass(frozen=True, slots=True)
class Tree:
    """A production of the grammar, named as rdflib's parser names it, and its parts."""

    name: str
    parts: Mapping[str, Branch]

    def get(self, part: str) -> Branch | None:
        """The part, or None if the production lacks it."""
        return self.parts.get(part)

    def all(self, part: str) -> tuple[Branch, ...]:
        """The part as a tuple, empty if the production lacks it."""
        branch = self.parts.get(part)
        if branch is None:
            return ()
        return branch if isinstance(branch, tuple) else (branch,)


@dataclass(frozen=True, slots=True)
class TermList:
    """The rows of VALUES, or the list of IN as one row; None is UNDEF.

    The grammar reads one placeholder for the whole list: it is slow per term, and lists are long.
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
