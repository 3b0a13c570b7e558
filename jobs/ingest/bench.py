"""Where a batch is worked on, and how a source is stopped in the middle of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from jobs.engine.spark import SparkEngine
from jobs.ingest.changesets import ChangeSet, SourceError
from jobs.settings import Settings


@dataclass(frozen=True, slots=True)
class Bench:
    """What a batch works with.

    Attributes:
        engine: where relations are made.
        settings: the limits.
        prefix: of the names of the batch's relations.
        staging: folder or URI for rows that are too many for the driver.
    """

    engine: SparkEngine
    settings: Settings
    prefix: str
    staging: str

    def name(self, relation: str) -> str:
        """The name of one of the batch's relations."""
        return f"{self.prefix}_{relation}"


@dataclass(slots=True)
class Taken:
    """The change sets that will become epochs, by ordinal; fewer and fewer as sources stop."""

    change_sets: dict[int, ChangeSet]
    stopped: dict[str, SourceError] = field(default_factory=dict)

    def stop(self, ordinal: int, error: SourceError) -> None:
        """Take in nothing of a source from the change set `ordinal` on."""
        source = self.change_sets[ordinal].source.name
        self.stopped.setdefault(source, error)
        self.change_sets = {
            number: each
            for number, each in self.change_sets.items()
            if number < ordinal or each.source.name != source
        }

    def replace(self, ordinals: Sequence[int], change_set: ChangeSet) -> None:
        """Take in `change_set` instead of all of `ordinals`."""
        for ordinal in ordinals:
            del self.change_sets[ordinal]
        self.change_sets[max(ordinals)] = change_set

    def of(self, source: str) -> dict[int, ChangeSet]:
        """The change sets of one source."""
        return {
            number: each for number, each in self.change_sets.items() if each.source.name == source
        }

    def by_source(self) -> dict[str, dict[int, ChangeSet]]:
        """The change sets of each source."""
        names = dict.fromkeys(each.source.name for each in self.change_sets.values())
        return {name: self.of(name) for name in names}
