"""Values of programs as RDF terms, and triples of streams as atoms."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from tests.support.generators.basic_cases import Triple
from tests.support.lars.programs import GroundAtom, Value, Var

NAMESPACE = "http://example.org/"
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"

PatternNode = Var | str
"""A variable, or a term in N-Triples form."""
TriplePattern = tuple[PatternNode, PatternNode, PatternNode]


def term(value: Value) -> str:
    """The term of a name or number, in N-Triples form."""
    return f'"{value}"^^<{INTEGER}>' if isinstance(value, int) else f"<{NAMESPACE}{value}>"


def value(written: str) -> Value:
    """The name or number of a term."""
    if written.startswith("<"):
        return written.removeprefix(f"<{NAMESPACE}").removesuffix(">")
    return int(written.split('"')[1])


def row(atom: GroundAtom) -> tuple[str, ...]:
    """An atom as a row of an answer: its predicate, and its arguments as terms."""
    predicate, values = atom
    return (predicate, *map(term, values))


def atoms(
    patterns: Mapping[str, tuple[Sequence[Var], Sequence[TriplePattern]]],
    triples: Collection[Triple],
) -> frozenset[GroundAtom]:
    """The atoms that a set of triples makes.

    Args:
        patterns: by predicate, the arguments and the triple patterns.
        triples: the set.
    """
    made: set[GroundAtom] = set()
    for predicate, (arguments, pattern) in patterns.items():
        solutions: list[dict[str, str]] = [{}]
        for matching in pattern:
            solutions = [
                extended
                for before in solutions
                for triple in triples
                if (extended := _matched(matching, triple, before)) is not None
            ]
        made |= {
            (predicate, tuple(value(by[argument.name]) for argument in arguments))
            for by in solutions
        }
    return frozenset(made)


def is_match(triple: Triple, pattern: TriplePattern, known: Mapping[Var, str]) -> bool:
    """Whether a triple matches a pattern in which some variables have terms."""
    return _matched(pattern, triple, {v.name: term_ for v, term_ in known.items()}) is not None


def _matched(
    pattern: TriplePattern, triple: Triple, before: Mapping[str, str]
) -> dict[str, str] | None:
    by = dict(before)
    for node, written in zip(pattern, triple, strict=True):
        if isinstance(node, Var):
            if by.setdefault(node.name, written) != written:
                return None
        elif node != written:
            return None
    return by
