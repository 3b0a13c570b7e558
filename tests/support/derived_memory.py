"""A query over a derived graph, maintained after the query that gives the graph."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import SparkSession

from tests.support.harness import LOOKED_UP, History, Memory
from tests.support.spark_harness import SparkMemory
from weir.engine.thresholds import Thresholds
from weir.plan.leaves import Component
from weir.plan.lower import lower
from weir.plan.nodes import Operator
from weir.plan.plan import Plan
from weir.sparql.frontend.translate import translate

GIVER, GRAPH = "up", "<urn:derived>"
"""The name of the query that gives the graph, and the graph."""
_RELATION = f"derived_{GIVER}"


def reader_plan(query: str, default_graph: str, *, reads: bool) -> Plan:
    """The plan of a query that reads the graph: by its name, or by FROM and GRAPH."""
    algebra = translate(query, default_graph)  # type: ignore[arg-type]
    if reads:
        algebra = replace(algebra, dataset=replace(algebra.dataset, derived=(GIVER,)))
    return lower(algebra, allow_product=True).map_nodes(_over)  # type: ignore[arg-type]


def _over(node: Operator) -> Operator:
    if not isinstance(node, Component):
        return node
    return replace(node, scope=node.scope.over({GRAPH: GIVER}))


class DerivedMemory(Memory):
    """Like `Memory`, of a query that reads the graph of another one."""

    def __init__(self, plan: Plan, history: History, giver: Plan) -> None:
        super().__init__(plan, history)
        self._start(history, giver)

    def _start(self, history: History, giver: Plan) -> None:
        self.giver = Memory(giver, history)
        self.connection.execute(
            f"CREATE TABLE {_RELATION} (subject VARCHAR, predicate VARCHAR, object VARCHAR, "
            "epoch BIGINT, weight BIGINT)"
        )

    @property
    def tables(self) -> tuple[str, ...]:
        """The relations that statements read."""
        return (*super().tables, _RELATION)

    def run(
        self, after: int, last: int, *, thresholds: Thresholds = LOOKED_UP, initial: bool = False
    ) -> None:
        """Process the epochs (after, last], of the giver first."""
        self.giver.run(after, last, initial=initial)
        rows = [(*row, epoch, weight) for epoch, weight, row in self.giver.log() if epoch > after]
        if rows:
            self.connection.executemany(f"INSERT INTO {_RELATION} VALUES (?, ?, ?, ?, ?)", rows)
        super().run(after, last, thresholds=thresholds, initial=initial)


class SparkDerivedMemory(DerivedMemory, SparkMemory):
    """Like `DerivedMemory`, with every statement of the reader run by Spark."""

    def __init__(self, spark: SparkSession, plan: Plan, history: History, giver: Plan) -> None:
        SparkMemory.__init__(self, spark, plan, history)
        self._start(history, giver)
