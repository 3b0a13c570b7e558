"""What is around a change of an answer, and how a row of its log is explained by it.

What happened is a number of steps. The row is computed as it would be if the first of them had not
happened, the first two, and so on: so the fewest are looked for without which it does not change.
That holds for every operator, as none has a case of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Generic, TypeVar

from weir.why.explanation import MOST_NAMED, Cause, ChangedRow, Explanation, Match
from weir.why.fewest import fewest

Step = TypeVar("Step", bound=Hashable)


class Surroundings(ABC, Generic[Step]):
    """What can be taken back of a change of an answer, and what a row comes from."""

    @property
    def is_correction(self) -> bool:
        """Whether what was final before is corrected."""
        return False

    @abstractmethod
    def changed(self, row: ChangedRow) -> Sequence[Step]:
        """The steps that may have changed a row, those that more probably did first."""

    @abstractmethod
    def undone_after(self, row: ChangedRow, steps: Sequence[Step]) -> int | None:
        """After how many of the steps are taken back the row does not change; None if it does."""

    @abstractmethod
    def match(self, row: ChangedRow, first: Sequence[Step]) -> Match | None:
        """What a row came from, where it is; None if there is too much to look through.

        Args:
            row: the row.
            first: steps that probably are among it.
        """

    @abstractmethod
    def causes(self, steps: Sequence[Step]) -> Sequence[Cause]:
        """What some steps have changed."""

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
            self.match(row, first),
            row.instant,
            self.is_correction,
        )
