"""Random queries over the whole grammar (`grammar.py`), each with histories of a dataset.

A seed gives the same case everywhere.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import pyoxigraph as ox

from tests.support.generators.basic_cases import NODES, PREDICATES, XSD, Quad, Triple, iri
from tests.support.generators.grammar import GRAPHS, LITERALS, Writer
from tests.support.oracles.histories import Change
from tests.support.oracles.oxigraph import Oxigraph

History = tuple[Change, ...]

HISTORIES = 20
"""Per query; they are maintained as one history, so twenty take little longer than ten."""
ATTEMPTS = 12
"""Random queries of a seed, of which one whose answer changes is taken."""
# Steps lead from a letter to a later one (or to itself): long paths, and no large cycles.
_CHAIN = tuple(iri(name) for name in "abcdefgh")


@dataclass(frozen=True)
class WholeCase:
    """A query and the histories that it is maintained over."""

    seed: int
    query: str
    default_graph: str
    histories: tuple[History, ...]
    departure: str | None
    """Why pyoxigraph may depart from the specification here; None: pyoxigraph is the oracle."""

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
    """The case of a seed: of some random queries, mostly the first whose answer changes."""
    rng = random.Random(f"whole {seed}")
    wanted = rng.choices((1, 2, 4), (1, 2, 7))[0]
    for _ in range(ATTEMPTS):
        case = _case(seed, rng)
        if wanted == 1 or different_answers(_answers(case)) >= wanted:
            break
    return case


def case_of(query: str, default_graph: str, seed: int, departure: str | None) -> WholeCase:
    """A given query over three random histories."""
    rng = random.Random(f"given {seed}")
    pool = sorted({random_quad(rng, NODES) for _ in range(12)})
    return WholeCase(seed, query, default_graph, _histories(rng, pool, 3), departure)


def long_paths_case(seed: int) -> WholeCase:
    """The case of a seed: paths of any length over a graph whose longest path has 30 steps."""
    rng = random.Random(f"long paths {seed}")
    nodes = [iri(f"n{i}") for i in range(31)]
    p, q, _ = PREDICATES
    steps = [("", one, rng.choice((p, p, p, q)), other) for one, other in pairwise(nodes)]
    if rng.random() < 0.4:
        steps.append(("", nodes[-1], p, rng.choice(nodes)))
    if rng.random() < 0.4:
        steps.append(("", rng.choice(nodes), q, rng.choice(nodes)))
    broken = frozenset(rng.sample(steps, 2))
    history: History = (
        (frozenset(), frozenset(steps)),
        (broken, frozenset()),
        (frozenset(), broken),
    )
    query = _LONG_PATHS[seed % len(_LONG_PATHS)].format(
        path=rng.choice(("({p}|{q})+", "({p}|{q})*", "{p}+", "({p}/{q}?)+", "(^{p}|^{q})+")).format(
            p=p, q=q
        ),
        node=rng.choice(nodes),
        p=p,
    )
    return WholeCase(seed, query, "default", (history,), "only compared with DuckDB")


_LONG_PATHS = (
    "SELECT * {{ ?a {path} ?b }}",
    "SELECT * {{ {node} {path} ?b }}",
    "SELECT * {{ ?a {path} {node} OPTIONAL {{ ?a {p} ?c }} }}",
    "SELECT ?a (COUNT(*) AS ?n) {{ ?a {path} ?b }} GROUP BY ?a",
    "SELECT * {{ ?a {p} ?b FILTER NOT EXISTS {{ ?b {path} {node} }} }}",
    "SELECT * {{ ?a {p} ?b OPTIONAL {{ ?b {path} ?c . ?c {p} {node} }} }}",
)


def correlated_case(seed: int) -> WholeCase:
    """The case of a seed: a query with an EXISTS whose parts depend on values outside of it."""
    rng = random.Random(f"correlated {seed}")
    default_graph = rng.choice(("union", "default"))
    pool = sorted({random_quad(rng, NODES) for _ in range(rng.randint(8, 16))})
    histories = _histories(rng, pool, 2)
    writer = Writer(rng, _readable(pool, default_graph))
    outside = writer.block(0)
    if rng.random() < 0.3:
        outside += f" {writer.optional(0)}"
    inside = writer.correlated_below(rng.choice((0, 1, 1, 2)))
    condition = f"FILTER {rng.choice(('', 'NOT '))}EXISTS {{ {inside} }}"
    body = f"{outside} {condition}"
    if rng.random() < 0.2:
        body = f"GRAPH ?g {{ {body} }}"
    query = f"SELECT * {{ {body} }}"
    return WholeCase(seed, query, default_graph, histories, "pyoxigraph substitutes differently")


def _case(seed: int, rng: random.Random) -> WholeCase:
    default_graph = rng.choice(("union", "default"))
    pool = quads(rng)
    histories = _histories(rng, pool, HISTORIES)
    writer = Writer(rng, _readable(pool, default_graph))
    query = writer.query()
    departure = departure_of(query, writer, pool)
    return WholeCase(seed, query, default_graph, histories, departure)


def quads(rng: random.Random) -> list[Quad]:
    """The quads that a dataset may have; in some, steps lead from a letter to a later one."""
    nodes = NODES if rng.random() < 0.7 else _CHAIN
    return sorted({random_quad(rng, nodes) for _ in range(rng.randint(8, 24))})


def query_over(rng: random.Random, pool: Iterable[Quad], default_graph: str) -> str:
    """A query of a dataset that may have the quads of a pool."""
    return Writer(rng, _readable(pool, default_graph)).query()


def _readable(pool: Iterable[Quad], default_graph: str) -> dict[str, list[Triple]]:
    """The triples that each graph may have, the default graph under the empty name."""
    read: dict[str, list[Triple]] = {}
    for graph, s, p, o in pool:
        for name in {graph, ""} if default_graph == "union" else {graph}:
            read.setdefault(name, []).append((s, p, o))
    return read


def departure_of(query: str, writer: Writer, pool: Sequence[Quad]) -> str | None:
    """Why pyoxigraph may depart from the specification; None if it is the oracle.

    Args:
        query: the text.
        writer: has written it.
        pool: the quads that the dataset may have.
    """
    reasons = [reason for words, reason in _DEPARTURES.items() if re.search(words, query)]
    if re.search(r"M(IN|AX)\(", query) and _has_literals_without_order(pool, query):
        reasons.append("SPARQL leaves open the order of literals that < does not compare")
    if _looks_out_of_an_optional(query):
        reasons.append("inside OPTIONAL, pyoxigraph gives MINUS and EXISTS the values from outside")
    if _compares_the_subject_of_a_path(query):
        reasons.append("for =, pyoxigraph takes the subject of a zero-length path for no literal")
    return next(iter([*writer.departures, *reasons]), None)


def _answers(case: WholeCase) -> Iterator[ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples]:
    """The answers over the histories, by pyoxigraph."""
    oxigraph = Oxigraph(case.default_graph)
    for change in case.history:
        oxigraph.apply(change)
        yield oxigraph.store.query(case.query)


def different_answers(
    answers: Iterable[ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples],
) -> int:
    """About how many of the answers of a query differ."""
    seen: set[frozenset[str]] = set()
    for answer in answers:
        if isinstance(answer, ox.QueryBoolean):
            seen.add(frozenset({str(bool(answer))}))
            # ASK has two answers at most.
            if len(seen) == 2:
                return ATTEMPTS
        else:
            seen.add(frozenset(map(str, answer)))
    return len(seen)


# Literals that `<` does not compare; pyoxigraph orders them by their text.
_WITHOUT_ORDER = (
    {'"x"@en', f'"true"^^<{XSD}boolean>'},
    {'"x"@en', '"v"^^<urn:unknown>'},
    {'"1"', f'"2"^^<{XSD}integer>'},
    {'"1"', f'"2.5"^^<{XSD}decimal>'},
)
_DEPARTURES = {
    "LIMIT|OFFSET": "SPARQL leaves open which of equal solutions are kept",
    "SAMPLE": "SPARQL leaves open which value of a group is sampled",
    "GROUP_CONCAT": "SPARQL leaves open the order within a group",
    r"COUNT\((DISTINCT )?(?!DISTINCT|[?*\"])": "in pyoxigraph, COUNT of an error is an error",
    "EXISTS.*BOUND": "in BOUND, pyoxigraph ignores the values from outside of EXISTS",
    r"EXISTS.*\)[*?]": "pyoxigraph loses the zero-length path of a term that EXISTS substitutes",
    "FROM <.*FROM <": "pyoxigraph counts a triple once per graph",
    "EXISTS.*MINUS": "inside EXISTS, pyoxigraph takes outer values as bound by MINUS",
    r"GRAPH \?\w+ \{ (?![?<\"_])": "pyoxigraph evaluates GRAPH over a graph that does not exist",
    r"GRAPH .*\{ SELECT": "pyoxigraph evaluates a subquery outside of its GRAPH",
    "REDUCED": "SPARQL leaves open the multiplicity of a solution",
    r"(?=.*COUNT\(DISTINCT \*\)).*[>)*+?]/[<(^!]": "pyoxigraph counts the nodes between two steps",
    "_:n": "equal solutions make one blank node in Weir, and several in the specification",
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


def _compares_the_subject_of_a_path(query: str) -> bool:
    subjects = re.findall(r"(\?\w+) \((?:(?! \?).)*\)[*?] ", query)
    return any(re.search(rf"\{name} (!?=|IN)|= \{name}\b", query) for name in subjects)


def _histories(rng: random.Random, pool: Sequence[Quad], number: int) -> tuple[History, ...]:
    return tuple(history(rng, pool) for _ in range(number))


def history(rng: random.Random, pool: Sequence[Quad]) -> History:
    """Quads of the pool appear, vanish and appear again."""
    present: frozenset[Quad] = frozenset()
    epochs: list[Change] = []
    for _ in range(rng.randint(2, 6)):
        often = rng.choice((0.0, 0.2, 0.2, 0.6))
        vanish = {quad for quad in sorted(present) if rng.random() < often}
        appear = set(rng.sample(pool, min(len(pool), rng.choice((0, 1, 2, 4, 8, 12))))) - present
        epochs.append((frozenset(vanish), frozenset(appear)))
        present = (present - vanish) | appear
    return tuple(epochs)


def random_quad(rng: random.Random, nodes: Sequence[str]) -> Quad:
    """A quad of the random cases."""
    predicate = rng.choice((*PREDICATES[:2], *PREDICATES))
    if predicate == PREDICATES[2]:
        target = rng.choice(LITERALS)
    else:
        target = rng.choice((*nodes, *nodes, PREDICATES[0]))
    source = rng.choice(nodes)
    if nodes is _CHAIN and target in nodes:
        source, target = sorted((source, target))
    return (rng.choice(("", "", *GRAPHS)), source, predicate, target)
