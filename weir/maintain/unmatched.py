"""What a new query names and no triple has where it looks: most often it is misspelt.

The answer is right, and mostly empty; nothing else would say so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.relations import Statement
from weir.compute.sql import all_of, column, columns, one_of, rows_of, select, text
from weir.engine.graph import POSITIONS, graphs_of
from weir.lake.tables import QUADS, TRIPLES
from weir.plan.lookups import Shape
from weir.plan.scope import Scope
from weir.rdf.reserved_graphs import is_reserved
from weir.text.near import near_iris

_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_KNOWN = 5_000
"""So many predicates, or types, are compared with one that is not there."""
_SHOWN = 3
"""So much is said of a query."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a query looks for triples.

    Attributes:
        relation: has all triples there with a constant of the query; those that were deleted may
            be among them.
        known: the relation of what the query may mean instead.
        name: of it in a sentence; empty for the graph.
    """

    relation: str
    known: str = TRIPLES.name
    name: str = ""

    @property
    def of(self) -> str:
        """What follows "no triple" in a sentence."""
        return f" of {self.name}" if self.name else ""


def place_of(engine: Engine, relation: str, scope: Scope) -> Place:
    """Where triples of a scope are looked for.

    Args:
        engine: knows the relations.
        relation: the triples of the scope.
        scope: of patterns of a query.
    """
    if not scope.traversals:
        return Place(relation)
    # What else a query may mean is in the documents; there may be none yet.
    known = f"{relation}_known"
    quads = select(*columns(POSITIONS), from_=rows_of(QUADS.name), where=[graphs_of(scope)])
    engine.make(Statement(known, quads))
    kind = "traversal" if len(scope.traversals) == 1 else "traversals"
    return Place(relation, known, f"the {kind} {', '.join(scope.traversals)}")


@dataclass(frozen=True, slots=True)
class Unmatched:
    """A term that no triple has where a query looks.

    Attributes:
        what: is said of it.
        term: it, in N-Triples form.
        near: what may be meant instead, in the same form.
    """

    what: str
    term: str
    near: Sequence[str] = ()

    @property
    def sentence(self) -> str:
        """What is said of it, with what may be meant."""
        return f"{self.what} (near: {', '.join(self.near)})" if self.near else self.what


def unmatched(
    engine: Engine,
    patterns: Mapping[str, Sequence[tuple[Place, Shape]]],
    others: Sequence[Place] = (),
) -> Iterator[tuple[str, str]]:
    """Of queries that are new or edited: their names, and what no triple has where they look.

    Args:
        engine: knows the relations of the places.
        patterns: of each query the shapes of its triple patterns, and where they are looked for.
        others: where else a query could have looked.
    """
    for name, terms in unmatched_terms(engine, patterns, others):
        yield name, "; ".join([term.sentence for term in terms][:_SHOWN])


def unmatched_terms(
    engine: Engine,
    patterns: Mapping[str, Sequence[tuple[Place, Shape]]],
    others: Sequence[Place] = (),
) -> Iterator[tuple[str, Sequence[Unmatched]]]:
    """Of queries: their names, and the terms that no triple has where they look; as `unmatched`."""
    shapes: dict[Place, list[Shape]] = {}
    for place, shape in chain.from_iterable(patterns.values()):
        shapes.setdefault(place, []).append(shape)
    missing = {place: _Missing.of(engine, place, shapes[place], others) for place in shapes}
    for name, of_query in patterns.items():
        said = (missing[place].unmatched(shape) for place, shape in of_query)
        terms = {term.sentence: term for term in said if term is not None}
        if terms:
            yield name, [*terms.values()]


@dataclass(frozen=True, slots=True)
class _Missing:
    """The constants that no triple of a place has; none of a place without triples.

    Attributes:
        place: where.
        predicates: in the place of the predicate.
        types: as objects of rdf:type.
        known_predicates: those that are there.
        known_types: the same.
        elsewhere: where else a predicate is.
    """

    place: Place
    predicates: Collection[str | None] = ()
    types: Collection[str | None] = ()
    known_predicates: Sequence[str] = ()
    known_types: Sequence[str] = ()
    elsewhere: Mapping[str | None, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, engine: Engine, place: Place, shapes: Sequence[Shape], others: Sequence[Place]
    ) -> _Missing:
        named = {shape.predicate for shape in shapes if shape.predicate is not None}
        predicates = {predicate for predicate in named if not is_reserved(predicate)}
        types = {shape.object for shape in shapes if shape.predicate == _TYPE and shape.object}
        predicates -= _present(engine, place, column("predicate"), predicates, [])
        types -= _present(engine, place, column("object"), types, [_has_type()])
        if not predicates and not types:
            return cls(place)
        known = _known(engine, place, column("predicate"), [])
        if not known:
            return cls(place)
        known_types = _known(engine, place, column("object"), [_has_type()]) if types else []
        elsewhere: dict[str | None, str] = {
            predicate: other.name or "the graph"
            for other in others
            if other != place
            for predicate in _present(engine, other, column("predicate"), predicates, [])
        }
        return cls(place, predicates, types, known, known_types, elsewhere)

    def unmatched(self, shape: Shape) -> Unmatched | None:
        """What a triple pattern names in vain; None if nothing."""
        of, predicate = self.place.of, shape.predicate
        if predicate in self.elsewhere:
            where = self.elsewhere[predicate]
            what = f"no triple{of} has the predicate {predicate}, but {where} has it"
            return Unmatched(what, str(predicate))
        if predicate is not None and predicate in self.predicates:
            near = near_iris(predicate, self.known_predicates)
            return Unmatched(f"no triple{of} has the predicate {predicate}", predicate, near)
        if predicate == _TYPE and shape.object is not None and shape.object in self.types:
            near = near_iris(shape.object, self.known_types)
            return Unmatched(f"nothing{of} has the type {shape.object}", shape.object, near)
        return None


def _has_type() -> exp.Expr:
    return column("predicate").eq(text(_TYPE))


def _present(
    engine: Engine, place: Place, at: exp.Column, wanted: set[str], where: Sequence[exp.Expr]
) -> set[str]:
    if not wanted:
        return set()
    among = all_of([one_of(at.copy(), sorted(wanted)), *where])
    terms = select(at, from_=rows_of(place.relation), where=[among], distinct=True)
    return {str(row[0]) for row in engine.rows(terms)}


def _known(engine: Engine, place: Place, at: exp.Column, where: Sequence[exp.Expr]) -> list[str]:
    terms = select(at, from_=rows_of(place.known), where=where, distinct=True, limit=_KNOWN)
    return [str(row[0]) for row in engine.rows(terms)]
