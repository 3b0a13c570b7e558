"""What a new query names and no triple has where it looks: most often it is misspelt.

The answer is right, and mostly empty; nothing else would say so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from sqlglot import exp

from jobs.compute.engine import Engine
from jobs.compute.sql import all_of, column, one_of, rows_of, select, text
from jobs.near import near_iris
from jobs.plan.lookups import Shape
from jobs.rdf.replica_graphs import is_reserved
from lake.tables import TRIPLES

_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_KNOWN = 5_000
"""So many predicates, or types, are compared with one that is not there."""
_SHOWN = 3
"""So much is said of a query."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a query looks for triples.

    Attributes:
        relation: has all triples there with a constant of the query.
        known: the relation of what the query may mean instead.
        of: names it in a sentence; empty for the graph.
    """

    relation: str
    known: str = TRIPLES.name
    of: str = ""


def unmatched(
    engine: Engine, patterns: Mapping[str, Sequence[tuple[Place, Shape]]]
) -> Iterator[tuple[str, str]]:
    """Of queries that are new or edited: their names, and what no triple has where they look.

    Args:
        engine: knows the relations of the places.
        patterns: of each query the shapes of its triple patterns, and where they are looked for.
    """
    shapes: dict[Place, list[Shape]] = {}
    for place, shape in chain.from_iterable(patterns.values()):
        shapes.setdefault(place, []).append(shape)
    missing = {place: _Missing.of(engine, place, shapes[place]) for place in shapes}
    for name, of_query in patterns.items():
        said = (missing[place].sentence(shape) for place, shape in of_query)
        sentences = dict.fromkeys(sentence for sentence in said if sentence)
        if sentences:
            yield name, "; ".join([*sentences][:_SHOWN])


@dataclass(frozen=True, slots=True)
class _Missing:
    """The constants that no triple of a place has.

    Attributes:
        place: where.
        predicates: in the place of the predicate; with the predicates that are there.
        types: as objects of rdf:type; with those that are there.
    """

    place: Place
    predicates: _Absent
    types: _Absent

    @classmethod
    def of(cls, engine: Engine, place: Place, shapes: Sequence[Shape]) -> _Missing:
        predicates = {each.predicate for each in shapes if each.predicate is not None}
        types = {
            each.object for each in shapes if each.predicate == _TYPE and each.object is not None
        }
        named = {each for each in predicates if not is_reserved(each)}
        has_type = [column("predicate").eq(text(_TYPE))]
        return cls(
            place,
            _Absent.of(engine, place, column("predicate"), named, []),
            _Absent.of(engine, place, column("object"), types, has_type),
        )

    def sentence(self, shape: Shape) -> str | None:
        """What is said of a triple pattern; None if nothing."""
        of = self.place.of
        if shape.predicate in self.predicates.missing:
            return f"no triple{of} has the predicate {self.predicates.near(shape.predicate)}"
        if shape.predicate == _TYPE and shape.object in self.types.missing:
            return f"nothing{of} has the type {self.types.near(shape.object)}"
        return None


@dataclass(frozen=True, slots=True)
class _Absent:
    """The terms that are missing where others are known; none if nothing is known there."""

    missing: frozenset[str | None]
    known: Sequence[str]

    def near(self, iri: str | None) -> str:
        """An IRI, and what is near of what is known."""
        assert iri is not None, "it is a constant"
        similar = near_iris(iri, self.known)
        return f"{iri} (near: {', '.join(similar)})" if similar else iri

    @classmethod
    def of(
        cls,
        engine: Engine,
        place: Place,
        at: exp.Column,
        wanted: set[str],
        where: Sequence[exp.Expr],
    ) -> _Absent:
        conditions = [condition.copy() for condition in where]
        missing = wanted - _present(engine, place.relation, at.copy(), wanted, conditions)
        if not missing or not _known(engine, place.known, column("predicate"), [], 1):
            # What is said of a place without triples is no news.
            return cls(frozenset(), ())
        return cls(frozenset(missing), _known(engine, place.known, at, where, _KNOWN))


def _present(
    engine: Engine, graph: str, place: exp.Column, wanted: set[str], where: Sequence[exp.Expr]
) -> set[str]:
    if not wanted:
        return set()
    among = all_of([one_of(place.copy(), sorted(wanted)), *where])
    found = select(place, from_=rows_of(graph), where=[among], distinct=True)
    return {str(row[0]) for row in engine.rows(found)}


def _known(
    engine: Engine, relation: str, at: exp.Column, where: Sequence[exp.Expr], most: int
) -> list[str]:
    terms = select(at, from_=rows_of(relation), where=where, distinct=True, limit=most)
    return [str(row[0]) for row in engine.rows(terms)]
