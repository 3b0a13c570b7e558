"""The state of translating one query: its source and prologue, names in use, counts of parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from weir.rdf.reserved_graphs import traversal_of
from weir.sparql.algebra.expressions import Constant
from weir.sparql.algebra.patterns import Pattern, Service
from weir.sparql.frontend.lexer import Token
from weir.sparql.frontend.prologue import Prologue
from weir.sparql.frontend.refusals import check_graph
from weir.sparql.frontend.source import Source
from weir.sparql.frontend.tree import Branch, Leaf, Tree

# Functions over an algebra recurse, and each part may nest it one level deeper.
MAX_PARTS = 128


@dataclass(slots=True)
class Translation:
    """What the functions that translate the parts of one query share.

    Attributes:
        source: the tokens, which give errors their line and column.
        prologue: what prefixed names and relative IRIs stand for.
        read_group: reads a group graph pattern; passed in, as groups and expressions
            contain each other.
        labels: the blank node labels of the basic graph patterns read so far.
        patterns: the number of triple and path patterns read so far.
        parts: the number of other parts of groups and query levels read so far.
        services: the blocks of SERVICE read so far, each with the token of its IRI.
        in_service: whether a block of SERVICE is being read.
        traversals: the traversals named so far, each with the token of its IRI.
    """

    source: Source
    prologue: Prologue
    read_group: Callable[[Tree, Translation], Pattern]
    labels: set[str] = field(default_factory=set)
    patterns: int = 0
    parts: int = 0
    services: list[tuple[Service, Token]] = field(default_factory=list)
    in_service: bool = False
    traversals: list[tuple[str, Token]] = field(default_factory=list)
    _taken: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self._taken = {token.text for token in self.source.tokens if token.kind == "blank"}

    def group(self, tree: Tree) -> Pattern:
        """The algebra of a group graph pattern."""
        return self.read_group(tree, self)

    def name_graph(self, name: Leaf) -> None:
        """Take note of the name of a graph.

        Raises:
            UnsupportedQuery: it is reserved.
        """
        check_graph(name, self.source)
        # What a block of SERVICE names are graphs of its remote.
        if isinstance(name.node, Constant) and not self.in_service:
            traversal = traversal_of(name.node.term)
            if traversal is not None:
                assert name.token is not None, "it is written"
                self.traversals.append((traversal, name.token))

    def count_part(self, part: Branch) -> None:
        """Count a filter, BIND, OPTIONAL, SELECT expression or the like.

        Raises:
            UnsupportedQuery: there are too many.
        """
        self.parts += 1
        if self.parts > MAX_PARTS:
            raise self.source.unsupported(
                "query",
                self.source.first_token(part),
                f"more than {MAX_PARTS} filters, groups and expressions",
                "Split it into several queries.",
            )

    def fresh(self, kind: str) -> str:
        """A new hidden variable `_:<kind><number>`."""
        name = next(n for n in (f"_:{kind}{i}" for i in count(1)) if n not in self._taken)
        self._taken.add(name)
        return name
