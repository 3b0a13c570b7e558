"""How many random cases each law is tested with, and from which seed on.

A test of a law has the mark `law("<name>")` and the argument `seeds`; a seed gives the same case
everywhere. `WEIR_LAWS` is the fraction of all sizes that is run: by default that of the lane
(`tests/support/lanes.py`), 0 is one seed of each, 30 a long run. The seeds start at `WEIR_SEED`, by
default a number that the commit gives, so that ten commits test ten parts. What failed is repeated
by the two variables, which the failure prints.
"""

from __future__ import annotations

import gc
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

FRACTION, FIRST_SEED = "WEIR_LAWS", "WEIR_SEED"
_PROJECT = Path(__file__).parents[2]
_STARTS = 1_000_000
"""So many starts are possible; mostly no two commits share a seed."""


@dataclass(frozen=True, slots=True)
class Law:
    """What is run of a law.

    Attributes:
        size: seeds at `WEIR_LAWS=1`, which `make deep` runs.
        batch: seeds of one test; about ten seconds, so that processes share them.
        cases: what a seed is.
    """

    size: int
    batch: int
    cases: str


LAWS: Mapping[str, Law] = {
    "graph patterns": Law(300, 15, "a query of one basic graph pattern, and a history"),
    "whole grammar": Law(400, 4, "a query of the whole grammar, and 20 histories"),
    "correlated": Law(60, 2, "a query whose EXISTS depends on the outside, and 2 histories"),
    "entailment": Law(200, 2, "a query under RDFS over a schema and data that change"),
    "derived graphs": Law(200, 2, "a query over a derived graph, and 3 histories of the graph"),
    "derived graphs on Spark": Law(6, 1, "a query over a derived graph, on both"),
    "derived lives": Law(40, 1, "a derived graph and its readers, edited as the graph changes"),
    "programs over epochs": Law(400, 10, "a program that gives a graph, and a history"),
    "programs over epochs on Spark": Law(6, 1, "a program that gives a graph, on both"),
    "owl 2 rl": Law(300, 3, "an ontology and data that change, under OWL 2 RL"),
    "rdfs rules": Law(200, 5, "a schema and data that change, under RDFS by rules"),
    "groups": Law(300, 5, "queries that differ in constants, together and one by one"),
    "services": Law(40, 2, "a query with SERVICE, and 20 histories of graph and replica"),
    "pushed filters": Law(40, 2, "one of these whose remotes are given filters, and do without"),
    "oracles": Law(400, 100, "a query by pyoxigraph, rdflib and the reference evaluator"),
    "origins": Law(400, 50, "a query of the whole grammar, and the states of a history"),
    "w3c histories": Law(24, 1, "an eighth of the W3C evaluation tests, as histories"),
    "rounds of steps": Law(120, 6, "a query and a history, by rounds of one step and of many"),
    "whole grammar on Spark": Law(
        300, 3, "one of the whole grammar, or paths of 30 steps, by DuckDB and by Spark"
    ),
    "compiled plans on Spark": Law(
        10, 5, "one of graph patterns, with compiled plans in several partitions"
    ),
    "groups on Spark": Law(12, 3, "one of groups, by DuckDB and by Spark"),
    "w3c histories on Spark": Law(10, 1, "a tenth of the W3C evaluation tests, on both"),
    "streams on Spark": Law(20, 1, "a query over streams with a correction, on both"),
    "programs on Spark": Law(3, 1, "a program of rules, on both"),
    "streams": Law(75, 3, "a query over streams, and 20 sections of a history"),
    "webs": Law(4000, 400, "a web of documents, and 10 changes of it"),
    "webs and deaths": Law(
        100, 1, "a web, new or changed; evaluation and ingest die at each of their checkpoints"
    ),
    "webs as graphs": Law(140, 4, "26 queries over documents of two traversals, at 6 epochs"),
    "webs as graphs on Spark": Law(20, 4, "one of these queries, by DuckDB and by Spark"),
    "webs through ingest": Law(
        100, 4, "a web of documents, and 5 changes of it, in a lake, by many runs and by one"
    ),
    "programs": Law(1000, 25, "a program of rules, and a history"),
    "programs by clingo": Law(500, 25, "a program of rules and a history, also by clingo"),
    "program files": Law(120, 10, "a file of a program with front matter, and a history"),
    "doors": Law(40, 1, "shapes with a door, and 4 change sets"),
    "reports behind doors": Law(40, 1, "shapes with a door, and 4 runs"),
    "doors over derived graphs": Law(
        60, 1, "shapes with a door over a derived graph, and 4 change sets"
    ),
    "w3c shapes": Law(16, 1, "a sixteenth of the W3C tests of SHACL, as histories"),
    "shapes": Law(1000, 5, "shapes of all kinds of constraints, and 4 epochs of data"),
    "shapes by Jena": Law(200, 50, "shapes of all kinds of constraints, by Apache Jena"),
    "shapes over what follows": Law(
        100, 1, "shapes of all kinds of constraints under RDFS, and 4 epochs of data and schema"
    ),
    "strata": Law(3000, 1000, "rules with any dependencies"),
    "elections": Law(1500, 150, "candidates, a policy and a budget"),
    "budgets": Law(10_000, 2500, "an evaluation whose runs are killed, and its budget"),
    "asking": Law(2000, 500, "an evaluation of a remote that fails now and then"),
    "hostile server": Law(10, 10, "a round of each behaviour of a hostile server"),
    "bad files": Law(2000, 250, "a damaged file of one of seven formats"),
    "labels of blank nodes": Law(2_000, 500, "a document with blank nodes, renamed and shuffled"),
    "spellings of XML": Law(2000, 500, "a document of RDF/XML in any spelling"),
    "endpoint": Law(100, 2, "a query of one basic graph pattern, at epochs of a history"),
    "spellings of a mirror": Law(400, 20, "quads with several spellings of a value, that change"),
    "indexes": Law(200, 2, "24 changes of a log and of its index"),
    "flips of data files": Law(340, 340, "a flipped bit, read in each of six ways"),
    "flips of a lake": Law(400, 100, "a flipped bit in a table of a whole lake"),
    "flips of logs": Law(500, 100, "a flipped bit in the log of a table of a whole lake"),
    "explanations": Law(500, 2, "a query of the whole grammar, two rows of each of two epochs"),
    "explanations over streams": Law(500, 2, "a query over streams, four rows of its log"),
    "explanations of programs": Law(500, 5, "a program of rules, some rows of its log"),
    "explanations of programs over epochs": Law(
        500, 5, "a program that gives a graph, two triples of each of two epochs"
    ),
    "matches": Law(200, 10, "a query of one basic graph pattern, two rows of each of two epochs"),
    "patches": Law(200, 5, "a log that grows and is edited, exported now and then"),
    "event streams": Law(
        200, 4, "a log that grows and is edited, written as pages by calls that are killed"
    ),
    "tests together": Law(60, 2, "4 queries of the whole grammar over 4 graphs, at once and each"),
    "differences": Law(40, 1, "6 queries, edited twice while the graph changes"),
    "edits of any query": Law(
        63, 3, "4 queries of the whole grammar, edited twice while the graph changes"
    ),
    "killed tables": Law(
        90, 2, "a life of an answer and its table, whose runs of publish die now and then"
    ),
    "machines": Law(
        20, 1, "machines share a lake in an object store, their clocks apart, and die now and then"
    ),
    "repaired lives": Law(40, 1, "a life with damaged embeddings, beside one without"),
    "derived graphs over streams": Law(20, 1, "readings and a graph that moves, in a lake"),
    "killed streams": Law(5, 1, "a history of a stream that is killed at every commit"),
    "killed refreshes": Law(20, 20, "evaluations of a remote, each killed at a checkpoint"),
    "interrupts": Law(10, 10, "Ctrl-C at a random moment of a run"),
}


@dataclass(slots=True)
class Seeds:
    """The seeds of one test of a law, in order.

    Attributes:
        law: its name.
        numbers: the seeds.
        current: the seed whose case is being tested, if any.
        failed: seeds whose cases broke the law.
    """

    law: str
    numbers: range
    current: int | None = None
    failed: list[int] = field(default_factory=list)

    def __iter__(self) -> Iterator[int]:
        for seed in self.numbers:
            self.current = seed
            yield seed
        self.current = None

    def __len__(self) -> int:
        return len(self.numbers)

    def one(self) -> int:
        """The seed of a test that has one."""
        (self.current,) = self.numbers
        return self.current

    def check(self, broken_laws: Callable[[int], Iterable[str]]) -> None:
        """Fail if a case breaks the law.

        Args:
            broken_laws: what the case of a seed breaks, a line each.
        """
        broken: list[str] = []
        # Trees of SQL are cycles: collecting them once at the end takes a fraction of the time.
        gc.disable()
        try:
            for seed in self:
                lines = [*broken_laws(seed)]
                if lines:
                    self.failed.append(seed)
                    broken += lines
        finally:
            gc.enable()
            gc.collect()
        assert not broken, f"{len(broken)} broken laws:\n" + "\n".join(broken[:20])

    def again(self, test: str) -> str:
        """How to repeat what failed; empty if no case had begun or all held."""
        seeds = [*self.failed, *([] if self.current is None else [self.current])]
        return "\n".join(
            f"{FRACTION}=0 {FIRST_SEED}={seed} make test ARGS='{test}'" for seed in seeds[:5]
        )


def batches(law: str, start: float, end: float, first: int) -> list[Seeds]:
    """The seeds of a part of a law's size, a value for each test; at least one seed.

    Args:
        law: its name.
        start: the part, from this fraction of the size
        end: to this one.
        first: the seed with which the whole size begins.
    """
    size, batch = LAWS[law].size, LAWS[law].batch
    begin, stop = first + round(size * start), first + round(size * end)
    stop = max(stop, begin + 1)
    return [Seeds(law, range(at, min(at + batch, stop))) for at in range(begin, stop, batch)]


def first_seed() -> int:
    """Of all laws: `WEIR_SEED`, else a number that the commit gives, else (no checkout) 0."""
    if FIRST_SEED in os.environ:
        return int(os.environ[FIRST_SEED])
    command = ["git", "-C", str(_PROJECT), "rev-parse", "HEAD"]
    try:
        commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return 0
    return int(commit, 16) % _STARTS
