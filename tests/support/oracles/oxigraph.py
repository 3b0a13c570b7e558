"""The oracle pyoxigraph, which shares no code with Weir: answers over a changing dataset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

import pyoxigraph as ox

from tests.support.generators.basic_cases import Quad
from tests.support.oracles.answers import FALSE, TRUE, Row
from tests.support.oracles.histories import Change


class Oxigraph:
    """A dataset in pyoxigraph that changes epoch by epoch.

    The union of all graphs is maintained here, because pyoxigraph's own counts a triple once per
    graph.
    """

    def __init__(self, default_graph: str) -> None:
        self.default_graph = default_graph
        self.store = ox.Store()
        self._graphs: Counter[ox.Quad] = Counter()

    def apply(self, change: Change) -> None:
        """Apply the change of an epoch."""
        vanish, appear = change
        # In an order that is the same in each process: answers cut by LIMIT depend on it.
        for quad in sorted(vanish):
            for stored in self._stored(quad, -1):
                self.store.remove(stored)
                # The store would otherwise keep a graph that has become empty.
                name = stored.graph_name
                if not isinstance(name, ox.DefaultGraph) and not self._has(name):
                    self.store.remove_graph(name)
        for quad in sorted(appear):
            for stored in self._stored(quad, 1):
                self.store.add(stored)

    def answer(self, query: str, columns: Sequence[str]) -> Counter[Row]:
        """The answer as a bag of rows, with the variables `columns` of a SELECT in their order."""
        result = self.store.query(query)
        match result:
            case ox.QueryBoolean():
                return Counter({(TRUE if result else FALSE,): 1})
            case ox.QueryTriples():
                return Counter({(str(t.subject), str(t.predicate), str(t.object)) for t in result})
            case _:
                return Counter(tuple(_text(row[name]) for name in columns) for row in result)

    def _has(self, graph: ox.NamedNode | ox.BlankNode) -> bool:
        return any(True for _ in self.store.quads_for_pattern(None, None, None, graph))

    def _stored(self, quad: Quad, sign: int) -> Iterator[ox.Quad]:
        """The quads of the store that change with `quad`."""
        parsed = _parsed(quad)
        if self.default_graph == "default" or quad[0]:
            yield parsed
        if self.default_graph == "union":
            triple = ox.Quad(parsed.subject, parsed.predicate, parsed.object)
            self._graphs[triple] += sign
            if self._graphs[triple] == (1 if sign == 1 else 0):
                yield triple


def answers(
    query: str, default_graph: str, history: Sequence[Change], columns: Sequence[str]
) -> Iterator[Counter[Row]]:
    """The answer of `query` after each epoch; `columns` as for `Oxigraph.answer`."""
    oracle = Oxigraph(default_graph)
    for change in history:
        oracle.apply(change)
        yield oracle.answer(query, columns)


@lru_cache(maxsize=100_000)
def _parsed(quad: Quad) -> ox.Quad:
    graph, s, p, o = quad
    line = f"{s} {p} {o} {graph} ."
    quads: Iterator[ox.Quad] = ox.parse(line.encode(), format=ox.RdfFormat.N_QUADS)
    return next(quads)


def _text(term: object) -> str | None:
    return None if term is None else str(term)
