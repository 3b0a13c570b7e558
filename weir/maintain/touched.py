"""The changes of a range of epochs as relations, and the patterns that they touch."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from weir.compute.engine import Engine
from weir.compute.relations import Keep
from weir.engine.neighbourhood import touched_seeds
from weir.engine.read_graph import changes_of_merge, changes_relation
from weir.engine.relations import EpochRange
from weir.maintain.changes import read_changes
from weir.maintain.tasks import Task
from weir.plan.lookups import Seed, predicates_of
from weir.plan.scope import Scope
from weir.progress.watermarks import IngestedEpoch


@dataclass(frozen=True, slots=True)
class ScopeChanges:
    """The changes of a scope that have a predicate of its patterns.

    Attributes:
        relation: of their log rows.
        rows: how many there are.
        seconds: that reading them took.
    """

    relation: str
    rows: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes by scope, and the patterns they touch."""

    by_scope: Mapping[Scope, ScopeChanges]
    touched: frozenset[Seed]

    @property
    def rows(self) -> int:
        """How many there are in all scopes."""
        return sum(changes.rows for changes in self.by_scope.values())

    def touch(self, task: Task) -> bool:
        """Whether a change matches a pattern of the query."""
        return not self.touched.isdisjoint(task.definition.body.seeds)


def read_touched(
    engine: Engine,
    ingested: Sequence[IngestedEpoch],
    tasks: Iterable[Task],
    epochs: EpochRange,
) -> Changes:
    """Read the changes of `epochs` that the queries can see.

    Args:
        engine: reads them.
        ingested: at least those of the range.
        tasks: whose queries these are.
        epochs: the range.

    Raises:
        ChangeFeedGap: the feeds do not hold all of them.
    """
    inside = [t for t in ingested if t.epoch <= epochs.last]
    expected = sum(transaction.changes for transaction in inside)
    if not expected and len(inside) == epochs.last - epochs.after:
        # Nothing is read: the feed may be gone since the graph last changed.
        return Changes({}, frozenset())
    changes: dict[Scope, ScopeChanges] = {}
    touched: set[Seed] = set()
    for i, (scope, seeds) in enumerate(seeds_by_scope(tasks).items()):
        started, name = time.monotonic(), f"changes{i}"
        known = predicates_of(seeds)
        keep: Keep = "small" if engine.placement.holds(expected) else "cache"
        if not scope.is_merge:
            read_changes(engine, name, scope, epochs, ingested, known)
        elif scope.each:
            changes_relation(engine, scope, epochs, name, known, keep)
        else:
            parts = [f"{name}_part{number}" for number in range(len(scope.parts))]
            for part, of_part in zip(parts, scope.parts, strict=True):
                read_changes(engine, part, of_part, epochs, ingested, known)
            changes_of_merge(engine, scope, epochs, name, parts, keep)
        rows = engine.count(name)
        touched |= touched_seeds(engine, name, [*seeds], f"seeds{i}")
        changes[scope] = ScopeChanges(name, rows, time.monotonic() - started)
    return Changes(changes, frozenset(touched))


def seeds_by_scope(tasks: Iterable[Task]) -> dict[Scope, dict[Seed, None]]:
    """The seeds of all queries, each once, by what they see; no plan is read."""
    seeds: dict[Scope, dict[Seed, None]] = {}
    for task in tasks:
        for seed in task.definition.body.seeds:
            seeds.setdefault(seed.scope, {})[seed] = None
    return seeds
