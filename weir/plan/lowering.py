"""The state of lowering one query: its columns, its named graphs, and what has been numbered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from weir.plan.columns import Columns
from weir.plan.context import Context
from weir.plan.operators import PlanNode
from weir.plan.scope import Scope
from weir.sparql.algebra.expressions import Variable
from weir.sparql.algebra.paths import Path
from weir.sparql.algebra.patterns import Node, Pattern


@dataclass(slots=True)
class Lowering:
    """What the functions that lower the patterns of one query share.

    Attributes:
        lower_pattern: lowers any pattern; passed in, as patterns contain each other.
        named: the scope of GRAPH with a variable.
        windows: the names of the windows; GRAPH with one of them reads its content.
        columns: numbers the variables.
        graph_names: the node of all names of named graphs, by the column that holds them.
        path_ends: the hidden other ends of closures, by their steps and the end that is beside.
        numbers: counts the places of the query that need a number of their own.
    """

    lower_pattern: Callable[[Pattern, Context, Lowering], PlanNode]
    named: Scope
    windows: frozenset[str] = frozenset()
    columns: Columns = field(default_factory=Columns)
    graph_names: dict[str, PlanNode] = field(default_factory=dict)
    path_ends: dict[tuple[Path, Node], Variable] = field(default_factory=dict)
    numbers: count[int] = field(default_factory=lambda: count(1))

    def pattern(self, pattern: Pattern, context: Context) -> PlanNode:
        """The plan of `pattern` in `context`."""
        return self.lower_pattern(pattern, context, self)
