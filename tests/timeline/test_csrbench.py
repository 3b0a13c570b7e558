"""The queries of CSRBench through all stages, and what three engines recorded for them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.support.oracles.answers import comparable
from tests.support.projects.project import Project
from tests.support.streams.csrbench import (
    ENGINES,
    NOTES,
    OPEN_END,
    QUERIES,
    TRANSLATED,
    Benchmark,
    compared,
    second,
)
from tests.support.streams.memory import state
from tests.support.streams.projects import SECOND, START, answer_log

SENSORS = {
    "name": "sensors",
    "kind": "snapshots",
    "location": "data",
    "stream": {"time": "transaction"},
}
"""The file of a second was written in that second."""


@pytest.fixture(scope="module")
def benchmark(shared: Path) -> Benchmark:
    """The data and the answers."""
    return Benchmark(shared)


@pytest.fixture(scope="module")
def project(benchmark: Benchmark, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The whole stream, then one event that closes all windows."""
    folder = tmp_path_factory.mktemp("csrbench")
    project = Project(folder).declare(SENSORS)
    project.folders("data")
    last = folder / "data" / f"data_{OPEN_END}.ttl"
    last.write_text("<urn:the> <urn:last> <urn:event> .\n")
    for file in [*benchmark.files, last]:
        copy = folder / "data" / file.name
        if file != last:
            shutil.copy(file, copy)
        time = int(START.timestamp()) + second(file)
        os.utime(copy, (time, time))
    for number in QUERIES:
        project.query(f"query{number}", TRANSLATED[number].text)
    project.run()
    return project


@pytest.mark.parametrize("number", QUERIES)
def test_the_answer_at_every_close_is_pyoxigraphs_over_the_window(
    benchmark: Benchmark, project: Project, number: int
) -> None:
    """Of pyoxigraph, with the benchmark's own text, over the triples of [c - R, c)."""
    query, name = TRANSLATED[number], f"query{number}"
    names = [
        column for column in project.columns(f"answers/{name}") if column not in _OTHER_COLUMNS
    ]
    order = [names.index(variable) for variable in benchmark.names(number)]
    log = [
        (epoch, instant, weight, tuple(row[i] for i in order))
        for epoch, instant, weight, row in answer_log(project, name)
    ]
    # The grid begins in 1970, and START is a multiple of every step.
    closes = range(0, OPEN_END, query.step)
    assert {instant // SECOND for _, instant, *_ in log} <= {*closes}
    for close in closes:
        expected = benchmark.answer(number, close - query.width, close)
        answer = state(log, len(benchmark.files) + 1, close * SECOND)
        assert comparable(answer) == comparable(expected), close


_OTHER_COLUMNS = ("epoch", "event_time", "weight")
RECORDED = {
    "csparql": [(4, 4), (33, 11), (9, 5), (9, 9), (38, 34), (7, 7), (7, 7)],
    "sparqlstream": [(3, 3), (15, 15), (5, 5), (9, 6), (26, 25), (3, 2), (4, 4)],
    "cqels": [(15, 15), (15, 15), (9, 9), (25, 15), (15, 15), (19, 13), (34, 0)],
}
"""By query, how many reports there are, and how many are the answer of the window."""


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("engine", ENGINES)
def test_recorded_answers_differ_from_the_definition_where_a_note_says_so(
    benchmark: Benchmark, engine: str
) -> None:
    comparisons = [compared(benchmark, engine, number) for number in QUERIES]
    assert [(comparison.reports, comparison.equal) for comparison in comparisons] == RECORDED[
        engine
    ]
    for number, comparison in zip(QUERIES, comparisons, strict=True):
        assert (engine, number) in NOTES or comparison.equal == comparison.reports


@pytest.mark.usefixtures("sampled")
def test_other_differences_than_a_second_at_a_bound_have_a_reason(
    benchmark: Benchmark,
) -> None:
    other = {
        (engine, number): compared(benchmark, engine, number).other
        for engine in ENGINES
        for number in QUERIES
    }
    assert {key: count for key, count in other.items() if count} == {
        ("sparqlstream", 4): 3,
        ("cqels", 4): 10,
        ("cqels", 6): 6,
        ("cqels", 7): 34,
    }
