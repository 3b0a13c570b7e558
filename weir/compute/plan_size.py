"""The size of a relation's plan on Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class PlanSize:
    """The size of a plan, in nodes of the statement.

    Attributes:
        nodes: of the statement and of the views that it reads, if they are not cut.
        depth: of the longest chain of nodes that one task may compute. It includes cut views, until
            a job is known to have stored their rows.
    """

    nodes: int = 1
    depth: int = 0


STORED_TABLE: Final = PlanSize()
