"""Random queries of the whole grammar (`random_queries`), each with some histories; case `seed` is
the same everywhere.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

import pyoxigraph as ox

from tests.support.generators.basic_cases import NODES, PREDICATES, XSD, Quad, Triple, iri
from tests.support.generators.grammar import GRAPHS, LITERALS, Writer
from tests.support.oracles.batch import Change, Oxigraph

History = tuple[Change, ...]

HISTORIES = 20
"""Per query; maintained as one, so that twenty take little longer than ten."""
_ATTEMPTS = 12
# Steps lead from a letter to a later one (or to itself): long paths, and no large cycles.
_CHAIN = tuple(iri(name) for name in "abcdefgh")


@dataclass(frozen=True)
class WholeCase:
    """A query and the histories that it is maintained over."""

    seed: int
    query: str
    default_graph: str
    histories: tuple[History, ...]
    by_the_book: str | None
    """Why pyoxigraph cannot judge the query, None if it can."""

    @property
    def history(self) -> History:
        """All histories one after another; the first change of each also clears the dataset."""
        epochs: list[Change] = []
        present: frozenset[Quad] = frozenset()
        for history in self.histories:
            for number, (vanish, appear) in enumerate(history):
                gone = present if number == 0 else vanish
                after = (present - gone) | appear
                epochs.append((present - after, after - present))
                present = after
        return tuple(epochs)


def whole_case(seed: int) -> WholeCase:
    """The case of a seed: of some queries the first whose answers change, most of the time."""
    rng = random.Random(f"whole {seed}")
    wanted = rng.choices((1, 2, 4), (1, 2, 7))[0]
    for _ in range(_ATTEMPTS):
        found = _case(seed, rng)
        if wanted == 1 or _different_answers(found) >= wanted:
            break
    return found


def case_of(query: str, default_graph: str, seed: int, by_the_book: str | None) -> WholeCase:
    """A query that is given, over three random histories."""
    rng = random.Random(f"given {seed}")
    pool = sorted({_quad(rng, NODES) for _ in range(12)})
    return WholeCase(seed, query, default_graph, _histories(rng, pool, 3), by_the_book)


def _case(seed: int, rng: random.Random) -> WholeCase:
    default_graph = rng.choice(("union", "default"))
    nodes = NODES if rng.random() < 0.7 else _CHAIN
    pool = sorted({_quad(rng, nodes) for _ in range(rng.randint(8, 24))})
    histories = _histories(rng, pool, HISTORIES)
    read: dict[str, list[Triple]] = {}
    for graph, *triple in pool:
        for name in {graph, ""} if default_graph == "union" else {graph}:
            s, p, o = triple
            read.setdefault(name, []).append((s, p, o))
    writer = Writer(rng, read)
    query = writer.query()
    reasons = [reason for words, reason in _BY_THE_BOOK.items() if re.search(words, query)]
    if re.search(r"M(IN|AX)\(", query) and _has_literals_without_order(pool, query):
        reasons.append("the order of literals that < does not compare is a choice")
    if _looks_out_of_an_optional(query):
        reasons.append("inside OPTIONAL, pyoxigraph tells MINUS and EXISTS what is bound outside")
    by_the_book = next(iter([*writer.by_the_book, *reasons]), None)
    return WholeCase(seed, query, default_graph, histories, by_the_book)


def _different_answers(case: WholeCase) -> int:
    """How many different answers there are over the histories; pyoxigraph will do for that."""
    judge = Oxigraph(case.default_graph)
    seen: set[frozenset[str]] = set()
    for change in case.history:
        judge.take(change)
        result = judge.store.query(case.query)
        if isinstance(result, ox.QueryBoolean):
            seen.add(frozenset({str(bool(result))}))
            # A truth has two values at most.
            if len(seen) == 2:
                return _ATTEMPTS
        else:
            seen.add(frozenset(map(str, result)))
    return len(seen)


# Literals that `<` does not compare, in pyoxigraph in the order of their text.
_WITHOUT_ORDER = (
    {'"x"@en', f'"true"^^<{XSD}boolean>'},
    {'"x"@en', '"v"^^<urn:unknown>'},
    {'"1"', f'"2"^^<{XSD}integer>'},
    {'"1"', f'"2.5"^^<{XSD}decimal>'},
)
_BY_THE_BOOK = {
    "LIMIT|OFFSET": "which of equal solutions are kept is a choice",
    "SAMPLE": "which of a group is a choice",
    "GROUP_CONCAT": "the order of a group is a choice",
    r"COUNT\((DISTINCT )?(?!DISTINCT|[?*\"])": "pyoxigraph makes COUNT of an error an error",
    "EXISTS.*BOUND": "in BOUND, pyoxigraph takes as unbound what only the outside of EXISTS binds",
    r"EXISTS.*\)[*?]": "pyoxigraph loses the path of no steps of what EXISTS gives a value",
    "FROM <.*FROM <": "pyoxigraph counts a triple once per graph",
    "EXISTS.*MINUS": "inside EXISTS, MINUS shares what the pattern binds, not all that has a value",
    r"GRAPH \?\w+ \{ (?![?<\"_])": "pyoxigraph does not ask whether a graph that is bound is there",
    r"GRAPH .*\{ SELECT": "pyoxigraph does not tell a subquery which graph it is in",
    "REDUCED": "how often a solution is kept is a choice",
    r"(?=.*COUNT\(DISTINCT \*\)).*[>)*+?]/[<(^!]": "pyoxigraph counts what is between two steps",
    "_:n": "equal solutions make one blank node here, and several by the specification",
}


def _has_literals_without_order(pool: Sequence[Quad], query: str) -> bool:
    there = {quad[3] for quad in pool} | {term for term in LITERALS if term in query}
    return any(pair <= there for pair in _WITHOUT_ORDER)


def _looks_out_of_an_optional(query: str) -> bool:
    opened: list[bool] = []
    before = ""
    for word in re.findall("OPTIONAL|MINUS|EXISTS|[{}]", query):
        match word:
            case "{":
                opened.append(before == "OPTIONAL")
            case "}":
                opened.pop()
            case "MINUS" | "EXISTS" if any(opened):
                return True
        before = word
    return False


def _histories(rng: random.Random, pool: Sequence[Quad], number: int) -> tuple[History, ...]:
    return tuple(_history(rng, pool) for _ in range(number))


def _history(rng: random.Random, pool: Sequence[Quad]) -> History:
    """Quads of the pool come, go and come again."""
    present: frozenset[Quad] = frozenset()
    epochs: list[Change] = []
    for _ in range(rng.randint(2, 6)):
        often = rng.choice((0.0, 0.2, 0.2, 0.6))
        vanish = {quad for quad in sorted(present) if rng.random() < often}
        appear = set(rng.sample(pool, min(len(pool), rng.choice((0, 1, 2, 4, 8, 12))))) - present
        epochs.append((frozenset(vanish), frozenset(appear)))
        present = (present - vanish) | appear
    return tuple(epochs)


def _quad(rng: random.Random, nodes: Sequence[str]) -> Quad:
    predicate = rng.choice((*PREDICATES[:2], *PREDICATES))
    if predicate == PREDICATES[2]:
        target = rng.choice(LITERALS)
    else:
        target = rng.choice((*nodes, *nodes, PREDICATES[0]))
    source = rng.choice(nodes)
    if nodes is _CHAIN and target in nodes:
        source, target = sorted((source, target))
    return (rng.choice(("", "", *GRAPHS)), source, predicate, target)
