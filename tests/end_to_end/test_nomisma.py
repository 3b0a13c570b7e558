"""The history of nomisma: 583,314 quads, 203 change sets, ten queries, compared with pyoxigraph.

However the change sets are divided into runs, the published logs have the same rows.
"""

from __future__ import annotations

import gzip
import shutil
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyoxigraph as ox
import pytest

from tests.support.projects.project import PATCHES, Project
from tests.support.stages import STAGES
from weir.project import open_lake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


CHANGE_SETS = 203
HEAD_QUADS = 757_171
QUERIES = 10
# The last change set of each run. The one run has a larger share of the quads than
# `limits.bulk_share`; of the nine, six have one change set, from the smallest to the largest (119,
# 112,839 quads).
CUTS = {
    "1 run": (0, 203),
    "9 runs": (0, 1, 34, 35, 118, 119, 120, 201, 202, 203),
}
# The largest answer has 1.3 million rows; on the driver the test takes a tenth of the time. That
# Spark gives the same rows is tested with smaller data.
LIMITS = {"driver_rows": 3_000_000, "broadcast_rows": 3_000_000}


@dataclass(eq=False)
class Nomisma(Project):
    """A project over the data; its source has the change sets that were added to it so far."""

    data: Path

    def __post_init__(self) -> None:
        super().__post_init__()
        base = {"base": str(self.data / "base.nq.gz"), "base_id": base_id(self.data)}
        self.declare(PATCHES | base, **LIMITS)
        self.folders("changes")
        for file in (self.data / "queries").glob("*.rq"):
            self.query(file.stem, file.read_text())

    def add(self, after: int, last: int) -> None:
        """Add the change sets of (after, last] to the source."""
        for number in range(after + 1, last + 1):
            shutil.copy(self.data / "changes" / f"{number:04}.nqp.gz", self.folder / "changes")

    def timed(self, spark: SparkSession) -> dict[str, float]:
        """Run all stages; seconds of each."""
        seconds = {}
        for name in STAGES:
            started = time.monotonic()
            self.stages(name, spark=spark)
            seconds[name] = time.monotonic() - started
        return seconds

    def log(self, query: str) -> pa.Table:
        """The published log of a query, without event times; the columns by name."""
        log = open_lake(self.settings).rows(f"answers/{query}").drop_columns("event_time")
        return log.select(sorted(log.column_names))


def base_id(data: Path) -> str:
    """The id of the base: the previous one of the first patch."""
    row = (data / "changes.tsv").read_text().splitlines()[1]
    return row.split("\t")[-1]


@pytest.fixture(scope="module")
def data(shared: Path) -> Path:
    return shared / "data" / "nomisma"


class Head:
    """The graph after the last change set, all named graphs merged; computed by pyoxigraph alone.

    Literals are replaced by IRIs, because a store of pyoxigraph rewrites numbers; the queries only
    join.
    """

    def __init__(self, data: Path) -> None:
        quads = set(ox.parse(gzip.decompress((data / "base.nq.gz").read_bytes()), format=_NQ))
        for number in range(1, CHANGE_SETS + 1):
            packed = (data / f"changes/{number:04}.nqp.gz").read_bytes()
            lines = gzip.decompress(packed).split(b"\n")
            deleted, added = (
                set(ox.parse(b"\n".join(x[2:] for x in lines if x[:2] == letter), format=_NQ))
                for letter in (b"D ", b"A ")
            )
            quads = (quads - deleted) | added
        assert len(quads) == HEAD_QUADS
        self._names: dict[ox.Literal, ox.NamedNode] = {}
        self._terms: dict[ox.NamedNode, str] = {}
        self._store = ox.Store()
        self._store.bulk_extend(
            ox.Quad(quad.subject, quad.predicate, self._named(quad.object)) for quad in quads
        )

    def answer(self, query: str) -> pa.Table:
        """The answer of a query, a row per solution; the variables by name."""
        solutions = self._store.query(query)
        assert isinstance(solutions, ox.QuerySolutions)
        names = sorted(variable.value for variable in solutions.variables)
        rows = [[self._text(row[name]) for name in names] for row in solutions]
        return pa.table({name: [row[i] for row in rows] for i, name in enumerate(names)})

    def _named(self, term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple) -> ox.NamedNode:
        if not isinstance(term, ox.Literal):
            assert isinstance(term, ox.NamedNode), "the data have neither blank nodes nor triples"
            return term
        if term not in self._names:
            name = self._names[term] = ox.NamedNode(f"urn:literal:{len(self._names)}")
            self._terms[name] = str(term)
        return self._names[term]

    def _text(self, term: object) -> str:
        assert isinstance(term, ox.NamedNode)
        return self._terms.get(term) or str(term)


_NQ = ox.RdfFormat.N_QUADS


@pytest.fixture(scope="module")
def head(data: Path) -> Head:
    return Head(data)


@pytest.fixture(scope="module")
def initial(spark: SparkSession, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Nomisma:
    """The answers of all queries over the base; only copies of it may be changed."""
    folder = tmp_path_factory.mktemp("nomisma") / "initial"
    project = Nomisma(folder, data)
    print(_timing("base", project.timed(spark)))
    return project


@pytest.fixture(scope="module")
def runs(spark: SparkSession, initial: Nomisma) -> dict[str, Nomisma]:
    """The project after all change sets, per division into runs."""
    done = {}
    for name, cuts in CUTS.items():
        folder = initial.folder.parent / name.replace(" ", "_")
        project = done[name] = initial.copy(folder)
        for after, last in pairwise(cuts):
            project.add(after, last)
            print(_timing(f"{name}: {after + 1}..{last}", project.timed(spark)))
    return done


def _timing(title: str, seconds: dict[str, float]) -> str:
    parts = ", ".join(f"{stage.partition('_')[0]} {time:.1f} s" for stage, time in seconds.items())
    return f"{title}: {parts}"


def differences(left: pa.Table, right: pa.Table) -> int:
    """The size of the symmetric difference of two bags of rows."""
    assert left.column_names == right.column_names
    connection = duckdb.connect()
    connection.register("one", left)
    connection.register("other", right)
    ((count,),) = connection.execute(
        "SELECT (SELECT count(*) FROM (FROM one EXCEPT ALL FROM other))"
        " + (SELECT count(*) FROM (FROM other EXCEPT ALL FROM one))"
    ).fetchall()
    return int(count)


def answer(log: pa.Table) -> pa.Table:
    """The state at the end of a log, a row per solution."""
    connection = duckdb.connect()
    connection.register("log", log)
    names = ", ".join(f'"{name}"' for name in log.column_names if name not in ("epoch", "weight"))
    state = f"SELECT {names}, sum(weight) AS total FROM log GROUP BY {names} HAVING total <> 0"
    ((least,),) = connection.execute(f"SELECT min(total) FROM ({state})").fetchall()
    assert least > 0, "a negative multiplicity"
    rows: pa.Table = connection.sql(
        f"SELECT {names} FROM (SELECT *, unnest(range(total::BIGINT)) FROM ({state}))"
    ).to_arrow_table()
    return rows


def test_the_current_answers_are_those_of_pyoxigraph_on_the_head(
    runs: dict[str, Nomisma], data: Path, head: Head
) -> None:
    """Of one run; the next test shows that the other division gives the same logs."""
    queries = sorted((data / "queries").glob("*.rq"))
    assert len(queries) == QUERIES
    at_once = next(iter(runs.values()))
    for file in queries:
        expected = head.answer(file.read_text())
        assert expected.num_rows, f"{file.stem} has no answer to compare"
        assert differences(answer(at_once.log(file.stem)), expected) == 0, file.stem


def test_the_published_logs_have_the_same_rows_however_the_change_sets_are_divided_into_runs(
    runs: dict[str, Nomisma], data: Path
) -> None:
    (_, at_once), *others = runs.items()
    for file in sorted((data / "queries").glob("*.rq")):
        expected = at_once.log(file.stem)
        assert expected.num_rows
        for cut, other in others:
            assert differences(other.log(file.stem), expected) == 0, (file.stem, cut)
