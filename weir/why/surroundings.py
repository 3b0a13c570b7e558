"""What is around a change of an answer, and how a row of its log is explained by it.

What happened is a number of steps. The row is computed as it would be if the first of them had not
happened, the first two, and so on (`undone_after`): so the fewest are looked for without which it
does not change. A match is looked for in the same way: all that is there is taken away and put back
step by step (`again_after`). That holds for every operator, as none has a case of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Generic, TypeVar

from weir.why.explanation import MOST_NAMED, Cause, ChangedRow, Explanation, Match, Part
from weir.why.fewest import fewest

Step = TypeVar("Step", bound=Hashable)


class Surroundings(ABC, Generic[Step]):
    """What can be taken back of what changed an answer, and what is there."""

    @property
    def is_correction(self) -> bool:
        """Whether what was final before is corrected."""
        return False

    @property
    def is_beside_stored(self) -> bool:
        """Whether rows that parts of the query have stored are there, too."""
        return False

    @abstractmethod
    def changed(self, row: ChangedRow) -> Sequence[Step]:
        """The steps that may have changed a row, those that more probably did first."""

    @abstractmethod
    def undone_after(self, row: ChangedRow, steps: Sequence[Step]) -> int | None:
        """After how many of the steps are taken back the row does not change; None if it does."""

    @abstractmethod
    def there(self, row: ChangedRow) -> Sequence[Step] | None:
        """What is there where the row is; None if it is too much to look through."""

    @abstractmethod
    def again_after(self, row: ChangedRow, steps: Sequence[Step]) -> int | None:
        """After how many of the steps are put back the row is there; None if it is not."""

    @abstractmethod
    def causes(self, steps: Sequence[Step]) -> Sequence[Cause]:
        """What some steps have changed."""

    @abstractmethod
    def part(self, step: Step) -> Part:
        """What is there by a step."""

    def explain(self, row: ChangedRow) -> Explanation:
        """Why a row changed."""
        changed = self.changed(row)
        steps = changed and fewest(changed, lambda some: self.undone_after(row, some), MOST_NAMED)
        changes = self.causes(steps.steps) if steps else ()
        first = steps.steps if steps else ()
        return Explanation(
            row.row,
            row.weight,
            changes,
            not steps or steps.is_all,
            self._match(row, first),
            row.instant,
            self.is_correction,
        )

    def _match(self, row: ChangedRow, first: Sequence[Step]) -> Match | None:
        """The fewest steps with which there is one copy of the row more."""
        there = self.there(row)
        if there is None:
            return None
        known = frozenset(there)
        order = dict.fromkeys([*(step for step in first if step in known), *there])
        parts = fewest([*order], lambda some: self.again_after(row, some), MOST_NAMED)
        if parts is None:
            return None
        return Match([*map(self.part, parts.steps)], parts.is_all, self.is_beside_stored)
