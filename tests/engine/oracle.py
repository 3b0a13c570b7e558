"""Answers by pyoxigraph, which shares no code with the engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import pyoxigraph as ox

from tests.engine.random_cases import Quad

Row = tuple[str | None, ...]


def parse(quads: frozenset[Quad]) -> list[ox.Quad]:
    """Quads as pyoxigraph's."""
    lines = "".join(f"{s} {p} {o} {g} .\n" for g, s, p, o in quads)
    return list(ox.parse(lines.encode(), format=ox.RdfFormat.N_QUADS))


def answers(
    query: str,
    default_graph: str,
    history: Sequence[tuple[frozenset[Quad], frozenset[Quad]]],
    columns: Sequence[str],
) -> Iterator[Counter[Row]]:
    """The answer of `query` after each epoch, as a bag of rows in N-Triples form.

    `columns` are the variables of a SELECT query in the order of the rows; they differ for `*`.
    """
    dataset = ox.Dataset()
    for vanish, appear in history:
        for quad in parse(vanish):
            dataset.discard(quad)
        for quad in parse(appear):
            dataset.add(quad)
        yield evaluate(query, default_graph, list(dataset), columns)


def evaluate(
    query: str, default_graph: str, quads: list[ox.Quad], columns: Sequence[str]
) -> Counter[Row]:
    """The answer of `query` over `quads`.

    The union of all graphs is merged here: pyoxigraph's own counts a triple once per graph.
    """
    store = ox.Store()
    if default_graph == "union":
        quads = [ox.Quad(quad.subject, quad.predicate, quad.object) for quad in quads]
    store.extend(quads)
    result = store.query(query)
    match result:
        case ox.QueryBoolean():
            value = "true" if result else "false"
            return Counter({(f'"{value}"^^<http://www.w3.org/2001/XMLSchema#boolean>',): 1})
        case ox.QueryTriples():
            triples = {(str(t.subject), str(t.predicate), str(t.object)) for t in result}
            return anonymous(Counter(triples))
        case _:
            return Counter(tuple(_text(row[name]) for name in columns) for row in result)


def anonymous(rows: Counter[Row]) -> Counter[Row]:
    """`rows` with every blank node called `_:`; no two engines name them alike."""
    hidden: Counter[Row] = Counter()
    for row, count in rows.items():
        hidden[tuple("_:" if term and term.startswith("_:") else term for term in row)] += count
    return hidden


def _text(term: object) -> str | None:
    return None if term is None else str(term)
