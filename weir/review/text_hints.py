"""Hints that follow from the text of a query alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from weir.definitions.definition import Definition
from weir.definitions.query import QueryBody
from weir.plan.leaves import Component, Values
from weir.plan.operators import Group, PlanNode, Product, walk
from weir.review.finding import Finding
from weir.review.written_terms import WrittenTerms
from weir.sparql.algebra.expressions import Constant
from weir.sparql.algebra.patterns import Distinct, Pattern, Project, Reduced, Slice
from weir.sparql.algebra.queries import Construct, Select
from weir.sparql.algebra.scoping import is_hidden
from weir.sparql.frontend.lexer import Token


def text_hints(query: Definition, body: QueryBody, terms: WrittenTerms) -> Iterator[Finding]:
    """Prefixes that nothing uses, columns that nothing binds, parts without a shared variable."""
    for token in terms.unused_prefixes():
        yield hint_at(query, token, f"the prefix {token.text} is not used", "Delete it.")
    for name in _unbound(query, body):
        yield hint_at(
            query,
            terms.variable(name),
            f"?{name} is a column, and no pattern binds it: it is empty in every row",
            "Correct its name, or leave it out.",
        )
    if body.plan.allow_product:
        return
    for parts in _products(body):
        last = next((name for name in reversed(parts) if name), ())
        yield hint_at(
            query,
            terms.variable(last[0]) if last else None,
            f"{' and '.join(', '.join(f'?{n}' for n in part) or 'a part' for part in parts)} share"
            " no variable: each solution of one part is combined with each of the others",
            "Join the parts by a variable, or write `#+ allow_product: true`.",
        )


def hint_at(query: Definition, token: Token | None, what: str, hint: str) -> Finding:
    """A hint about a place in the text of a query; about the file, if the place is not known."""
    line, column = (None, None) if token is None else (token.line, token.column)
    return Finding("hint", what, str(query.file), line, column, hint)


def _unbound(query: Definition, body: QueryBody) -> list[str]:
    # rdflib's grammar takes its time to import.
    from weir.sparql.frontend.translate import translate

    said = body.compiled.front_matter
    algebra = translate(query.text, said.default_graph, str(query.file))
    match algebra.form:
        case Select(pattern, variables):
            named, bound = variables, {*_projected(pattern).in_scope}
        case Construct(template, pattern):
            named = tuple(dict.fromkeys(n for triple in template for n in triple.variables))
            bound = {*pattern.in_scope}
        case _:
            return []
    return [name for name in named if name not in bound and not is_hidden(name)]


def _projected(pattern: Pattern) -> Pattern:
    """What SELECT projects the solutions of."""
    while isinstance(pattern, Distinct | Reduced | Slice):
        pattern = pattern.pattern
    return pattern.pattern if isinstance(pattern, Project) else pattern


def _products(body: QueryBody) -> Iterator[list[tuple[str, ...]]]:
    """The variables of the parts of each product of several parts that may have many rows."""
    plan = body.plan
    for node in plan.ids:
        if not isinstance(node, Product):
            continue
        parts = [part for part in node.children if not _is_small(part)]
        # What is said of one thing, as `:vase :title ?t ; :room ?r`, is meant to be combined.
        about = [_constants(part) for part in parts]
        if any(one.isdisjoint(other) for one, other in combinations(about, 2)):
            names = [[plan.names[int(column[1:])] for column in part.variables] for part in parts]
            yield [tuple(name for name in part if not is_hidden(name)) for part in names]


def _constants(part: PlanNode) -> frozenset[str]:
    """The terms that its patterns name as subject or object."""
    return frozenset(
        node.term
        for component in walk(part)
        if isinstance(component, Component)
        for pattern in component.patterns
        for node in (pattern.subject, pattern.object)
        if isinstance(node, Constant)
    )


def _is_small(part: PlanNode) -> bool:
    """Whether a part has few rows, however large the graph is."""
    while part.children and not isinstance(part, Group):
        if len(part.children) > 1:
            return False
        (part,) = part.children
    return (
        isinstance(part, Values) or not part.variables or (isinstance(part, Group) and part.always)
    )
