"""Follow rules: which IRIs of a document a traversal goes on with (pure).

A rule reads *links* off the triples of a document when it arrives; the search over documents
(`weir.traversals.search`) knows links only. Two kinds of links lead on:

- those of a *document* lead on wherever the document was reached from: reachability criteria of
  paper 001 (c_All, c_Match) and plain predicates;
- those of a *path* lead on from one resource, in a state of the path: a step counts in the document
  of its subject only, so a document cannot speak for the resources of another one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import assert_never

from weir.sparql.algebra.paths import (
    Alternative,
    Closure,
    Inverse,
    Negated,
    Pairs,
    Path,
    ZeroOrOne,
)
from weir.sparql.algebra.paths import Link as Predicate
from weir.sparql.algebra.paths import Sequence as InTurn

Triple = tuple[str, str, str]
"""Subject, predicate and object in N-Triples form."""
ANYWHERE = -1
"""The state of a resource that no path reached."""
States = frozenset[int]


@dataclass(frozen=True, slots=True)
class Link:
    """An IRI that a document leads to.

    Attributes:
        target: the IRI.
        step: of a path, its place among the steps; None for a link of the document.
        subject: of a path, the IRI that the step is made from; else empty.
    """

    target: str
    step: int | None = None
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Match:
    """A triple pattern: terms in N-Triples form, or variables as `?name`."""

    subject: str
    predicate: str
    object: str

    def targets(self, triple: Triple) -> Iterator[str]:
        """The terms at the places of variables, if the triple matches."""
        bound: dict[str, str] = {}
        for own, term in zip((self.subject, self.predicate, self.object), triple, strict=True):
            if not own.startswith("?"):
                if own != term:
                    return
            elif bound.setdefault(own, term) != term:
                return
        yield from bound.values()

    @property
    def constants(self) -> Iterator[str]:
        """The constants at the places of subject and object, which are seeds."""
        yield from (term for term in (self.subject, self.object) if not term.startswith("?"))


@dataclass(frozen=True, slots=True)
class _Step:
    """A step of a path: along a predicate, or any but some; against it if it is inverse."""

    predicates: tuple[str, ...]
    is_negated: bool
    is_inverse: bool

    def fits(self, predicate: str) -> bool:
        return (predicate in self.predicates) != self.is_negated


@dataclass(frozen=True)
class Rules:
    """What is followed.

    Attributes:
        every: whether all IRIs of subjects and objects are links (c_All).
        matches: links are what stands for a variable in a triple that matches one (c_Match).
        forward: predicates whose objects are links.
        backward: predicates whose subjects are links.
        paths: from the seeds.
    """

    every: bool = False
    matches: tuple[Match, ...] = ()
    forward: frozenset[str] = frozenset()
    backward: frozenset[str] = frozenset()
    paths: tuple[Path, ...] = ()

    @cached_property
    def _automaton(self) -> _Automaton:
        return _Automaton.of(self.paths)

    @property
    def start(self) -> States:
        """The states of a seed."""
        return self._automaton.start or frozenset((ANYWHERE,))

    def after(self, state: int, step: int) -> States:
        """The states of a resource to which a step leads from a resource in a state."""
        return self._automaton.after.get((state, step), frozenset())

    @property
    def fingerprint(self) -> str:
        """Changes when other links are read off the same triples."""
        parts = (
            self.every,
            sorted(map(repr, self.matches)),
            sorted(self.forward),
            sorted(self.backward),
            self.paths,
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]

    def links(self, triples: Iterable[Triple]) -> tuple[Link, ...]:
        """The links of a document, in order, each once; without those that are no http IRI."""
        links: dict[Link, None] = {}
        for triple in triples:
            for term in self._of_document(triple):
                if is_web(term):
                    links[Link(term[1:-1])] = None
            for place, step in enumerate(self._automaton.steps):
                if step.fits(triple[1]):
                    start, end = (
                        (triple[2], triple[0]) if step.is_inverse else (triple[0], triple[2])
                    )
                    if is_web(end) and is_web(start):
                        links[Link(end[1:-1], place, start[1:-1])] = None
        return tuple(links)

    def _of_document(self, triple: Triple) -> Iterator[str]:
        subject, predicate, object_ = triple
        if self.every:
            yield subject
            yield object_
        if predicate in self.forward:
            yield object_
        if predicate in self.backward:
            yield subject
        for match in self.matches:
            yield from match.targets(triple)


def is_web(term: str) -> bool:
    """Whether a term in N-Triples form is an IRI that can be asked for."""
    return term.startswith(("<http://", "<https://"))


@dataclass(slots=True)
class _Automaton:
    """Paths as states and steps (Thompson); a state is left by steps and by empty edges."""

    steps: list[_Step] = field(default_factory=list)
    start: States = frozenset()
    after: dict[tuple[int, int], States] = field(default_factory=dict)
    _empty: dict[int, set[int]] = field(default_factory=dict)
    _edges: list[tuple[int, int, int]] = field(default_factory=list)
    _states: int = 0

    @classmethod
    def of(cls, paths: Sequence[Path]) -> _Automaton:
        automaton = cls()
        starts = {automaton._add(path, is_inverse=False)[0] for path in paths}
        automaton.start = automaton._closed(starts)
        after: dict[tuple[int, int], set[int]] = {}
        for state, step, target in automaton._edges:
            after.setdefault((state, step), set()).add(target)
        automaton.after = {edge: automaton._closed(ends) for edge, ends in after.items()}
        return automaton

    def _add(self, path: Path, *, is_inverse: bool) -> tuple[int, int]:
        """Add a path and return its first and last state."""
        match path:
            case Predicate(predicate):
                return self._step(_Step((predicate,), False, is_inverse))
            case Negated(forward, inverse):
                first, last = self._state(), self._state()
                for predicates, is_against in ((forward, is_inverse), (inverse, not is_inverse)):
                    if predicates is not None:
                        self._between(first, self._step(_Step(predicates, True, is_against)), last)
                return first, last
            case Inverse(inner):
                return self._add(inner, is_inverse=not is_inverse)
            case InTurn(one, other):
                parts = (other, one) if is_inverse else (one, other)
                (first, middle), (next_, last) = (
                    self._add(part, is_inverse=is_inverse) for part in parts
                )
                self._link(middle, next_)
                return first, last
            case Alternative(left, right):
                first, last = self._state(), self._state()
                for part in (left, right):
                    self._between(first, self._add(part, is_inverse=is_inverse), last)
                return first, last
            case ZeroOrOne(inner):
                first, last = self._state(), self._state()
                self._between(first, self._add(inner, is_inverse=is_inverse), last)
                self._link(first, last)
                return first, last
            case Closure(inner, minimum):
                # States of its own: an edge back to the first state would be one of what follows.
                first, last = self._state(), self._state()
                body = self._add(inner, is_inverse=is_inverse)
                self._between(first, body, last)
                self._link(body[1], body[0])
                if minimum == 0:
                    self._link(first, last)
                return first, last
            case Pairs():
                raise ValueError("rules of traversals have no such paths")
            case _:
                assert_never(path)

    def _step(self, step: _Step) -> tuple[int, int]:
        first, last = self._state(), self._state()
        self._edges.append((first, len(self.steps), last))
        self.steps.append(step)
        return first, last

    def _state(self) -> int:
        self._states += 1
        return self._states - 1

    def _link(self, state: int, target: int) -> None:
        self._empty.setdefault(state, set()).add(target)

    def _between(self, first: int, part: tuple[int, int], last: int) -> None:
        self._link(first, part[0])
        self._link(part[1], last)

    def _closed(self, states: Iterable[int]) -> States:
        """The states that empty edges lead to, and these themselves."""
        reached, open_ = set(states), [*states]
        while open_:
            new = self._empty.get(open_.pop(), set()) - reached
            reached |= new
            open_ += new
        return frozenset(reached)
