"""Patterns evaluated by trying every triple: what the algebra means, in a few lines."""

from __future__ import annotations

from collections.abc import Iterable

from jobs.sparql.algebra import Bgp, Distinct, Filter, Pattern, Project
from jobs.sparql.evaluate import holds
from jobs.sparql.expressions import Variable

Solution = dict[str, str]
Triple = tuple[str, str, str]


def solutions(pattern: Pattern, triples: Iterable[Triple]) -> list[Solution]:
    """The solutions of `pattern` over a set of triples, as a bag."""
    match pattern:
        case Bgp(patterns):
            graph = set(triples)
            found: list[Solution] = [{}]
            for wanted in patterns:
                found = [
                    extended
                    for solution in found
                    for triple in graph
                    if (extended := _extend(solution, wanted.nodes, triple)) is not None
                ]
            return found
        case Filter(condition, inner):
            return [s for s in solutions(inner, triples) if holds(condition, s)]
        case Project(variables, inner):
            kept = solutions(inner, triples)
            return [{v: s[v] for v in variables if v in s} for s in kept]
        case Distinct(inner):
            unique = {tuple(sorted(s.items())) for s in solutions(inner, triples)}
            return [dict(items) for items in unique]


def _extend(solution: Solution, nodes: Iterable[object], triple: Triple) -> Solution | None:
    extended = dict(solution)
    for node, term in zip(nodes, triple, strict=True):
        if isinstance(node, Variable):
            if extended.setdefault(node.name, term) != term:
                return None
        elif node.term != term:  # type: ignore[attr-defined]  # a Constant
            return None
    return extended
