"""Batch answers: by pyoxigraph, which shares no code with the engine, and by the naive evaluator,
which shares the front end and the functions with it but no plan, no SQL and no epochs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

import pyoxigraph as ox

from jobs.sparql.algebra.queries import Ask, Construct, Query
from tests.support.generators.basic_cases import Quad
from tests.support.oracles import reference as naive

Row = tuple[str | None, ...]
Change = tuple[frozenset[Quad], frozenset[Quad]]
"""The quads that vanish and those that appear."""

TRUE, FALSE = (
    f'"{word}"^^<http://www.w3.org/2001/XMLSchema#boolean>' for word in ("true", "false")
)


class Oxigraph:
    """A dataset in pyoxigraph that changes epoch by epoch.

    The union of all graphs is kept here: pyoxigraph's own counts a triple once per graph.
    """

    def __init__(self, default_graph: str) -> None:
        self.default_graph = default_graph
        self.store = ox.Store()
        self._graphs: Counter[ox.Quad] = Counter()

    def take(self, change: Change) -> None:
        """Apply the change of an epoch."""
        vanish, appear = change
        for quad in vanish:
            for made in self._stored(quad, -1):
                self.store.remove(made)
                # The store would keep a graph that has become empty.
                name = made.graph_name
                if not isinstance(name, ox.DefaultGraph) and not self._has(name):
                    self.store.remove_graph(name)
        for quad in appear:
            for made in self._stored(quad, 1):
                self.store.add(made)

    def _has(self, graph: ox.NamedNode | ox.BlankNode) -> bool:
        return any(True for _ in self.store.quads_for_pattern(None, None, None, graph))

    def _stored(self, quad: Quad, sign: int) -> Iterator[ox.Quad]:
        """The quads of the store that change."""
        made = _parsed(quad)
        if self.default_graph == "default" or quad[0]:
            yield made
        if self.default_graph == "union":
            triple = ox.Quad(made.subject, made.predicate, made.object)
            self._graphs[triple] += sign
            if self._graphs[triple] == (1 if sign == 1 else 0):
                yield triple

    def answer(self, query: str, columns: Sequence[str]) -> Counter[Row]:
        """The answer as a bag of rows in N-Triples form, with the variables in order."""
        result = self.store.query(query)
        match result:
            case ox.QueryBoolean():
                return Counter({(TRUE if result else FALSE,): 1})
            case ox.QueryTriples():
                return Counter({(str(t.subject), str(t.predicate), str(t.object)) for t in result})
            case _:
                return Counter(tuple(_text(row[name]) for name in columns) for row in result)


def answers(
    query: str, default_graph: str, history: Sequence[Change], columns: Sequence[str]
) -> Iterator[Counter[Row]]:
    """The answer of `query` by pyoxigraph after each epoch.

    `columns` are the variables of a SELECT query in the order of the rows; they differ for `*`.
    """
    judge = Oxigraph(default_graph)
    for change in history:
        judge.take(change)
        yield judge.answer(query, columns)


def by_the_book(query: Query, quads: frozenset[Quad], columns: Sequence[str]) -> Counter[Row]:
    """The answer of `query` by the naive evaluator, in the form of `Oxigraph.answer`."""
    found = naive.answers(query, quads)
    match query.form:
        case Ask():
            return Counter({(TRUE if found else FALSE,): 1})
        case Construct():
            return Counter({(s["s"], s["p"], s["o"]): 1 for s in found})
        case _:
            return Counter(tuple(solution.get(name) for name in columns) for solution in found)


def states(history: Sequence[Change]) -> Iterator[frozenset[Quad]]:
    """The dataset after each epoch."""
    present: frozenset[Quad] = frozenset()
    for vanish, appear in history:
        present = (present - vanish) | appear
        yield present


def anonymous(rows: Counter[Row]) -> Counter[Row]:
    """`rows` with every blank node called `_:`; no two engines name them alike."""
    hidden: Counter[Row] = Counter()
    for row, count in rows.items():
        hidden[tuple("_:" if term and term.startswith("_:") else term for term in row)] += count
    return hidden


@lru_cache(maxsize=100_000)
def _parsed(quad: Quad) -> ox.Quad:
    graph, s, p, o = quad
    line = f"{s} {p} {o} {graph} ."
    quads: Iterator[ox.Quad] = ox.parse(line.encode(), format=ox.RdfFormat.N_QUADS)
    return next(quads)


def _text(term: object) -> str | None:
    return None if term is None else str(term)
