"""Group graph patterns: https://www.w3.org/TR/sparql11-query/#sparqlTranslateGraphPatterns."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from weir.sparql.algebra.expressions import Expression, Variable, conjunction
from weir.sparql.algebra.patterns import (
    Bgp,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    Minus,
    Pattern,
    Union,
)
from weir.sparql.algebra.scoping import variables_of
from weir.sparql.algebra.traversal import has_exists
from weir.sparql.frontend.expressions import read_expression
from weir.sparql.frontend.inline_data import read_values
from weir.sparql.frontend.query_levels import read_select
from weir.sparql.frontend.refusals import refusal
from weir.sparql.frontend.service_blocks import read_service
from weir.sparql.frontend.translation import Translation
from weir.sparql.frontend.tree import Leaf, Tree
from weir.sparql.frontend.triples_blocks import Atom, as_patterns, read_block

UNIT = Bgp(())
"""The pattern with one solution, which binds nothing: Z of the specification."""


def read_group(tree: Tree, translation: Translation) -> Pattern:
    """The algebra of a group graph pattern; its filters apply to the whole group."""
    if tree.name == "SubSelect":
        return read_select(tree, translation)[0]
    pattern, conditions = _read_parts(tree, translation)
    return _filtered(pattern, conditions)


def join(left: Pattern, right: Pattern) -> Pattern:
    """Join, simplified: the unit is left out, and two basic graph patterns become one.

    Basic graph patterns with filters are merged, too, if each binds all variables of its filters:
    then the filters may as well apply to the whole.
    """
    if UNIT in (left, right):
        return right if left == UNIT else left
    plain_left, plain_right = _plain(left), _plain(right)
    if plain_left is None or plain_right is None:
        return Join(left, right)
    (left_bgp, left_filters), (right_bgp, right_filters) = plain_left, plain_right
    return _filtered(
        Bgp((*left_bgp.patterns, *right_bgp.patterns)), [*left_filters, *right_filters]
    )


class _Parts:
    """The parts of one group, read from left to right."""

    def __init__(self, translation: Translation) -> None:
        self.translation = translation
        self.pattern: Pattern = UNIT
        self.conditions: list[Expression] = []
        # A basic graph pattern continues after a filter and ends at any other part.
        self._atoms: list[Atom] = []
        self._labels: set[str] = set()

    def end_block(self) -> None:
        """End a basic graph pattern: join the triples read since the last part of another kind."""
        self.pattern = reduce(join, as_patterns(self._atoms), self.pattern)
        self._atoms, self._labels = [], set()

    def triples(self, part: Tree) -> None:
        """Triples continue the basic graph pattern."""
        self._atoms += read_block(part, self._labels, self.translation)

    def filter(self, part: Tree) -> None:
        """A filter applies to the whole group, at any place in it."""
        self.conditions.append(read_expression(part.parts["expr"], self.translation))

    def alternatives(self, part: Tree) -> None:
        """A group, or groups with UNION between them."""
        groups = []
        for group in part.all("graph"):
            assert isinstance(group, Tree), "the grammar has a group here"
            self.translation.count_part(group)
            groups.append(self._group(group))
        self.pattern = join(self.pattern, reduce(Union, groups))

    def optional(self, part: Tree) -> None:
        """OPTIONAL: the filters of its group are the condition."""
        group = part.parts["graph"]
        assert isinstance(group, Tree), "OPTIONAL has a group"
        if group.name == "SubSelect":
            self.pattern = LeftJoin(self.pattern, self._group(group))
            return
        right, conditions = _read_parts(group, self.translation)
        self.pattern = LeftJoin(self.pattern, right, conjunction(conditions))

    def minus(self, part: Tree) -> None:
        """MINUS."""
        self.pattern = Minus(self.pattern, self._group(part.parts["graph"]))

    def graph(self, part: Tree) -> None:
        """GRAPH, WINDOW or SERVICE."""
        name, source = part.parts["term"], self.translation.source
        assert isinstance(name, Leaf), "GRAPH names an IRI or a variable"
        if name.token is not None and source.follows(name.token, "SERVICE", "SILENT"):
            self.pattern = join(self.pattern, read_service(part, self.translation))
            return
        self.translation.name_graph(name)
        inner = self._group(part.parts["graph"])
        self.pattern = join(self.pattern, Graph(name.node, inner))

    def bind(self, part: Tree) -> None:
        """BIND."""
        target = part.parts["var"]
        assert isinstance(target, Leaf), "BIND names a variable"
        assert isinstance(target.node, Variable), "BIND names a variable"
        if target.node.name in self.pattern.in_scope:
            raise self.translation.source.malformed(
                f"?{target.node.name}",
                target.token,
                "BIND assigns to a variable that the group before it may bind already",
                "Use a new variable.",
            )
        value = read_expression(part.parts["expr"], self.translation)
        self.pattern = Extend(self.pattern, target.node.name, value)

    def values(self, part: Tree) -> None:
        """VALUES."""
        self.pattern = join(self.pattern, read_values(part, self.translation.source))

    def _group(self, group: object) -> Pattern:
        assert isinstance(group, Tree), "the grammar has a group here"
        return read_group(group, self.translation)


_IN_BLOCK: dict[str, Callable[[_Parts, Tree], None]] = {
    "TriplesBlock": _Parts.triples,
    "Filter": _Parts.filter,
}
_OTHERS: dict[str, Callable[[_Parts, Tree], None]] = {
    "GroupOrUnionGraphPattern": _Parts.alternatives,
    "OptionalGraphPattern": _Parts.optional,
    "MinusGraphPattern": _Parts.minus,
    "GraphGraphPattern": _Parts.graph,
    "Bind": _Parts.bind,
    "InlineData": _Parts.values,
}


def _read_parts(tree: Tree, translation: Translation) -> tuple[Pattern, list[Expression]]:
    """The pattern of a group, and its filters."""
    if tree.name not in ("GroupGraphPatternSub", "FakeGroupGraphPatten"):
        raise refusal(tree.name, translation.source)
    parts = _Parts(translation)
    for part in tree.all("part"):
        assert isinstance(part, Tree), "the grammar has a production here"
        if part.name not in ("TriplesBlock", "GroupOrUnionGraphPattern"):
            translation.count_part(part)
        if part.name in _IN_BLOCK:
            _IN_BLOCK[part.name](parts, part)
        elif part.name in _OTHERS:
            parts.end_block()
            _OTHERS[part.name](parts, part)
        else:
            raise refusal(part.name, translation.source)
    parts.end_block()
    return parts.pattern, parts.conditions


def _filtered(pattern: Pattern, conditions: list[Expression]) -> Pattern:
    return reduce(lambda inner, condition: Filter(condition, inner), conditions, pattern)


def _plain(pattern: Pattern) -> tuple[Bgp, list[Expression]] | None:
    """`pattern` as a basic graph pattern and its filters in their order.

    None if it has other parts, or if the basic graph pattern does not bind all variables of the
    filters.
    """
    conditions: list[Expression] = []
    while isinstance(pattern, Filter):
        conditions.insert(0, pattern.condition)
        pattern = pattern.pattern
    if not isinstance(pattern, Bgp):
        return None
    bound = set(pattern.in_scope)
    if any(has_exists(condition) or variables_of(condition) - bound for condition in conditions):
        return None
    return pattern, conditions
