"""The mutants of entailment: rules that are not applied, or to less."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

_MODULE = "sparql/algebra/rdfs"

ENTAILMENT_MUTANTS = (
    Mutant(
        "a domain counts for the property itself only",
        _MODULE,
        "Join(_lifted(subject, _OBJECT), _declared(DOMAIN)),",
        "",
    ),
    Mutant(
        "a range counts for the property itself only",
        _MODULE,
        "for way in (triples, Join(_lifted(_SUBJECT, _OBJECT), _declared(RANGE))):",
        "for way in (triples,):",
    ),
    Mutant(
        "a superproperty is one that is declared",
        _MODULE,
        "return Union(Extend(itself, _SUPER.name, _UP),"
        " PathPattern(_UP, _step(SUBPROPERTY), _SUPER))",
        "return Extend(itself, _SUPER.name, _UP)",
    ),
    Mutant(
        "a class is not below one that is a constant",
        _MODULE,
        "paths.Closure(paths.Link(SUBCLASS.term), 0))",
        "paths.ZeroOrOne(paths.Link(SUBCLASS.term)))",
    ),
    Mutant(
        "types do not follow where the predicate is a variable",
        _MODULE,
        "own = [(TYPE, way) for way in _typed(subject, object_)]",
        "own = []",
    ),
)
