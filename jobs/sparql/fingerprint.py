"""A fingerprint of what a query answers, whatever its prefixes, comments, order and labels."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from typing import assert_never

from jobs.sparql.algebra import (
    Ask,
    Bgp,
    Construct,
    Distinct,
    Filter,
    Node,
    Pattern,
    Project,
    Query,
    Select,
    TriplePattern,
)
from jobs.sparql.expressions import Expression, Variable, variables_of
from jobs.sparql.wire import encode

_Json = str | list["_Json"]


def fingerprint(query: Query) -> str:
    """SHA-256 of `normal_form`, hexadecimal."""
    return hashlib.sha256(normal_form(query).encode()).hexdigest()


def normal_form(query: Query) -> str:
    """The same text for queries that differ only in prefixes, white space, comments, the order of
    triple patterns and filters, blank node labels and presentation.

    Equal text means equal answers. The converse is not promised: a renamed variable is another
    query.
    """
    match query.form:
        case Select(pattern, variables):
            names = _blank_names(_triples(pattern))
            form: list[_Json] = ["SELECT", list(variables), _pattern(pattern, names)]
        case Ask(pattern):
            form = ["ASK", _pattern(pattern, _blank_names(_triples(pattern)))]
        case Construct(template, pattern):
            # A blank node of the template never occurs in the pattern.
            names = _blank_names((*_triples(pattern), *template))
            form = ["CONSTRUCT", _bgp(template, names), _pattern(pattern, names)]
        case _:
            assert_never(query.form)
    dataset: list[_Json] = sorted(set(query.dataset.from_graphs))
    return json.dumps([dataset or query.dataset.default_graph, form], ensure_ascii=False)


def _pattern(pattern: Pattern, names: dict[str, str]) -> _Json:
    match pattern:
        case Bgp(patterns):
            return ["BGP", *_bgp(patterns, names)]
        case Filter():
            conditions: list[str] = []
            inner: Pattern = pattern
            while isinstance(inner, Filter):
                conditions.append(_expression(inner.condition))
                inner = inner.pattern
            return ["FILTER", sorted(conditions), _pattern(inner, names)]
        case Project(variables, inner):
            return ["PROJECT", list(variables), _pattern(inner, names)]
        case Distinct(inner):
            return ["DISTINCT", _pattern(inner, names)]
        case _:
            assert_never(pattern)


def _bgp(patterns: Iterable[TriplePattern], names: dict[str, str]) -> list[_Json]:
    return sorted({_triple(pattern, names) for pattern in patterns})


def _triple(pattern: TriplePattern, names: dict[str, str]) -> str:
    return " ".join(_node(node, names) for node in pattern.nodes)


def _node(node: Node, names: dict[str, str]) -> str:
    if isinstance(node, Variable):
        return names.get(node.name, f"?{node.name}")
    return node.term


def _expression(expression: Expression) -> str:
    variables = sorted(variables_of(expression))
    return f"{encode(expression, variables)} {' '.join(variables)}"


def _triples(pattern: Pattern) -> tuple[TriplePattern, ...]:
    match pattern:
        case Bgp(patterns):
            return patterns
        case Filter(_, inner) | Project(_, inner) | Distinct(inner):
            return _triples(inner)
        case _:
            assert_never(pattern)


def _blank_names(patterns: tuple[TriplePattern, ...]) -> dict[str, str]:
    """A name for each blank node that depends on its place among the patterns, not on its label.

    Colour refinement: a node's colour is made of the triples it occurs in, with the colours of the
    others. Of nodes that still look alike one is marked, and the colours are refined again.
    """
    blanks = sorted({v for p in patterns for v in p.variables if v.startswith("_:")})
    colours = _refined(dict.fromkeys(blanks, "_:"), patterns)
    while len(set(colours.values())) < len(blanks):
        alike = Counter(colours.values())
        colour = min(colour for colour, count in alike.items() if count > 1)
        marked = next(blank for blank in blanks if colours[blank] == colour)
        colours = _refined({**colours, marked: f"{colour}'"}, patterns)
    ranked = sorted(blanks, key=lambda blank: colours[blank])
    return {blank: f"_:{rank}" for rank, blank in enumerate(ranked)}


def _refined(colours: dict[str, str], patterns: tuple[TriplePattern, ...]) -> dict[str, str]:
    """Colours refined until no more nodes are told apart."""
    while True:
        finer = {
            blank: _digest(
                colour,
                sorted(
                    _triple(pattern, {**colours, blank: "_:this"})
                    for pattern in patterns
                    if blank in pattern.variables
                ),
            )
            for blank, colour in colours.items()
        }
        if len(set(finer.values())) == len(set(colours.values())):
            return finer
        colours = finer


def _digest(colour: str, texts: list[str]) -> str:
    return "_:" + hashlib.sha256("\n".join([colour, *texts]).encode()).hexdigest()
