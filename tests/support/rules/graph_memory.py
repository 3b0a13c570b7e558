"""A program that gives a graph, maintained over a history in memory as the maintain stage does."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import SparkSession

from tests.support.duck import DuckOfTest
from tests.support.harness import History, LogRow, Memory
from tests.support.spark_harness import SparkMemory
from weir.compute.engine import Engine
from weir.definitions.graph_program import GraphProgramBody
from weir.engine.fixpoint import make
from weir.engine.relations import EpochRange
from weir.engine.thresholds import Thresholds
from weir.plan.leaves import Component
from weir.plan.plan import ANSWER, Plan
from weir.timeline.evaluation import EpochInputs

_NO_PLAN = Plan.__new__(Plan)


class ProgramMemory(Memory):
    """Like `Memory`, of a program."""

    def __init__(self, body: GraphProgramBody, history: History) -> None:
        self.body = body
        Memory.__init__(self, _NO_PLAN, history)

    @property
    def texts(self) -> list[str]:
        """The columns of text that stored rows have."""
        return ["node", "v0", "v1", "v2"]

    @property
    def components(self) -> Sequence[Component]:
        """None: the graph is read by the program."""
        return ()

    def made(
        self,
        engine: DuckOfTest | Engine,
        after: int,
        last: int,
        thresholds: Thresholds,  # noqa: ARG002
        *,
        initial: bool,
    ) -> str:
        """The relation of an engine that has the new rows."""
        epochs = EpochRange(after, last, from_nothing=initial or after == 0)
        delta = self.body.delta(EpochInputs(engine, epochs, {}, "stored", "q"))
        for statement in (*delta.statements, delta.result):
            make(engine, statement)
        return delta.result.name

    def log(self, node: str = ANSWER) -> list[LogRow]:
        """The log of the triples, or of the atoms of a predicate, sorted."""
        rows = self.connection.execute(
            "SELECT epoch, weight, v0, v1, v2 FROM stored WHERE node = ?", [node]
        ).fetchall()
        return sorted(((e, w, tuple(row)) for e, w, *row in rows), key=repr)


class SparkProgramMemory(ProgramMemory, SparkMemory):
    """Like `ProgramMemory`, with every statement run by Spark."""

    def __init__(self, spark: SparkSession, body: GraphProgramBody, history: History) -> None:
        ProgramMemory.__init__(self, body, history)
        self.spark, self.driver_rows = spark, 0
