"""A store of all partial matches of a basic graph pattern: Algorithms 1 to 4 of paper 000.

To compare with what Weir keeps; nothing else uses it. Messages insert a triple that is absent or
delete one that is present. The algorithms are as printed, but for the errors that make the answers
wrong (fixtures 000-2, 000-4, 000-5, 000-6). Of connected-variable queries the paper has a sketch
(section 6.5); it is read as: each match of the first pattern is an instance of the others, and the
triples that match those are kept, so that an instance can begin after them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Protocol

from weir.plan.decompose import decompose
from weir.sparql.algebra.expressions import Constant, Variable
from weir.sparql.algebra.patterns import Bgp, TriplePattern

Triple = tuple[str, str, str]
Solution = Mapping[str, str]
Delta = tuple[int, Solution]
"""+1 or -1, and a solution."""
_Answer = Mapping[frozenset[tuple[str, str]], Solution]
Kept = tuple[str, ...]
"""A row of what is kept: what it is, then its terms or bits."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A triple pattern; a place is a term in N-Triples form, or a variable with `?` before it."""

    places: Triple

    @classmethod
    def of(cls, pattern: TriplePattern) -> Pattern:
        """The pattern of the algebra, with a constant predicate."""
        subject, predicate, object_ = map(_text, pattern.nodes)
        return cls((subject, predicate, object_))

    @property
    def variables(self) -> tuple[str, ...]:
        """Its variables, each once."""
        return tuple(dict.fromkeys(place for place in self.places if place[0] == "?"))

    def match(self, triple: Triple) -> Solution | None:
        """The solution by which it is the triple; None if there is none."""
        solution: dict[str, str] = {}
        for place, term in zip(self.places, triple, strict=True):
            if place[0] == "?":
                if solution.setdefault(place, term) != term:
                    return None
            elif place != term:
                return None
        return solution

    def bound(self, solution: Solution) -> Pattern:
        """The pattern with the variables of a solution replaced."""
        subject, predicate, object_ = (solution.get(place, place) for place in self.places)
        return Pattern((subject, predicate, object_))

    @property
    def key(self) -> tuple[str, str | None, str | None]:
        """Its predicate, and its subject and object where they are constants."""
        subject, predicate, object_ = self.places
        return (
            predicate,
            None if subject[0] == "?" else subject,
            None if object_[0] == "?" else object_,
        )


def _text(term: object) -> str:
    match term:
        case Variable(name):
            return f"?{name}"
        case Constant(text):
            return text
        case _:
            raise ValueError(f"{term}: neither a variable nor a constant")


class Store(Protocol):
    """What is kept for a query."""

    def apply(self, sign: int, triple: Triple) -> Sequence[Delta]:
        """Insert (+1) or delete (-1) a triple; gives what changes in the answer."""

    def answers(self) -> Iterable[Solution]:
        """The answer."""

    def kept(self) -> Iterator[Kept]:
        """All that is kept, a row each."""


@dataclass(slots=True)
class Ground:
    """Algorithm 1: a bit per triple of a ground query."""

    patterns: Sequence[Pattern]
    bits: list[bool] = field(init=False)

    def __post_init__(self) -> None:
        self.bits = [False] * len(self.patterns)

    def apply(self, sign: int, triple: Triple) -> Sequence[Delta]:
        """As of `Store`."""
        before = all(self.bits)
        for j, pattern in enumerate(self.patterns):
            if pattern.places == triple:
                self.bits[j] = sign > 0
        return [] if all(self.bits) == before else [(sign, {})]

    def answers(self) -> Iterable[Solution]:
        """As of `Store`."""
        return [{}] if all(self.bits) else []

    def kept(self) -> Iterator[Kept]:
        """As of `Store`: a bit each."""
        yield from (("bit", str(int(bit))) for bit in self.bits)


@dataclass(slots=True)
class Star:
    """Algorithm 2: for each value of the centre that matches any pattern, a bit per pattern."""

    patterns: Sequence[Pattern]
    centre: str = field(init=False)
    values: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        (self.centre,) = {name for pattern in self.patterns for name in pattern.variables}

    @property
    def _all(self) -> int:
        return (1 << len(self.patterns)) - 1

    def apply(self, sign: int, triple: Triple) -> Sequence[Delta]:
        """As of `Store`."""
        touched: dict[str, int] = defaultdict(int)
        for j, pattern in enumerate(self.patterns):
            solution = pattern.match(triple)
            if solution is not None:
                touched[solution[self.centre]] |= 1 << j
        deltas: list[Delta] = []
        for value, bits in touched.items():
            before = self.values.get(value, 0)
            now = before | bits if sign > 0 else before & ~bits
            if now:
                self.values[value] = now
            else:
                self.values.pop(value, None)
            if (now == self._all) != (before == self._all):
                deltas.append((sign, {self.centre: value}))
        return deltas

    def answers(self) -> Iterable[Solution]:
        """As of `Store`."""
        return ({self.centre: value} for value, bits in self.values.items() if bits == self._all)

    def kept(self) -> Iterator[Kept]:
        """As of `Store`: a value with its bits each."""
        yield from (("value", value, f"{bits:b}") for value, bits in self.values.items())


@dataclass(slots=True)
class Product:
    """Algorithms 3 and 4: segments without common variables, each with its answer."""

    segments: Sequence[Store]
    segment_answers: list[dict[frozenset[tuple[str, str]], Solution]] = field(init=False)

    def __post_init__(self) -> None:
        self.segment_answers = [{} for _ in self.segments]

    def apply(self, sign: int, triple: Triple) -> Sequence[Delta]:
        """As of `Store`. Earlier segments are new, later ones old: an exact difference."""
        deltas: list[Delta] = []
        for i, segment in enumerate(self.segments):
            others = [*self.segment_answers]
            for direction, solution in segment.apply(sign, triple):
                key = frozenset(solution.items())
                others[i] = {key: solution}
                deltas += ((direction, joined) for joined in _products(others))
                if direction > 0:
                    self.segment_answers[i][key] = solution
                else:
                    self.segment_answers[i].pop(key, None)
        return deltas

    def answers(self) -> Iterable[Solution]:
        """As of `Store`."""
        return _products(self.segment_answers)

    def kept(self) -> Iterator[Kept]:
        """As of `Store`: what each segment keeps, and its answer."""
        for segment, own in zip(self.segments, self.segment_answers, strict=True):
            yield from segment.kept()
            yield from (("answer", *solution.values()) for solution in own.values())


def _products(parts: Sequence[_Answer]) -> Iterator[Solution]:
    for chosen in product(*(part.values() for part in parts)):
        yield {name: term for solution in chosen for name, term in solution.items()}


@dataclass(slots=True)
class Edges:
    """The triples that match some patterns, by predicate with subject, object or neither."""

    patterns: Sequence[Pattern]
    triples: set[Triple] = field(default_factory=set)
    by_key: dict[tuple[str, str | None, str | None], set[Triple]] = field(
        default_factory=lambda: defaultdict(set)
    )

    def apply(self, sign: int, triple: Triple) -> None:
        """Add or remove a triple, if a pattern matches it."""
        if all(pattern.match(triple) is None for pattern in self.patterns):
            return
        change = set.add if sign > 0 else set.discard
        change(self.triples, triple)
        for key in _keys(triple):
            change(self.by_key[key], triple)

    def matching(self, pattern: Pattern) -> list[Triple]:
        """Those that a pattern matches."""
        return [t for t in self.by_key.get(pattern.key, ()) if pattern.match(t) is not None]


def _keys(triple: Triple) -> list[tuple[str, str | None, str | None]]:
    subject, predicate, object_ = triple
    return [(predicate, s, o) for s in (subject, None) for o in (object_, None)]


@dataclass(slots=True)
class Connected:
    """Section 6.5: an instance of the other patterns for each match of the first."""

    patterns: Sequence[Pattern]
    edges: Edges | None = None
    instances: dict[Triple, tuple[Solution, Store]] = field(default_factory=dict)
    watching: dict[tuple[str, str | None, str | None], dict[Triple, None]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    is_outermost: bool = field(init=False)

    def __post_init__(self) -> None:
        self.is_outermost = self.edges is None
        if self.edges is None:
            self.edges = Edges(self.patterns[1:])

    def apply(self, sign: int, triple: Triple) -> Sequence[Delta]:
        """As of `Store`."""
        assert self.edges is not None, "it was made"
        is_first = self.patterns[0].match(triple) is not None
        deltas: list[Delta] = []
        if sign < 0 and is_first:
            deltas += self._end(triple)
        if self.is_outermost:
            self.edges.apply(sign, triple)
        concerned = dict.fromkeys(
            first for key in _keys(triple) for first in self.watching.get(key, ())
        )
        for first in concerned:
            solution, rest = self.instances[first]
            deltas += ((way, {**solution, **more}) for way, more in rest.apply(sign, triple))
        if sign > 0 and is_first:
            deltas += self._begin(triple)
        return deltas

    def _begin(self, triple: Triple) -> list[Delta]:
        """The instance of a match of the first pattern; the triples kept for it are replayed."""
        assert self.edges is not None, "it was made"
        solution = self.patterns[0].match(triple)
        assert solution is not None, "it matches"
        bound = [pattern.bound(solution) for pattern in self.patterns[1:]]
        rest = store_of(bound, self.edges)
        self.instances[triple] = solution, rest
        known: dict[Triple, None] = {}
        for pattern in bound:
            self.watching[pattern.key][triple] = None
            known |= dict.fromkeys(self.edges.matching(pattern))
        for edge in known:
            rest.apply(1, edge)
        return [(1, {**solution, **more}) for more in rest.answers()]

    def _end(self, triple: Triple) -> list[Delta]:
        solution, rest = self.instances.pop(triple)
        for pattern in self.patterns[1:]:
            self.watching[pattern.bound(solution).key].pop(triple, None)
        return [(-1, {**solution, **more}) for more in rest.answers()]

    def answers(self) -> Iterable[Solution]:
        """As of `Store`."""
        for solution, rest in self.instances.values():
            yield from ({**solution, **more} for more in rest.answers())

    def kept(self) -> Iterator[Kept]:
        """As of `Store`: the triples that match other patterns, and what each instance keeps."""
        assert self.edges is not None, "it was made"
        if self.is_outermost:
            yield from (("edge", *triple) for triple in self.edges.triples)
        for solution, rest in self.instances.values():
            yield ("instance", *solution.values())
            yield from rest.kept()


def store_of(patterns: Sequence[Pattern], edges: Edges | None = None) -> Store:
    """The store of a query: Algorithm 1, 2 or 3, or the sketch, by its segments.

    Args:
        patterns: of the query, each once.
        edges: the triples that an instance of a connected query goes on with.
    """
    segments: list[Store] = []
    ground = [pattern for pattern in patterns if not pattern.variables]
    if ground:
        segments.append(Ground(ground))
    for block in _blocks(patterns):
        own = [pattern for pattern in patterns if block & {*pattern.variables}]
        segments.append(Star(own) if len(block) == 1 else Connected(own, edges))
    return segments[0] if len(segments) == 1 else Product(segments)


def _blocks(patterns: Sequence[Pattern]) -> list[set[str]]:
    """The connected-variable partition."""
    blocks: list[set[str]] = []
    for pattern in patterns:
        names = {*pattern.variables}
        touched = [block for block in blocks if block & names]
        blocks = [block for block in blocks if not block & names]
        if names:
            blocks.append(names.union(*touched))
    return blocks


def patterns_of(bgp: Bgp) -> list[Pattern]:
    """The patterns of a basic graph pattern, in an order in which each shares a variable with an
    earlier one where that is possible.
    """
    return [Pattern.of(pattern) for segment in decompose(bgp) for pattern in segment.patterns]
