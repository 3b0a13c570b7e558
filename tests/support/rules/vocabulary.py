"""The predicates of random programs, and the triples that their atoms are, by definition.

`p0`, .., `p3` are of a stream, `g1`, `g2`, `k1` of the graph, `f1`, `f2` have facts. The number is
that of the arguments. `o1` leaves an argument of `p2` out; `p3` is two triples.
"""

from __future__ import annotations

from collections.abc import Collection

from tests.support.generators.basic_cases import Triple
from tests.support.lars.definitions import fits
from tests.support.lars.programs import Counted, GroundAtom, Program, Value
from weir.lars.program import DeclaredAtom
from weir.lars.syntax import Place

NAMES = "http://example.org/"
_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"

STREAM = {"p0": 0, "p1": 1, "p2": 2, "p3": 3, "o1": 1}
GRAPH = {"g1": 1, "g2": 2, "k1": 1}
FACTS = {"f1": 1, "f2": 2}
ARITIES = STREAM | GRAPH | FACTS

DECLARED = (
    DeclaredAtom("p0", ":it a :p0", Place(1, 1)),
    DeclaredAtom("p3(X,Y,Z)", "?X :p3first ?Y ; :p3second ?Z", Place(1, 1)),
    DeclaredAtom("o1(Y)", "?X :p2 ?Y", Place(1, 1)),
    DeclaredAtom("g1(X)", "?X a :g1", Place(1, 1), "graph"),
    DeclaredAtom("g2(X,Y)", "?X :g2 ?Y", Place(1, 1), "graph"),
    DeclaredAtom("k1(X)", "?X :g2 ?Y", Place(1, 1), "graph"),
)
"""What is no default."""


def declared_for(program: Program) -> tuple[DeclaredAtom, ...]:
    """Those of them that a program reads."""
    read = {element.predicate for rule in program.rules for element in rule.elements}
    return tuple(atom for atom in DECLARED if atom.signature.partition("(")[0] in read)


def name(local: str) -> str:
    """The term of a name."""
    return f"<{NAMES}{local}>"


def term(value: Value) -> str:
    """The term of a constant."""
    return name(value) if isinstance(value, str) else f'"{value}"^^<{_INTEGER}>'


def value(term: str) -> Value:
    """The constant of a term."""
    if term.startswith("<"):
        return term.removeprefix(f"<{NAMES}").removesuffix(">")
    return int(term.split('"')[1])


def triples(predicate: str, *values: Value) -> list[Triple]:
    """The triples that make an atom hold; those of `o1` and `k1` are of others."""
    terms = [term(argument) for argument in values]
    match predicate, terms:
        case "p0", []:
            return [(name("it"), _TYPE, name("p0"))]
        case (("p1" | "g1"), [only]):
            return [(only, _TYPE, name(predicate))]
        case (("p2" | "g2"), [first, second]):
            return [(first, name(predicate), second)]
        case "p3", [first, second, third]:
            return [(first, name("p3first"), second), (first, name("p3second"), third)]
    raise ValueError(f"no triples of {predicate}")


def atoms_of(held: Collection[Triple]) -> set[GroundAtom]:
    """The atoms that some triples make together."""
    atoms: set[GroundAtom] = set()
    for subject, predicate, object_ in held:
        local = object_ if predicate == _TYPE else predicate
        match str(value(local)):
            case "p0":
                if subject == name("it"):
                    atoms.add(("p0", ()))
            case "p1" | "g1" as kind:
                atoms.add((kind, (value(subject),)))
            case "p2" | "g2" as kind:
                atoms.add((kind, (value(subject), value(object_))))
                atoms.add(("o1", (value(object_),)) if kind == "p2" else ("k1", (value(subject),)))
            case "p3first":
                atoms |= {
                    ("p3", (value(subject), value(object_), value(third)))
                    for other, second, third in held
                    if other == subject and second == name("p3second")
                }
    return atoms


def counts(counted: Counted, triple: Triple) -> bool:
    """Whether a triple is one of those that make some atoms of the stream."""
    subject, predicate, object_ = triple
    local = str(value(object_ if predicate == _TYPE else predicate))
    if counted.predicate == "p0":
        return subject == name("it") and local == "p0"
    wanted = counted.arguments or (None,) * STREAM[counted.predicate]
    match counted.predicate, local:
        case ("p1", "p1"):
            return fits(wanted, (value(subject),))
        case ("p2", "p2"):
            return fits(wanted, (value(subject), value(object_)))
        case ("o1", "p2"):
            return fits(wanted, (value(object_),))
        case ("p3", "p3first"):
            return fits(wanted[:2], (value(subject), value(object_)))
        case ("p3", "p3second"):
            return fits(wanted[::2], (value(subject), value(object_)))
    return False
