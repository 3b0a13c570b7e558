"""The changes of a range of epochs as relations, and the patterns that they touch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from weir.compute.engine import Engine
from weir.compute.relations import Keep
from weir.engine.neighbourhood import touched_seeds
from weir.engine.read_graph import changes_relation
from weir.engine.relations import EpochRange
from weir.lake.lake import Lake
from weir.maintain.changes import read_changes
from weir.maintain.tasks import Task
from weir.plan.leaves import Component
from weir.plan.lookups import Seed, predicates_of
from weir.plan.scope import Scope
from weir.progress.watermarks import epochs_after


@dataclass(frozen=True, slots=True)
class Changes:
    """Per scope the relation of its changes; how many there are; the patterns they touch."""

    relations: dict[Scope, str]
    rows: int
    touched: frozenset[Seed]

    def touch(self, task: Task) -> bool:
        """Whether a change matches a pattern of the query."""
        return not self.touched.isdisjoint(task.definition.body.seeds)


def read_touched(
    engine: Engine,
    lake: Lake,
    tasks: Iterable[Task],
    epochs: EpochRange,
) -> Changes:
    """Read the changes of `epochs` that the queries can see.

    Raises:
        ChangeFeedGap: the feeds do not hold all of them.
    """
    ingested = epochs_after(lake, epochs.after)
    inside = [t for t in ingested if t.epoch <= epochs.last]
    expected = sum(transaction.changes for transaction in inside)
    if not expected and len(inside) == epochs.last - epochs.after:
        # Nothing is read: the feed may be gone since the graph last changed.
        return Changes({}, 0, frozenset())
    names: dict[Scope, str] = {}
    touched: set[Seed] = set()
    rows = 0
    for i, (scope, seeds) in enumerate(seeds_by_scope(tasks).items()):
        name = names[scope] = f"changes{i}"
        known = predicates_of(seeds)
        if scope.is_merge:
            keep: Keep = "small" if engine.placement.holds(expected) else "cache"
            changes_relation(engine, scope, epochs, name, known, keep)
        else:
            read_changes(engine, name, scope, epochs, ingested, known)
        rows += engine.count(name)
        touched |= touched_seeds(engine, name, [*seeds], f"seeds{i}")
    return Changes(names, rows, frozenset(touched))


def seeds_by_scope(tasks: Iterable[Task]) -> dict[Scope, dict[Seed, None]]:
    """The seeds of all queries, each once, by what they see; no plan is read."""
    seeds: dict[Scope, dict[Seed, None]] = {}
    for task in tasks:
        for seed in task.definition.body.seeds:
            seeds.setdefault(seed.scope, {})[seed] = None
    return seeds


def by_scope(tasks: Iterable[Task]) -> dict[Scope, list[Component]]:
    """The segments of all queries, by what their patterns see."""
    components: dict[Scope, list[Component]] = {}
    for task in tasks:
        for component in task.definition.body.components:
            components.setdefault(component.scope, []).append(component)
    return components
