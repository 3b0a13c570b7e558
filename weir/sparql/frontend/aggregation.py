"""Aggregates inside expressions: https://www.w3.org/TR/sparql11-query/#sparqlAlgebraAggregates."""

from __future__ import annotations

from dataclasses import dataclass, field

from weir.rdf import terms
from weir.sparql.algebra.expressions import Constant, Expression, Variable
from weir.sparql.algebra.patterns import Aggregate
from weir.sparql.algebra.traversal import map_arguments
from weir.sparql.frontend.lexer import Token
from weir.sparql.frontend.source import Source
from weir.sparql.frontend.translation import Translation
from weir.sparql.frontend.tree import Branch, Leaf, Tree

FUNCTIONS = {
    "Aggregate_Count": "COUNT",
    "Aggregate_Sum": "SUM",
    "Aggregate_Avg": "AVG",
    "Aggregate_Min": "MIN",
    "Aggregate_Max": "MAX",
    "Aggregate_Sample": "SAMPLE",
    "Aggregate_GroupConcat": "GROUP_CONCAT",
}
"""The aggregate of each production of the grammar."""


@dataclass(slots=True)
class Aggregates:
    """The aggregates of one query level, each once; `names` has the hidden variable of each."""

    translation: Translation
    names: dict[Aggregate, str] = field(default_factory=dict)

    def variable(self, aggregate: Aggregate) -> Variable:
        """The variable that holds the value of `aggregate`."""
        if aggregate not in self.names:
            self.names[aggregate] = self.translation.fresh("agg")
        return Variable(self.names[aggregate])

    def items(self) -> tuple[tuple[str, Aggregate], ...]:
        """The hidden variables and their aggregates, as `Group` takes them."""
        return tuple((name, aggregate) for aggregate, name in self.names.items())

    def sampled(self, expression: Expression, many: frozenset[str]) -> Expression:
        """`expression` with SAMPLE of the variables in `many`, which have many values per group."""
        if isinstance(expression, Variable) and expression.name in many:
            return self.variable(Aggregate("SAMPLE", expression))
        return map_arguments(expression, lambda argument: self.sampled(argument, many))


def read_aggregate(tree: Tree, argument: Expression | None, source: Source) -> Aggregate:
    """The aggregate of a syntax tree; `argument` is None for COUNT(*)."""
    separator = tree.get("separator")
    text = " " if separator is None else _string(separator, source)
    return Aggregate(FUNCTIONS[tree.name], argument, bool(tree.all("distinct")), text)


def place_of(tree: Tree, source: Source) -> Token | None:
    """The keyword of an aggregate."""
    return source.word_before(source.first_token(tree), FUNCTIONS[tree.name])


def _string(branch: Branch, source: Source) -> str:
    assert isinstance(branch, Leaf), "a separator is a term"
    assert isinstance(branch.node, Constant), "a separator is a term"
    term = terms.parse_term(branch.node.term)
    is_string = branch.token is not None and branch.token.kind == "string"
    if not is_string or not isinstance(term, terms.Literal) or term.datatype != terms.XSD_STRING:
        raise source.malformed("SEPARATOR", branch.token, "a separator must be a plain string")
    return term.lexical
