"""How large the plan of a relation on Spark is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class PlanSize:
    """How large a plan is, in nodes of the statement.

    Attributes:
        nodes: those of the views that it reads included, unless they are cut.
        depth: the most that one task may have to compute: nodes one below the other, those of cut
            views included unless it is known that a job has stored their rows.
    """

    nodes: int = 1
    depth: int = 0


STORED_TABLE: Final = PlanSize()
