"""The columns of a query's variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from weir.sparql.algebra.expressions import Variable
from weir.sparql.algebra.patterns import Node, TriplePattern
from weir.sparql.algebra.scoping import is_hidden


class Columns:
    """Numbers the variables of one query in order of first use.

    SPARQL's names are case-sensitive and column names are not, so a column is called `v<number>`.
    """

    def __init__(self) -> None:
        self._names: list[str] = []
        self._numbers: dict[str, int] = {}

    @contextmanager
    def hidden(self, columns: Iterable[str]) -> Iterator[None]:
        """Within, the variables of these columns are other variables, with columns of their own."""
        outside, hidden = self._numbers, set(columns)
        self._numbers = {n: i for n, i in outside.items() if f"v{i}" not in hidden}
        yield
        self._numbers = self._numbers | outside

    @property
    def names(self) -> tuple[str, ...]:
        """The SPARQL name of each column."""
        return tuple(self._names)

    def column(self, name: str) -> str:
        """The column of a variable."""
        if name not in self._numbers:
            self._numbers[name] = len(self._names)
            self._names.append(name)
        return f"v{self._numbers[name]}"

    def variable(self, column: str) -> str | None:
        """The variable whose column this is; None if it is hidden, or a `fresh` column."""
        number = int(column[1:])
        name = self._names[number]
        return name if self._numbers.get(name) == number else None

    def place(self, column: str) -> tuple[bool, str]:
        """Sort key: columns by name, those that no query can name last."""
        name = self._names[int(column[1:])]
        return is_hidden(name), name

    def fresh(self, name: str) -> str:
        """A new column of no variable, even if a variable of that name exists."""
        self._names.append(name)
        return f"v{len(self._names) - 1}"

    def node(self, node: Node) -> Node:
        """A constant as it is, a variable as its column."""
        return Variable(self.column(node.name)) if isinstance(node, Variable) else node

    def pattern(self, pattern: TriplePattern) -> TriplePattern:
        """A triple pattern over columns."""
        subject, predicate, object_ = (self.node(node) for node in pattern.nodes)
        return TriplePattern(subject, predicate, object_)
