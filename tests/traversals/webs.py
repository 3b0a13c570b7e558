"""Random webs of documents, and the dataset of a traversal over them by another algorithm.

The oracle shares nothing with the product: it takes derivatives of paths instead of an automaton,
and walks over the servers' answers instead of over what is known.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from weir.sparql.algebra import paths as p
from weir.traversals.rules import Match, Rules, Triple
from weir.traversals.search import SearchLimits

HOSTS = ("a.example", "b.example", "c.example")
PREDICATES = ("<http://v.example/p>", "<http://v.example/q>", "<http://v.example/r>")


class Described(str):
    """An answer that is no RDF, and whose Link header names this IRI."""

    __slots__ = ()


@dataclass(slots=True)
class Web:
    """What each IRI without a fragment answers: triples, the IRI of a redirect, or a status.

    The IRI of a redirect may be `Described`.
    """

    answers: dict[str, list[Triple] | str | int] = field(default_factory=dict)

    def at(self, iri: str) -> list[Triple] | str | int:
        return self.answers.get(iri, 404)


def place(number: int) -> str:
    return f"https://{HOSTS[number % len(HOSTS)]}/{number}"


def random_iri(rng: random.Random, size: int) -> str:
    """A document, a part of one, or a resource that redirects."""
    iri = place(rng.randrange(size))
    return iri + rng.choice(("", "", "#me", "#it"))


def random_triples(rng: random.Random, size: int, own: str) -> list[Triple]:
    def term() -> str:
        chosen = own + rng.choice(("", "#me")) if rng.random() < 0.4 else random_iri(rng, size)
        return f"<{chosen}>"

    return [
        (term(), rng.choice(PREDICATES), rng.choice((term(), term(), '"text"')))
        for _ in range(rng.randrange(4))
    ]


def change(rng: random.Random, web: Web, size: int) -> None:
    """Change a few answers."""
    for _ in range(rng.randint(1, 3)):
        iri = place(rng.randrange(size))
        kind = rng.random()
        if kind < 0.65:
            web.answers[iri] = random_triples(rng, size, iri)
        elif kind < 0.75:
            web.answers[iri] = random_iri(rng, size)
        elif kind < 0.85:
            web.answers[iri] = Described(random_iri(rng, size))
        elif kind < 0.9:
            web.answers[iri] = random_iri(rng, size).replace("https:", "http:")
        else:
            web.answers[iri] = rng.choice((404, 410))


def random_web(rng: random.Random, size: int) -> Web:
    web = Web()
    for _ in range(size):
        change(rng, web, size)
    return web


def random_path(rng: random.Random, depth: int = 3) -> p.Path:
    kind = rng.randrange(8) if depth else 0
    inner = depth - 1
    match kind:
        case 0 | 1:
            return p.Link(rng.choice(PREDICATES))
        case 2:
            return p.Inverse(random_path(rng, inner))
        case 3:
            return p.Sequence(random_path(rng, inner), random_path(rng, inner))
        case 4:
            return p.Alternative(random_path(rng, inner), random_path(rng, inner))
        case 5:
            return p.ZeroOrOne(random_path(rng, inner))
        case 6:
            return p.Closure(random_path(rng, inner), rng.randrange(2))
        case _:
            some = (rng.choice(PREDICATES),)
            return p.Negated(some if rng.random() < 0.7 else None, some)


def random_rules(rng: random.Random, size: int) -> Rules:
    def term(variable: str) -> str:
        return variable if rng.random() < 0.7 else f"<{random_iri(rng, size)}>"

    match rng.randrange(5):
        case 0:
            return Rules(every=True)
        case 1:
            own = rng.choice((*PREDICATES, "?p"))
            same = rng.choice(("?o", "?o", "?s"))
            return Rules(matches=(Match(term("?s"), own, term(same)),))
        case 2:
            return Rules(forward=frozenset(rng.sample(PREDICATES, 2)))
        case 3:
            return Rules(
                forward=frozenset(PREDICATES[:1]),
                backward=frozenset(PREDICATES[1:2]),
                paths=(random_path(rng),) if rng.random() < 0.5 else (),
            )
        case _:
            return Rules(paths=tuple(random_path(rng) for _ in range(rng.randint(1, 2))))


def random_limits(rng: random.Random, size: int) -> SearchLimits:
    if rng.random() < 0.4:
        return SearchLimits()
    return SearchLimits(rng.randrange(5), rng.randint(1, size), rng.randint(1, size))


@dataclass(slots=True)
class Oracle:
    """The dataset of a traversal: by document, the IRIs that lead to it."""

    web: Web
    rules: Rules
    limits: SearchLimits
    hosts: tuple[str, ...]
    dataset: dict[str, set[str]] = field(default_factory=dict)
    _of_host: Counter[str] = field(default_factory=Counter)

    def run(self, seeds: tuple[str, ...]) -> dict[str, set[str]]:
        # A rest is a path that is still to be walked; None: no path reached the resource.
        rests: tuple[p.Path | None, ...] = self.rules.paths or (None,)
        level: set[tuple[str, p.Path | None]] = {(seed, rest) for seed in seeds for rest in rests}
        resolved: dict[str, str] = {}
        visited, expanded = set(level), set[str]()
        for _ in range(self.limits.depth + 1):
            following: set[tuple[str, p.Path | None]] = set()
            for iri, rest in sorted(level, key=lambda visit: visit[0]):
                document = resolved[iri] = resolved.get(iri, "") or self._document(iri) or ""
                if not document:
                    continue
                self.dataset[document].add(iri)
                triples = self.web.at(document)
                assert isinstance(triples, list)
                if document not in expanded:
                    expanded.add(document)
                    following |= {(target, None) for target in self._targets(triples)}
                if rest is not None:
                    for target, next_ in walked(rest, iri, triples):
                        following.add((target, next_))
            level = following - visited
            visited |= level
        return self.dataset

    def _document(self, iri: str) -> str | None:
        now = iri.partition("#")[0]
        if not self._may_enter(now):
            return None
        is_described = False
        for _ in range(6):
            host = now.split("/")[2]
            if host not in self.hosts:
                return None
            answer = self.web.at(now)
            if isinstance(answer, int):
                return None
            if isinstance(answer, list):
                return now if self._has_room(now, host) else None
            if now.startswith("https:") and answer.startswith("http:"):
                return None
            if isinstance(answer, Described):
                if is_described:
                    return None
                is_described = True
            now = answer.partition("#")[0]
        return None

    def _may_enter(self, document: str) -> bool:
        if document in self.dataset:
            return True
        is_full = len(self.dataset) >= self.limits.documents
        return not is_full and self._of_host[document.split("/")[2]] < self.limits.per_host

    def _has_room(self, document: str, host: str) -> bool:
        if not self._may_enter(document):
            return False
        if document not in self.dataset:
            self._of_host[host] += 1
            self.dataset[document] = set()
        return True

    def _targets(self, triples: list[Triple]) -> Iterator[str]:
        for s, predicate, o in triples:
            terms = []
            if self.rules.every:
                terms += [s, o]
            if predicate in self.rules.forward:
                terms.append(o)
            if predicate in self.rules.backward:
                terms.append(s)
            for match in self.rules.matches:
                own = [match.subject, match.predicate, match.object]
                pairs = [*zip(own, (s, predicate, o), strict=True)]
                constants = all(a == b for a, b in pairs if a[0] != "?")
                repeated = own[0] != own[2] or own[0][0] != "?" or s == o
                if constants and repeated:
                    terms += [b for a, b in pairs if a[0] == "?"]
            yield from (term[1:-1] for term in terms if term.startswith("<http"))


def walked(path: p.Path, iri: str, triples: list[Triple]) -> set[tuple[str, p.Path]]:
    """Where one step of a path leads, and what is left of it then."""
    ends = set()
    for rest_of, predicate_fits, is_inverse in steps(path, False):
        for s, predicate, o in triples:
            start, end = (o, s) if is_inverse else (s, o)
            if start == f"<{iri}>" and predicate_fits(predicate) and end.startswith("<http"):
                ends.add((end[1:-1], rest_of))
    return ends


_END = p.Negated(None, None)
"""A path without a step: nothing is left."""


Step = tuple[p.Path, Callable[[str], bool], bool]


def steps(path: p.Path, inverse: bool) -> Iterator[Step]:
    """(what is left, which predicates fit, whether against the predicate) of each first step."""
    match path:
        case p.Link(own):
            yield _END, (lambda other: other == own), inverse
        case p.Negated(forward, backward):
            if forward is not None:
                yield _END, (lambda other: other not in forward), inverse
            if backward is not None:
                yield _END, (lambda other: other not in backward), not inverse
        case p.Inverse(inner):
            for rest, fits, way in steps(inner, not inverse):
                yield rest, fits, way
        case p.Sequence(one, other):
            first, second = (other, one) if inverse else (one, other)
            second = p.Inverse(second) if inverse else second
            for rest, fits, way in steps(first, inverse):
                yield in_turn(rest, second), fits, way
            if nullable(first):
                yield from steps(second, False)
        case p.Alternative(left, right):
            yield from steps(left, inverse)
            yield from steps(right, inverse)
        case p.ZeroOrOne(inner):
            yield from steps(inner, inverse)
        case p.Closure(inner, _):
            again = p.Closure(p.Inverse(inner) if inverse else inner, 0)
            for rest, fits, way in steps(inner, inverse):
                yield in_turn(rest, again), fits, way


def in_turn(rest: p.Path, then: p.Path) -> p.Path:
    return then if rest == _END else p.Sequence(rest, then)


def nullable(path: p.Path) -> bool:
    match path:
        case p.ZeroOrOne():
            return True
        case p.Closure(inner, minimum):
            return minimum == 0 or nullable(inner)
        case p.Inverse(inner):
            return nullable(inner)
        case p.Sequence(first, second):
            return nullable(first) and nullable(second)
        case p.Alternative(left, right):
            return nullable(left) or nullable(right)
        case _:
            return path == _END
