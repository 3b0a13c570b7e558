"""Query forms and group graph patterns: syntax tree to algebra.

https://www.w3.org/TR/sparql11-query/#sparqlQuery
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from jobs.sparql.algebra import (
    Ask,
    Bgp,
    Construct,
    Dataset,
    Distinct,
    Filter,
    Node,
    Pattern,
    Project,
    Query,
    Select,
    TriplePattern,
)
from jobs.sparql.conditions import expression
from jobs.sparql.expressions import Constant, Expression, Variable, variables_of
from jobs.sparql.positions import Token
from jobs.sparql.refusals import refusal
from jobs.sparql.tree import Branch, Leaf, Source, Tree

MAX_PATTERNS = 64


def query(
    tree: Tree,
    source: Source,
    base: str | None,
    default_graph: Literal["union", "default"],
    text: str,
) -> Query:
    """The algebra of a whole query.

    Raises:
        QuerySyntaxError: something the grammar allows and its notes forbid.
        UnsupportedQuery: a production that is not in the tables of this module.
    """
    if tree.name not in _FORMS:
        raise refusal(tree.name, source)
    for modifier in ("groupby", "having", "limitoffset", "valuesClause"):
        if tree.get(modifier) is not None:
            raise refusal(modifier, source)
    dataset = Dataset(default_graph, _from_graphs(tree, source))
    form = _FORMS[tree.name](tree, _Groups(source, base))
    return Query(form, dataset, _presentation(tree, source, base, text))


def _from_graphs(tree: Tree, source: Source) -> tuple[str, ...]:
    graphs: list[str] = []
    for clause in tree.all("datasetClause"):
        assert isinstance(clause, Tree), "the grammar has a production here"
        named = clause.get("default")
        if named is None:
            raise refusal("FromNamed", source)
        assert isinstance(named, Leaf), "FROM names an IRI"
        assert isinstance(named.node, Constant), "FROM names an IRI"
        graphs.append(named.node.term)
    return tuple(dict.fromkeys(graphs)) or None


def _presentation(tree: Tree, source: Source, base: str | None, text: str) -> tuple[str, ...]:
    notes = ["REDUCED"] if tree.get("modifier") == "REDUCED" else []
    order = tree.get("orderby")
    if isinstance(order, Tree):
        for condition in order.all("condition"):
            assert isinstance(condition, Tree), "the grammar has a production here"
            expression(condition.parts["expr"], source, base)
        start = next(
            token
            for token, following in zip(source.tokens, source.tokens[1:], strict=False)
            if token.is_word("ORDER") and following.is_word("BY")
        )
        notes.append(" ".join(text[start.offset : source.tokens[-1].end].split()))
    return tuple(notes)


@dataclass(frozen=True, slots=True)
class _Group:
    """A flattened group: its triple patterns as one basic graph pattern, and its filters."""

    patterns: tuple[TriplePattern, ...]
    conditions: tuple[Expression, ...]

    @property
    def variables(self) -> frozenset[str]:
        """The variables that every solution binds."""
        return frozenset(name for pattern in self.patterns for name in pattern.variables)

    @property
    def algebra(self) -> Pattern:
        """Filter*(Bgp)."""
        pattern: Pattern = Bgp(self.patterns)
        for condition in self.conditions:
            pattern = Filter(condition, pattern)
        return pattern


class _Groups:
    """Translates the groups of one query; remembers which blank node labels have been used."""

    def __init__(self, source: Source, base: str | None) -> None:
        self.source, self._base = source, base
        self._labels: set[str] = set()

    def where(self, tree: Tree) -> _Group:
        """The WHERE clause, flattened and within the limits."""
        found = tree.get("where")
        group = self._group(found) if isinstance(found, Tree) else _Group((), ())
        if not group.patterns:
            raise self.source.unsupported(
                "WHERE",
                None,
                "without a triple pattern its answer never changes",
                "Write a pattern.",
            )
        if len(group.patterns) > MAX_PATTERNS:
            raise self.source.unsupported(
                "WHERE",
                self.source.first_word("WHERE"),
                f"{len(group.patterns)} triple patterns are more than {MAX_PATTERNS}",
                "Split it into several queries.",
            )
        return group

    def triples(self, flat: Branch) -> tuple[TriplePattern, ...]:
        """Triple patterns from a flat sequence of subjects, predicates and objects."""
        assert isinstance(flat, tuple), "the parser gives a sequence"
        if len(flat) % 3:
            raise self.source.malformed("triple pattern", None, "an incomplete triple")
        return tuple(self._triple(*flat[i : i + 3]) for i in range(0, len(flat), 3))

    def _group(self, tree: Tree) -> _Group:
        """Join the parts of a group.

        Join(Bgp, Bgp) is the Bgp of both. A filter of an inner group may be applied to the whole
        only if it sees the same there: all its variables are bound inside.
        """
        if tree.name not in ("GroupGraphPatternSub", "FakeGroupGraphPatten"):
            raise refusal(tree.name, self.source)
        patterns: list[TriplePattern] = []
        own: list[Expression] = []
        inner: list[Expression] = []
        # A basic graph pattern goes on over filters and ends at anything else.
        labels: set[str] = set()
        for part in tree.all("part"):
            assert isinstance(part, Tree), "the grammar has a production here"
            match part.name:
                case "TriplesBlock":
                    block = [p for flat in part.all("triples") for p in self.triples(flat)]
                    labels = self._continue_labels(labels, block)
                    patterns += block
                case "Filter":
                    own.append(expression(part.parts["expr"], self.source, self._base))
                case "GroupOrUnionGraphPattern":
                    nested = self._nested(part)
                    patterns += nested.patterns
                    inner += nested.conditions
                    labels = set()
                case _:
                    raise refusal(part.name, self.source)
        return _Group(tuple(patterns), (*inner, *own))

    def _nested(self, part: Tree) -> _Group:
        alternatives = part.all("graph")
        if len(alternatives) != 1:
            raise refusal("Union", self.source)
        (only,) = alternatives
        assert isinstance(only, Tree), "the grammar has a production here"
        group = self._group(only)
        for condition in group.conditions:
            unseen = sorted(variables_of(condition) - group.variables)
            if unseen:
                raise self.source.unsupported(
                    "FILTER",
                    self.source.first_word("FILTER"),
                    f"in its group ?{unseen[0]} is not bound; a filter sees only its own group",
                    "Move the FILTER into the outer group.",
                )
        return group

    def _continue_labels(self, labels: set[str], block: list[TriplePattern]) -> set[str]:
        """The labels of the basic graph pattern that `block` continues.

        A label may not occur in two: https://www.w3.org/TR/sparql11-query/#grammarBNodes.
        """
        here = {name for p in block for name in p.variables if name.startswith("_:")}
        again = sorted((here & self._labels) - labels)
        if again:
            raise self.source.malformed(
                again[0],
                self.source.first_variable(again[0]),
                "the label of a blank node is used in two basic graph patterns",
                "Use a variable.",
            )
        self._labels |= here
        return labels | here

    def _triple(self, subject: Branch, predicate: Branch, object_: Branch) -> TriplePattern:
        subject_node = self._node(subject)
        if isinstance(subject, Leaf) and subject.is_literal:
            raise self.source.unsupported(
                subject.token.text if subject.token else "literal",
                subject.token,
                "no triple has a literal as its subject",
                "Leave the pattern out: it never matches.",
            )
        return TriplePattern(subject_node, self._predicate(predicate), self._node(object_))

    def _node(self, branch: Branch) -> Node:
        assert isinstance(branch, Leaf), "subjects and objects are terms"
        # rdflib drops a plus; a minus is there already.
        if self.source.sign_of(branch) == "+":
            return branch.signed("+").node
        return branch.node

    def _predicate(self, branch: Branch) -> Node:
        """A variable or an IRI; the grammar wraps an IRI as a path of one step."""
        found = branch
        while isinstance(found, Tree):
            steps = found.all("part")
            plain = found.name in ("PathAlternative", "PathSequence", "PathElt")
            if not plain or len(steps) != 1 or found.get("mod"):
                raise refusal("path", self.source, _first_token(found))
            found = steps[0]
        assert isinstance(found, Leaf), "a path ends in an IRI"
        return found.node


def _first_token(branch: Branch) -> Token | None:
    """The first token below `branch`."""
    match branch:
        case Leaf():
            return branch.token
        case Tree():
            below = (_first_token(part) for part in branch.parts.values())
        case tuple():
            below = (_first_token(item) for item in branch)
        case str():
            return None
    found = [token for token in below if token is not None]
    return min(found, key=lambda token: token.offset) if found else None


def _select(tree: Tree, groups: _Groups) -> Select:
    group = groups.where(tree)
    projection = tree.all("projection")
    names: list[str] = []
    for item in projection:
        assert isinstance(item, Tree), "the grammar has a production here"
        chosen = item.get("var")
        if not isinstance(chosen, Leaf) or not isinstance(chosen.node, Variable):
            raise refusal("expression", groups.source)
        names.append(chosen.node.name)
    if not projection:
        names = _in_order_of_appearance(group.variables, groups.source)
    variables = tuple(dict.fromkeys(names))
    pattern: Pattern = Project(variables, group.algebra)
    if tree.get("modifier") == "DISTINCT":
        pattern = Distinct(pattern)
    return Select(pattern, variables)


def _in_order_of_appearance(names: frozenset[str], source: Source) -> list[str]:
    seen = (token.text[1:] for token in source.tokens if token.kind == "variable")
    return [name for name in dict.fromkeys(seen) if name in names]


def _ask(tree: Tree, groups: _Groups) -> Ask:
    return Ask(groups.where(tree).algebra)


def _construct(tree: Tree, groups: _Groups) -> Construct:
    group = groups.where(tree)
    where = tree.get("where")
    if isinstance(where, Tree) and where.name == "FakeGroupGraphPatten":
        template = group.patterns
    else:
        template = tuple(p for flat in tree.all("template") for p in groups.triples(flat))
    if not template:
        raise groups.source.unsupported(
            "CONSTRUCT", None, "an empty template makes no triple", "Write a template."
        )
    return Construct(_with_own_labels(template, group.variables), group.algebra)


def _with_own_labels(
    template: tuple[TriplePattern, ...], taken: frozenset[str]
) -> tuple[TriplePattern, ...]:
    """`template` with blank nodes of its own: they are new for each solution."""

    def own(node: Node) -> Node:
        if not isinstance(node, Variable) or not node.name.startswith("_:"):
            return node
        name = node.name
        while name in taken:
            name += ".new"
        return Variable(name)

    return tuple(TriplePattern(*(own(node) for node in pattern.nodes)) for pattern in template)


_FORMS: dict[str, Callable[[Tree, _Groups], Select | Ask | Construct]] = {
    "SelectQuery": _select,
    "AskQuery": _ask,
    "ConstructQuery": _construct,
}
