"""Lookups: which rows of the graph the changes of a pattern can join with.

Starting at a pattern whose matches changed, follow the shared variables outwards through its
segment: every pattern is looked up by the terms that the pattern before it binds. The rows of a
pattern are only ever fetched by terms that come from changed rows of *other* patterns; fetching
them by their own changes would drag in everything around a hub. Where an operator needs rows of a
child that is not stored, the way goes on into other segments (`weir.plan.looked_up`). Lookups of
several queries that begin alike are the same value, so they are done once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from weir.plan.leaves import Component
from weir.plan.scope import Scope
from weir.sparql.algebra.expressions import Constant, Variable
from weir.sparql.algebra.patterns import TriplePattern

Position = Literal["subject", "predicate", "object"]
POSITIONS: tuple[Position, Position, Position] = ("subject", "predicate", "object")
SIDES: tuple[Position, ...] = ("subject", "object", "predicate")
"""In which rows are looked up: subjects first, predicates last, for these have the fewest rows."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The constants of a triple pattern; None for a variable."""

    subject: str | None
    predicate: str | None
    object: str | None

    @classmethod
    def of(cls, pattern: TriplePattern) -> Shape:
        """The shape of `pattern`; a self loop has the shape of other triples, too."""
        terms = (node.term if isinstance(node, Constant) else None for node in pattern.nodes)
        return cls(*terms)


@dataclass(frozen=True, slots=True)
class Seed:
    """The changed rows of a pattern, as far as its constants and filters say which these are.

    Attributes:
        scope: of the pattern.
        shape: of the pattern.
        side: the place of the variable that filters restrict to the fewest terms; None if there is
            none.
        terms: these, in order.
    """

    scope: Scope
    shape: Shape
    side: Position | None = None
    terms: tuple[str, ...] = ()

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes of the rows: each has one of the terms, if there are any."""
        if self.side is None:
            return (self.shape,)
        return tuple(replace(self.shape, **{self.side: term}) for term in self.terms)

    @property
    def depth(self) -> int:
        """Hops from the changes."""
        return 0


@dataclass(frozen=True, slots=True)
class Lookup:
    """Rows of `shape` whose `side` is a term at `source_side` of the rows of `source`.

    Without a `source_side` all are looked up as soon as `source` has rows: the triples of a ground
    segment, which share no variable.
    """

    source: Seed | Lookup
    source_side: Position | None
    shape: Shape
    side: Position

    @property
    def depth(self) -> int:
        """Hops from the changes."""
        return self.source.depth + 1

    @property
    def source_shapes(self) -> tuple[Shape, ...]:
        """The shapes that rows of `source` have; of looked-up rows they are known already."""
        return self.source.shapes if isinstance(self.source, Seed) else (self.source.shape,)

    @property
    def seed(self) -> Seed:
        """Where the lookups started."""
        return self.source if isinstance(self.source, Seed) else self.source.seed

    @property
    def scope(self) -> Scope:
        """The scope that is looked into."""
        return self.seed.scope


def seeds(components: Iterable[Component]) -> tuple[Seed, ...]:
    """The shapes whose changes matter to `components`."""
    pattern_seeds = (
        seed_of(component, pattern) for component in components for pattern in component.patterns
    )
    return tuple(dict.fromkeys(pattern_seeds))


def seed_of(component: Component, pattern: TriplePattern) -> Seed:
    """The changes that matter to one pattern: a row that a filter refuses is in no solution."""
    shape = Shape.of(pattern)
    terms = component.restrictions
    sides = {
        side: terms[node.name]
        for side, node in zip(POSITIONS, pattern.nodes, strict=True)
        if isinstance(node, Variable) and node.name in terms
    }
    if not sides:
        return Seed(component.scope, shape)
    side = min(sides, key=lambda side: len(sides[side]))
    return Seed(component.scope, shape, side, tuple(sorted(sides[side])))


def by_scope(components: Iterable[Component]) -> dict[Scope, list[Component]]:
    """The segments by what their patterns see, in order."""
    scopes: dict[Scope, list[Component]] = {}
    for component in components:
        scopes.setdefault(component.scope, []).append(component)
    return scopes


def predicates(components: Iterable[Component]) -> frozenset[str] | None:
    """The predicates that `components` read; None if one has a variable in that place."""
    return predicates_of(seeds(components))


def predicates_of(seeds: Iterable[Seed]) -> frozenset[str] | None:
    """The predicates of `seeds`; None if one may have any."""
    seed_predicates = {shape.predicate for seed in seeds for shape in seed.shapes}
    known = frozenset(predicate for predicate in seed_predicates if predicate is not None)
    return known if len(known) == len(seed_predicates) else None


@dataclass(frozen=True, slots=True)
class Place:
    """Where rows of the graph have the value of a variable: a side of changed or looked-up rows."""

    rows: Seed | Lookup
    side: Position

    @property
    def scope(self) -> Scope:
        """The scope of the rows."""
        return self.rows.scope


Places = Mapping[str, Place]
"""By variable."""


@dataclass(frozen=True, slots=True)
class Followed:
    """The rows of a segment that were followed: the lookups, and where its variables are."""

    lookups: tuple[Lookup, ...]
    places: Places


def from_changes(component: Component, root: TriplePattern) -> Followed:
    """The rows of a segment with the changed rows of one of its patterns."""
    return _outwards(component, {root: seed_of(component, root)})


def from_values(
    component: Component, places: Places, sides: Sequence[Position] = SIDES
) -> Followed | None:
    """The rows of a segment with the values at some places; None if these do not lead into it.

    A value leads to rows of the scope that it is from.

    Args:
        component: the segment.
        places: of the values.
        sides: of the rows that may have a value.
    """
    known = {name: place for name, place in places.items() if place.scope == component.scope}
    reached: dict[TriplePattern, Seed | Lookup] = {}
    for pattern in component.patterns:
        for side in sides:
            node = getattr(pattern, side)
            if isinstance(node, Variable) and node.name in known:
                place = known[node.name]
                reached[pattern] = Lookup(place.rows, place.side, Shape.of(pattern), side)
                break
    return _outwards(component, reached) if reached else None


def _outwards(component: Component, reached: dict[TriplePattern, Seed | Lookup]) -> Followed:
    """Breadth first over shared variables: one lookup for each pattern that is not reached yet."""
    frontier = [*reached]
    while frontier:
        following: list[TriplePattern] = []
        for pattern in frontier:
            for other in component.patterns:
                if other in reached or not (step := _shared(pattern, other)):
                    continue
                source_side, side = step
                reached[other] = Lookup(reached[pattern], source_side, Shape.of(other), side)
                following.append(other)
        frontier = following
    places: dict[str, Place] = {}
    for pattern, rows in reached.items():
        for side in POSITIONS:
            node = getattr(pattern, side)
            if isinstance(node, Variable):
                places.setdefault(node.name, Place(rows, side))
    made = (rows for rows in reached.values() if isinstance(rows, Lookup))
    return Followed(tuple(made), places)


def _shared(known: TriplePattern, other: TriplePattern) -> tuple[Position | None, Position] | None:
    """Positions of a variable that both have."""
    if not other.variables:
        return None, "subject"
    for side in SIDES:
        node = getattr(other, side)
        if not isinstance(node, Variable):
            continue
        for source_side in POSITIONS:
            if getattr(known, source_side) == node:
                return source_side, side
    return None


def needed(
    lookups: Iterable[Lookup], scope: Scope, touched: frozenset[Seed] | None = None
) -> tuple[Lookup, ...]:
    """Those of some lookups that look into a scope, each once, nearest first.

    Args:
        lookups: of plans.
        scope: which triples.
        touched: the patterns that have changes, from which they start; by default all.
    """
    distinct = dict.fromkeys(
        lookup
        for lookup in lookups
        if lookup.scope == scope and (touched is None or lookup.seed in touched)
    )
    return tuple(sorted(distinct, key=lambda lookup: lookup.depth))
