"""Random queries over a derived graph, with the query that gives it. A seed gives the same case."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyoxigraph as ox

from tests.support.derived_memory import GRAPH
from tests.support.generators.basic_cases import PREDICATES, Quad
from tests.support.generators.grammar_cases import ATTEMPTS, History, WholeCase, whole_case
from tests.support.oracles.answers import Row
from tests.support.oracles.histories import states
from tests.support.oracles.oxigraph import Oxigraph

_CONSTRUCTS = (
    "CONSTRUCT {{ ?y {a} ?x }} WHERE {{ ?x {b} ?y FILTER(!isLiteral(?y)) }}",
    "CONSTRUCT {{ ?x {a} ?z }} WHERE {{ ?x {b} ?y . ?y {c} ?z }}",
    "CONSTRUCT {{ ?x {a} ?y }} WHERE {{ ?x {b}+ ?y }}",
    "CONSTRUCT {{ ?x {a} ?y . ?x {b} ?x }} WHERE {{ ?x {c} ?y MINUS {{ ?y {b} ?z }} }}",
    "CONSTRUCT {{ ?x {a} ?z . ?x ?p ?x }} WHERE {{ ?x ?p ?y OPTIONAL {{ ?y {b} ?z }} }}",
    "CONSTRUCT {{ ?x ?p ?y }} WHERE {{ GRAPH ?g {{ ?x ?p ?y }} }}",
)
_READS = (
    "SELECT * {{ ?x {a} ?y . ?y {c} ?z }}",
    "SELECT * {{ ?x {a}+ ?y OPTIONAL {{ ?y {c} ?z }} }}",
    "SELECT ?x (COUNT(?y) AS ?n) {{ ?x {a} ?y }} GROUP BY ?x",
    "SELECT * {{ ?x {b} ?y MINUS {{ ?x {a} ?z }} }}",
    "SELECT * {{ ?x ?p ?y FILTER EXISTS {{ ?y {a} ?z }} GRAPH ?g {{ ?x {c} ?z }} }}",
)
_NAMES = (
    "SELECT * {{ ?x {c} ?y . GRAPH {graph} {{ ?x ?p ?z }} }}",
    "SELECT * FROM {graph} {{ ?x ?p ?y . ?z ?q ?x }}",
    "SELECT * {{ GRAPH {graph} {{ ?x {a} ?y }} OPTIONAL {{ ?y {c} ?z }} }}",
    "ASK FROM {graph} {{ ?x {a} ?y . ?y {a} ?x }}",
    "SELECT DISTINCT ?x {{ GRAPH {graph} {{ ?x {a}* ?y }} FILTER(?x != ?y) }}",
)


@dataclass(frozen=True)
class DerivedCase:
    """A query, how it reads the graph that another one gives, and the history of the dataset."""

    seed: int
    construct: str
    query: str
    default_graph: str
    history: History
    reads: bool
    """Whether it is over the default graph and the derived one, or by FROM and GRAPH."""


def derived_case(seed: int) -> DerivedCase:
    """The case of a seed: two thirds over the default graph and the derived one, a third of them
    of the whole grammar."""
    rng = random.Random(f"derived {seed}")
    whole = next(case for case in _cases(seed) if _is_usable(case))
    named = [predicate for predicate in PREDICATES if predicate in whole.query]
    a, b, c = _predicates(rng, rng.choice(named or PREDICATES))
    construct = rng.choice(_CONSTRUCTS).format(a=a, b=b, c=c)
    history = WholeCase(seed, "", "", whole.histories[:3], None).history
    query = whole.query
    if seed % 3:
        queries = _READS if seed % 3 == 1 else _NAMES
        query = rng.choice(queries).format(a=a, b=b, c=c, graph=GRAPH)
    return DerivedCase(seed, construct, query, whole.default_graph, history, seed % 3 != 2)


def construct_with(rng: random.Random, predicate: str) -> str:
    """A query whose graph mostly has triples with a predicate, by those of others."""
    a, b, c = _predicates(rng, predicate)
    return rng.choice(_CONSTRUCTS[:-1]).format(a=a, b=b, c=c)


def _predicates(rng: random.Random, first: str) -> tuple[str, str, str]:
    return first, rng.choice(PREDICATES), rng.choice(PREDICATES)


def expected(case: DerivedCase, columns: Iterable[str]) -> Iterator[dict[Row, int]]:
    """The answer at each epoch by pyoxigraph: over the graph, and what CONSTRUCT gives of it."""
    for quads in states(case.history):
        yield answer_over(case, quads, [*columns])


def answer_over(case: DerivedCase, quads: Iterable[Quad], columns: list[str]) -> dict[Row, int]:
    """The answer over a dataset."""
    oracle = Oxigraph(case.default_graph)
    oracle.apply((frozenset(), frozenset(quads)))
    constructed = oracle.store.query(case.construct)
    assert isinstance(constructed, ox.QueryTriples)
    triples = [*constructed]
    name = ox.NamedNode(GRAPH[1:-1])
    if not case.reads:
        oracle.store.extend(ox.Quad(t.subject, t.predicate, t.object, name) for t in triples)
    else:
        oracle.store.extend(ox.Quad(t.subject, t.predicate, t.object) for t in triples)
    return oracle.answer(case.query, columns)


def _cases(seed: int) -> Iterator[WholeCase]:
    for attempt in range(20 * ATTEMPTS):
        yield whole_case(seed + 1_000_000 * attempt)


def _is_usable(case: WholeCase) -> bool:
    """pyoxigraph is the oracle, and the merge is of the default graph: it has no graphs of FROM."""
    return case.departure is None and not re.search("FROM|_:", case.query)
