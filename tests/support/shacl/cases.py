"""Random shapes graphs, and histories of data that break them and keep them.

Of each kind of constraint there are some; shapes nest up to three levels. What is left out is in
which validators are known to differ: literals that are ill-formed or not canonical, dates beside
numbers, and `sh:lessThan` but between numbers: pySHACL orders IRIs, blank nodes and texts with
languages, too, which SPARQL cannot compare. What Jena validates in another way is in
`tests/support/shacl/jena.py`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Quad = tuple[str, str, str, str]
Change = tuple[frozenset[Quad], frozenset[Quad]]

_PREFIXES = """\
@prefix : <http://x/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_SUBCLASS = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
_NODES = ("n1", "n2", "n3", "n4")
_PREDICATES = ("p", "q", "r")
_CLASSES = ("A", "B", "C")
_XSD = "http://www.w3.org/2001/XMLSchema#"
_LITERALS = (
    '"1"',
    '"ab"',
    '"abc"@en',
    '"abc"@de',
    '"b"@en',
    f'"1"^^<{_XSD}integer>',
    f'"7"^^<{_XSD}integer>',
    f'"2.5"^^<{_XSD}decimal>',
)
_NUMBERS = (*_LITERALS[5:8], f'"0.5"^^<{_XSD}decimal>', f'"3"^^<{_XSD}integer>')
_SUBCLASSES: frozenset[Quad] = frozenset(
    ("", f"<http://x/{one}>", _SUBCLASS, f"<http://x/{other}>") for one, other in ("BA", "CB")
)
_EPOCHS = 4


@dataclass(frozen=True, slots=True)
class ShapesCase:
    """Shapes as Turtle, and a history of data: per epoch, the quads that vanish and that appear.

    `subclasses`: those that the shapes declare instead of the data, if there are any.
    """

    shapes: str
    history: tuple[Change, ...]
    subclasses: frozenset[Quad] = frozenset()

    def states(self) -> list[frozenset[Quad]]:
        """The data at each epoch."""
        state: frozenset[Quad] = frozenset()
        states = []
        for vanish, appear in self.history:
            state = (state - vanish) | appear
            states.append(state)
        return states


def shapes_case(seed: int) -> ShapesCase:
    """The case of a seed."""
    rng = random.Random(seed)
    shapes = "".join(_shape(rng, f":S{i}") for i in range(rng.randint(1, 3)))
    return ShapesCase(_PREFIXES + shapes, _history(rng))


def with_own_subclasses(case: ShapesCase) -> ShapesCase:
    """A case whose shapes declare the subclasses, and whose data has none."""

    def others(quads: frozenset[Quad]) -> frozenset[Quad]:
        return frozenset(quad for quad in quads if quad[2] != _SUBCLASS)

    history = tuple((others(vanish), others(appear)) for vanish, appear in case.history)
    shapes = case.shapes + as_turtle(_SUBCLASSES)
    return ShapesCase(shapes, history, _SUBCLASSES)


def as_turtle(quads: frozenset[Quad]) -> str:
    """Quads of the unnamed graph as N-Triples."""
    return "".join(f"{s} {p} {o} .\n" for _, s, p, o in sorted(quads))


def _shape(rng: random.Random, name: str) -> str:
    if rng.random() < 0.3:
        body = [f"a sh:PropertyShape ; sh:path {_path(rng)}", *_constraints(rng, 2, has_path=True)]
    else:
        body = ["a sh:NodeShape", *_constraints(rng, 2, has_path=False)]
    targets = [_target(rng) for _ in range(rng.randint(1, 2))]
    return f"{name} {' ; '.join([*body, *targets, *_settings(rng)])} .\n"


def _target(rng: random.Random) -> str:
    match rng.randrange(4):
        case 0:
            return f"sh:targetNode {rng.choice([f':{rng.choice(_NODES)}', rng.choice(_LITERALS)])}"
        case 1:
            return f"sh:targetClass :{rng.choice(_CLASSES)}"
        case 2:
            return f"sh:targetSubjectsOf :{rng.choice(_PREDICATES)}"
        case _:
            return f"sh:targetObjectsOf :{rng.choice(_PREDICATES)}"


def _settings(rng: random.Random) -> Sequence[str]:
    settings = []
    if rng.random() < 0.2:
        settings.append(f"sh:severity sh:{rng.choice(['Info', 'Warning'])}")
    if rng.random() < 0.1:
        settings.append(f"sh:deactivated {rng.choice(['true', 'false'])}")
    return settings


def _path(rng: random.Random, depth: int = 2) -> str:
    predicate = f":{rng.choice(_PREDICATES)}"
    if depth == 0 or rng.random() < 0.6:
        return predicate
    inner = _path(rng, depth - 1)
    match rng.randrange(6):
        case 0:
            # pySHACL follows the inverse of a sequence in the wrong order.
            is_sequence = inner.startswith("(")
            return inner if is_sequence else f"[ sh:inversePath {inner} ]"
        case 1:
            return f"( {inner} {_path(rng, depth - 1)} )"
        case 2:
            return f"[ sh:alternativePath ( {inner} {_path(rng, depth - 1)} ) ]"
        case 3:
            return f"[ sh:zeroOrOnePath {inner} ]"
        case 4:
            return f"[ sh:zeroOrMorePath {inner} ]"
        case _:
            return f"[ sh:oneOrMorePath {inner} ]"


def _inner(rng: random.Random, depth: int) -> str:
    """A shape in another one."""
    if rng.random() < 0.5:
        parts = [f"sh:path {_path(rng, 1)}", *_constraints(rng, depth - 1, has_path=True)]
    else:
        parts = ["a sh:NodeShape", *_constraints(rng, depth - 1, has_path=False)]
    return f"[ {' ; '.join(parts)} ]"


def _constraints(rng: random.Random, depth: int, *, has_path: bool) -> list[str]:
    count = rng.choice([1, 1, 2])
    constraints = [_constraint(rng, depth, has_path=has_path) for _ in range(count)]
    # Most parameters have one value.
    return [*{constraint.split()[0]: constraint for constraint in constraints}.values()]


def _constraint(rng: random.Random, depth: int, *, has_path: bool) -> str:
    plain: Sequence[Callable[[], str]] = [
        lambda: f"sh:class :{rng.choice(_CLASSES)}",
        lambda: f"sh:datatype xsd:{rng.choice(['string', 'integer', 'decimal', 'date'])}",
        lambda: (
            "sh:nodeKind sh:"
            + rng.choice(
                [
                    "IRI",
                    "BlankNode",
                    "Literal",
                    "BlankNodeOrIRI",
                    "IRIOrLiteral",
                    "BlankNodeOrLiteral",
                ]
            )
        ),
        lambda: (
            f"sh:{rng.choice(['min', 'max'])}{rng.choice(['Inclusive', 'Exclusive'])}"
            f" {rng.choice([1, 3, 7])}"
        ),
        lambda: f"sh:{rng.choice(['min', 'max'])}Length {rng.choice([1, 2, 3, 9])}",
        lambda: f'sh:pattern "{rng.choice(["^a", "b", "[0-9]", "n1$"])}"',
        lambda: f'sh:languageIn ( {rng.choice(["", chr(34) + "en" + chr(34)])} "de" )',
        lambda: f"sh:equals :{rng.choice(_PREDICATES)}",
        lambda: f"sh:disjoint :{rng.choice(_PREDICATES)}",
        lambda: f"sh:hasValue {_term(rng)}",
        lambda: f"sh:in ( {' '.join(_term(rng) for _ in range(rng.randint(1, 3)))} )",
        lambda: "sh:closed true ; sh:ignoredProperties ( :p :q )",
    ]
    of_paths: Sequence[Callable[[], str]] = [
        lambda: f"sh:minCount {rng.choice([1, 1, 2, 3])}",
        lambda: f"sh:maxCount {rng.choice([0, 1, 1, 2])}",
        lambda: "sh:uniqueLang true",
    ]
    nested: Sequence[Callable[[], str]] = [
        lambda: f"sh:not {_inner(rng, depth)}",
        lambda: f"sh:and ( {_inner(rng, depth)} {_inner(rng, depth)} )",
        lambda: f"sh:or ( {_inner(rng, depth)} {_inner(rng, depth)} )",
        lambda: f"sh:xone ( {_inner(rng, depth)} {_inner(rng, depth)} )",
        lambda: (
            "sh:node [ "
            + " ; ".join(["a sh:NodeShape", *_constraints(rng, depth - 1, has_path=False)])
            + " ]"
        ),
        lambda: f"sh:property [ sh:path :s ; sh:lessThan{rng.choice(['', 'OrEquals'])} :t ]",
        lambda: (
            "sh:property [ "
            + " ; ".join([f"sh:path {_path(rng, 1)}", *_constraints(rng, depth - 1, has_path=True)])
            + " ]"
        ),
    ]
    qualified: Sequence[Callable[[], str]] = [
        lambda: (
            f"sh:qualifiedValueShape {_inner(rng, depth)} ; sh:qualifiedMinCount"
            f" {rng.choice([1, 2])} ; sh:qualifiedMaxCount {rng.choice([1, 2])}"
        ),
    ]
    choices: Sequence[Callable[[], str]] = plain
    if has_path and rng.random() < 0.5:
        choices = of_paths
    if depth > 0 and rng.random() < 0.4:
        choices = [*nested, *(qualified if has_path else [])]
    return rng.choice(choices)()


def _term(rng: random.Random) -> str:
    return f":{rng.choice(_NODES)}" if rng.random() < 0.5 else rng.choice(_LITERALS)


def _history(rng: random.Random) -> tuple[Change, ...]:
    pool = sorted(_pool(rng))
    present: frozenset[Quad] = frozenset()
    history = []
    for _ in range(_EPOCHS):
        size = rng.randint(3, 14)
        kept = {quad for quad in sorted(present) if rng.random() < 0.6}
        state = frozenset(kept | {*rng.sample(pool, min(size, len(pool)))})
        history.append((present - state, state - present))
        present = state
    return tuple(history)


def _pool(rng: random.Random) -> set[Quad]:
    def iri(name: str) -> str:
        return f"<http://x/{name}>"

    pool = {("", iri(rng.choice(_NODES)), _TYPE, iri(rng.choice(_CLASSES))) for _ in range(6)}
    pool |= _SUBCLASSES
    for number in _NUMBERS:
        pool.add(("", iri(rng.choice(_NODES)), iri(rng.choice(["s", "t"])), number))
    for _ in range(30):
        ends = [iri(rng.choice(_NODES)), *_LITERALS, "_:b1"]
        object_ = rng.choice(ends if rng.random() < 0.7 else [iri(node) for node in _NODES])
        subject = rng.choice([*map(iri, _NODES), "_:b1"])
        pool.add(("", subject, iri(rng.choice(_PREDICATES)), object_))
    return pool
