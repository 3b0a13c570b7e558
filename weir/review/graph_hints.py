"""Hints that follow from the newest graph: terms that it does not have, patterns without a triple.

The graph is read by the engine; what comes to this process are the predicates and types that a
misspelt one may mean, and a number for each pattern.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.sql import alias, all_of, case, column, number, rows_of, select, text
from weir.definitions.definition import Definition
from weir.engine.read_graph import open_graph, read_whole
from weir.engine.relations import EpochRange
from weir.lake.lake import Lake
from weir.lake.tables import DERIVED
from weir.maintain.unmatched import Place, Unmatched, place_of, unmatched_terms
from weir.plan.lookups import Seed, Shape, predicates_of
from weir.plan.scope import Scope
from weir.rdf.reserved_graphs import is_reserved

_AT_ONCE = 200
"""Patterns that one statement looks for."""


def graph_hints(
    engine: Engine, lake: Lake, queries: Sequence[Definition], epoch: int
) -> Iterator[tuple[Definition, Unmatched]]:
    """What queries name and the graph does not have, with the query.

    Args:
        engine: of the lake.
        lake: has the graph.
        queries: what they read of streams is left out, and of derived graphs that no run made yet.
        epoch: the newest.
    """
    seeds: dict[Scope, dict[Seed, None]] = {}
    of_query = {query.name: [*_seeds(query, lake)] for query in queries}
    for own in of_query.values():
        for seed in own:
            seeds.setdefault(seed.scope, {})[seed] = None
    open_graph(engine, seeds)
    epochs = EpochRange(epoch - 1, epoch, from_nothing=True)
    places: dict[Scope, Place] = {}
    for i, (scope, of_scope) in enumerate(seeds.items()):
        read = read_whole(engine, scope, epochs, f"h{i}", predicates_of(of_scope), reason="hints")
        places[scope] = place_of(engine, read.relation, scope)
    patterns = {
        name: [(places[seed.scope], seed.shape) for seed in own] for name, own in of_query.items()
    }
    unknown: Mapping[str, Sequence[Unmatched]] = dict(unmatched_terms(engine, patterns))
    without = {
        scope: _without_triples(
            engine, places[scope], [*dict.fromkeys(seed.shape for seed in of_scope)]
        )
        for scope, of_scope in seeds.items()
    }
    for query in queries:
        of_terms = unknown.get(query.name, ())
        yield from ((query, term) for term in of_terms)
        said = {term.term for term in of_terms}
        # Patterns that differ in their filters only are said once.
        for scope, shape in dict.fromkeys((s.scope, s.shape) for s in of_query[query.name]):
            terms = (shape.subject, shape.predicate, shape.object)
            # Of a term that no triple has, more need not be said.
            if shape in without[scope] and said.isdisjoint(terms):
                yield query, _no_triple(places[scope], shape)


def _seeds(query: Definition, lake: Lake) -> Iterator[Seed]:
    if query.is_entailed:
        # What is entailed may have terms that no triple has.
        return
    for seed in query.body.seeds:
        predicate = seed.shape.predicate
        if seed.scope.window is not None or (predicate is not None and is_reserved(predicate)):
            continue
        if all(lake.exists(DERIVED.name(name)) for name in seed.scope.derived):
            yield seed


def _without_triples(engine: Engine, place: Place, shapes: Sequence[Shape]) -> set[Shape]:
    """The shapes that no triple of a place has; none of a place without triples."""
    with_terms = [shape for shape in shapes if _conditions(shape)]
    without: set[Shape] = set()
    for start in range(0, len(with_terms), _AT_ONCE):
        some = with_terms[start : start + _AT_ONCE]
        counts = [
            alias(exp.Count(this=case((all_of(_conditions(shape)), number(1)))), f"n{i}")
            for i, shape in enumerate(some)
        ]
        every = alias(exp.Count(this=exp.Star()), "every")
        ((total, *counted),) = engine.rows(select(every, *counts, from_=rows_of(place.relation)))
        if not total:
            # Nothing is ingested that could have any of them.
            return set()
        without |= {shape for shape, n in zip(some, counted, strict=True) if not n}
    return without


def _conditions(shape: Shape) -> list[exp.Expr]:
    terms = {"subject": shape.subject, "predicate": shape.predicate, "object": shape.object}
    return [column(name).eq(text(term)) for name, term in terms.items() if term is not None]


def _no_triple(place: Place, shape: Shape) -> Unmatched:
    parts = [term or "?" for term in (shape.subject, shape.predicate, shape.object)]
    named = shape.object or shape.subject or shape.predicate
    return Unmatched(f"no triple{place.of} matches {' '.join(parts)}", str(named))
