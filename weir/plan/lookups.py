"""Lookups: which rows of the graph the changes of a pattern can join with.

Starting at a pattern whose matches changed, follow the shared variables outwards through its
segment: every pattern is looked up by the terms that the pattern before it binds. The rows of a
pattern are only ever fetched by terms that come from changed rows of *other* patterns; fetching
them by their own changes would drag in everything around a hub. Lookups of several queries that
begin alike are the same value, so they are done once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from weir.plan.leaves import Component
from weir.plan.scope import Scope
from weir.sparql.algebra.expressions import Constant, Variable
from weir.sparql.algebra.patterns import TriplePattern

Position = Literal["subject", "predicate", "object"]
POSITIONS: tuple[Position, Position, Position] = ("subject", "predicate", "object")


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
    """The changed rows of a shape."""

    scope: Scope
    shape: Shape

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
    """The changes that matter to one pattern."""
    return Seed(component.scope, Shape.of(pattern))


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
    """The predicates of `seeds`; None if one has a variable in that place."""
    seed_predicates = {seed.shape.predicate for seed in seeds}
    known = frozenset(predicate for predicate in seed_predicates if predicate is not None)
    return known if len(known) == len(seed_predicates) else None


def lookups(
    components: Iterable[Component], touched: frozenset[Seed] | None = None
) -> tuple[Lookup, ...]:
    """All lookups from the patterns of `components` that changed, nearest first.

    Args:
        components: segments.
        touched: the seeds that have changes; by default all.
    """
    distinct = dict.fromkeys(
        lookup
        for component in components
        for pattern in component.patterns
        if touched is None or seed_of(component, pattern) in touched
        for lookup in _outwards(component, pattern)
    )
    return tuple(sorted(distinct, key=lambda lookup: lookup.depth))


def _outwards(component: Component, root: TriplePattern) -> Iterator[Lookup]:
    """Breadth first from `root` over shared variables: one lookup for each other pattern."""
    reached: dict[TriplePattern, Seed | Lookup] = {root: seed_of(component, root)}
    frontier = [root]
    while frontier:
        following: list[TriplePattern] = []
        for pattern in frontier:
            for other in component.patterns:
                if other in reached or not (step := _shared(pattern, other)):
                    continue
                source_side, side = step
                lookup = Lookup(reached[pattern], source_side, Shape.of(other), side)
                reached[other] = lookup
                following.append(other)
                yield lookup
        frontier = following


def _shared(known: TriplePattern, other: TriplePattern) -> tuple[Position | None, Position] | None:
    """Positions of a variable that both have; subjects first, predicates last: fewest rows."""
    if not other.variables:
        return None, "subject"
    order: tuple[Position, ...] = ("subject", "object", "predicate")
    for side in order:
        node = getattr(other, side)
        if not isinstance(node, Variable):
            continue
        for source_side in POSITIONS:
            if getattr(known, source_side) == node:
                return source_side, side
    return None
