"""The predicates that random programs read, and the triples that are their atoms."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tests.support.generators.basic_cases import Triple
from tests.support.lars.programs import GroundAtom, Value, Var
from tests.support.lars.terms import NAMESPACE, TYPE, TriplePattern, term

Kind = Literal["name", "number"]
"""What an argument usually is: a name, or a number, which may be a point."""

NAMES = ("a", "b", "c")
NUMBERS = (0, 1, 2, 3)


@dataclass(frozen=True)
class Read:
    """A predicate that is read.

    Attributes:
        name: of the predicate.
        kinds: of its arguments.
        origin: where its atoms are.
        pattern: triple patterns with the variables A, B, C for its arguments; empty for facts.
        declared: the pattern as the front matter says it, empty if it is the default.
    """

    name: str
    kinds: tuple[Kind, ...]
    origin: Literal["stream", "graph", "facts"]
    pattern: tuple[TriplePattern, ...] = ()
    declared: str = ""

    @property
    def arguments(self) -> tuple[Var, ...]:
        """The variables of the pattern that are the arguments."""
        return _ARGUMENTS[: len(self.kinds)]

    def atom(self, rng: random.Random) -> GroundAtom:
        """A random atom."""
        return self.name, tuple(constant(rng, kind) for kind in self.kinds)

    def triples(self, atom: GroundAtom) -> Sequence[Triple]:
        """The triples that make an atom."""
        by = dict(zip(self.arguments, map(term, atom[1]), strict=True))
        made = []
        for subject, predicate, object_ in self.pattern:
            assert isinstance(predicate, str), "predicates are constant"
            made.append((_of(subject, by), predicate, _of(object_, by)))
        return made


def constant(rng: random.Random, kind: Kind) -> Value:
    """A random constant of a kind."""
    return rng.choice(NAMES) if kind == "name" else rng.choice(NUMBERS)


_ARGUMENTS = A, B, C = Var("A"), Var("B"), Var("C")


def _iri(name: str) -> str:
    return f"<{NAMESPACE}{name}>"


_IT = _iri("it")

STREAM = (
    Read("z", (), "stream", ((_IT, TYPE, _iri("z")),), ":it a :z"),
    Read("u", ("name",), "stream", ((A, TYPE, _iri("u")),)),
    Read("n", ("number",), "stream", ((_IT, _iri("n"), A),), ":it :n ?A"),
    Read("e", ("name", "name"), "stream", ((A, _iri("e"), B),)),
    Read("v", ("name", "number"), "stream", ((A, _iri("v"), B),)),
    Read(
        "w",
        ("name", "name", "number"),
        "stream",
        ((A, _iri("w1"), B), (A, _iri("w2"), C)),
        "?A :w1 ?B . ?A :w2 ?C",
    ),
)
GRAPH = (
    Read("g", ("name",), "graph", ((A, TYPE, _iri("g")),), "?A a :g"),
    Read("h", ("name", "name"), "graph", ((A, _iri("h"), B),), "?A :h ?B"),
)
FACTS = (
    Read("k", ("name",), "facts"),
    Read("m", ("name", "number"), "facts"),
)


def _of(node: Var | str, by: dict[Var, str]) -> str:
    return by[node] if isinstance(node, Var) else node
