"""Patterns of atoms: which triples of a stream or of the graph make an atom.

v(u) has an atom for each solution of its pattern over the set of triples at the point u; for a
background atom, over the graph.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from weir.lars.errors import ProgramSyntaxError, UnsupportedProgram
from weir.lars.predicates import Predicate
from weir.lars.syntax import Place
from weir.lars.terms import Namespaces
from weir.sparql.algebra.expressions import Constant, Variable
from weir.sparql.algebra.patterns import Bgp, Project, TriplePattern
from weir.sparql.algebra.queries import Construct, Select

RDF_TYPE = Constant("<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>")

_TRIPLE = 3
"""The arguments of an atom that is a triple."""
_SIGNATURE = re.compile(
    r"\s*([a-z][A-Za-z0-9_]*)\s*(?:\(\s*([A-Z]\w*)\s*(?:,\s*([A-Z]\w*)\s*)?(?:,\s*([A-Z]\w*)\s*)?\))?\s*"
)


@dataclass(frozen=True, slots=True)
class Signature:
    """A predicate with names for its arguments: `temp(S,V)`."""

    predicate: str
    arguments: tuple[str, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class AtomPattern:
    """The triples of an atom.

    Attributes:
        predicate: of the atom.
        arguments: the variables of `triples` that are the atom's arguments, in order; its other
            variables may have any value.
        triples: a basic graph pattern.
        origin: whether it matches triples at one point of the program's streams, or of the graph.
    """

    predicate: str
    arguments: tuple[str, ...]
    triples: tuple[TriplePattern, ...]
    origin: Literal["stream", "graph"]


def read_signature(text: str, place: Place, file: str) -> Signature:
    """The signature in a key of the front matter, such as `p` or `p(X)`.

    Raises:
        ProgramSyntaxError: it is not a signature, or has a variable twice.
    """
    match = _SIGNATURE.fullmatch(text)
    names = [name for name in match.groups()[1:] if name] if match else []
    if match is None or len({*names}) < len(names):
        raise ProgramSyntaxError(
            text,
            file,
            place,
            "not a predicate with up to three variables that differ",
            'Write "temp(S,V)".',
        )
    return Signature(match[1], tuple(names), place)


def declared_pattern(
    signature: Signature,
    pattern: str,
    origin: Literal["stream", "graph"],
    prefixes: Mapping[str, str],
    file: str,
) -> AtomPattern:
    """The pattern that the front matter declares for an atom.

    Args:
        signature: of the atom.
        pattern: a basic graph pattern of SPARQL, with the arguments as variables.
        origin: whether it is matched with a stream or the graph.
        prefixes: IRIs by prefix, without its colon.
        file: name of the program's file, for errors.

    Raises:
        ProgramError: it is not a basic graph pattern, or lacks an argument.
    """
    triples = _triples(
        f"SELECT * WHERE {{ {pattern}\n }}", pattern, signature.place, prefixes, file
    )
    names = {name for triple in triples for name in triple.variables}
    for name in signature.arguments:
        if name not in names:
            raise ProgramSyntaxError(
                pattern, file, signature.place, f"it does not have ?{name}", f"Write ?{name} in it."
            )
    return AtomPattern(signature.predicate, signature.arguments, triples, origin)


def default_pattern(predicate: Predicate, namespaces: Namespaces) -> AtomPattern:
    """The pattern of an undeclared atom: `?X a :p` for `p(X)`, `?X :p ?Y` for `p(X,Y)`.

    Of the graph, `p(X,Y,Z)` is any triple.

    Raises:
        ProgramError: it has another number of arguments, or names have no namespace.
    """
    name, origin = predicate.name, predicate.origin
    assert origin in ("stream", "graph"), "its atoms are read"
    x, y, z = Variable("X"), Variable("Y"), Variable("Z")
    if predicate.arity == _TRIPLE and origin == "graph":
        return AtomPattern(name, ("X", "Y", "Z"), (TriplePattern(x, y, z),), origin)
    if predicate.arity not in (1, 2):
        signature = f"{name}(X,Y,Z)" if predicate.arity else name
        raise UnsupportedProgram(
            name,
            namespaces.file,
            predicate.place,
            f"nothing says which triples are an atom with {predicate.arity} arguments",
            f'Say it in the front matter: atoms: {{"{signature}": "a pattern of SPARQL"}}.',
        )
    iri = namespaces.of_name(name, predicate.place)
    if predicate.arity == 1:
        return AtomPattern(name, ("X",), (TriplePattern(x, RDF_TYPE, iri),), origin)
    return AtomPattern(name, ("X", "Y"), (TriplePattern(x, iri, y),), origin)


def instance(pattern: AtomPattern, terms: Sequence[str]) -> tuple[TriplePattern, ...]:
    """The triples of the atoms of a pattern that have some terms.

    Args:
        pattern: of the atoms.
        terms: of the arguments, each empty for any; none if all may be any.
    """
    values = {name: term for name, term in zip(pattern.arguments, terms, strict=False) if term}

    def filled(node: Constant | Variable) -> Constant | Variable:
        if isinstance(node, Variable) and node.name in values:
            return Constant(values[node.name])
        return node

    return tuple(TriplePattern(*map(filled, triple.nodes)) for triple in pattern.triples)


def template(
    signature: Signature, triples: str, prefixes: Mapping[str, str], file: str
) -> tuple[TriplePattern, ...]:
    """The triples as which an atom is written back, with its arguments as variables.

    Raises:
        ProgramError: they are not a template of CONSTRUCT, or have another variable or a blank
            node.
    """
    place = signature.place
    patterns = _triples(f"CONSTRUCT {{ {triples}\n }} WHERE {{}}", triples, place, prefixes, file)
    for name in (name for pattern in patterns for name in pattern.variables):
        if name not in signature.arguments:
            shown = name if name.startswith("_:") else f"?{name}"
            raise ProgramSyntaxError(
                triples,
                file,
                place,
                f"{shown} is no argument of {signature.predicate}",
                "The variables of the triples are the arguments of the atom.",
            )
    return patterns


def _triples(
    query: str, shown: str, place: Place, prefixes: Mapping[str, str], file: str
) -> tuple[TriplePattern, ...]:
    # rdflib's grammar takes long to import, and cached programs do not need it.
    from weir.sparql.frontend.errors import QueryError
    from weir.sparql.frontend.translate import translate

    prologue = "".join(f"PREFIX {name}: <{iri}> " for name, iri in prefixes.items())
    try:
        form = translate(prologue + query).form
    except QueryError as error:
        reason = f"{error.construct}: {error.reason}"
        hint = "Write triple patterns of SPARQL."
        raise ProgramSyntaxError(shown, file, place, reason, hint) from error
    if isinstance(form, Construct):
        return form.template
    match form.pattern if isinstance(form, Select) else None:
        case Project(_, Bgp(triples)) if triples:
            return triples
    raise UnsupportedProgram(
        shown,
        file,
        place,
        "not a basic graph pattern",
        "Write triple patterns of SPARQL, without FILTER, OPTIONAL and paths.",
    )
