"""The laws of queries over streams: random queries of the whole grammar in windows, on DuckDB.

A pair is a query and one section of its history; the sections of a query are one long history. The
oracle evaluates the query at every epoch and instant over the windows' contents by their
definitions: pyoxigraph, or the reference evaluator where pyoxigraph departs from the specification.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.support.laws import Seeds
from tests.support.oracles.answers import Row
from tests.support.streams.cases import StreamCase, stream_case
from tests.support.streams.definitions import Meaning
from tests.support.streams.laws import broken_laws, by_oxigraph
from tests.support.streams.memory import StreamMemory
from tests.support.streams.regressions import read, regression_files, write
from weir.plan.lower import lower


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("file", regression_files(), ids=lambda file: file.stem)
def test_a_query_that_once_broke_a_law_keeps_the_laws(file: Path) -> None:
    assert broken_laws(read(file)) == []


@pytest.mark.law("streams")
def test_random_queries_over_streams_keep_the_laws(seeds: Seeds) -> None:
    """Snapshots at every epoch and instant, split invariance, replay, and rows that are final.

    `python -m tests.support.streams.regressions` adds what breaks one.
    """
    seeds.check(lambda seed: broken_laws(stream_case(seed)))


@pytest.mark.usefixtures("sampled", "slow")
def test_the_random_cases_have_every_trait_often_enough() -> None:
    """A generator of windows that never change, or are never corrected, would pass every law."""
    cases = [stream_case(seed) for seed in range(100)]
    counts: Counter[str] = Counter()
    for case in cases:
        counts.update(_traits(case))
    missing = {trait: counts[trait] for trait, least in _LEAST.items() if counts[trait] < least}
    assert missing == {}, counts


_LEAST = {
    "its answer changes": 75,
    "corrections": 50,
    "the graph beside windows": 25,
    "several windows": 20,
    "several streams": 10,
    "a change of the graph corrects": 10,
    "SlidingWindow": 20,
    "SteppedWindow": 50,
    "LastElements": 15,
    "partial": 10,
    "(]": 10,
    "pyoxigraph is the oracle": 40,
    "no solutions without content": 15,
    "a derived graph beside windows": 8,
}
"""How many of a hundred cases have a trait at least."""


def _traits(case: StreamCase) -> set[str]:
    plan = lower(case.parsed(), allow_product=True)
    memory = StreamMemory.of(case, plan)
    timeline = memory.timeline(len(case.epochs))
    meaning = case.meaning()
    windows = [*case.windows.values()]
    traits = {type(window).__name__ for window in windows}
    traits |= {getattr(window, name, "") for window in windows for name in ("first", "bounds")}
    held = [(epoch, at, timeline.horizon(epoch - 1)) for epoch, at in timeline.graph_times]
    answers = _answers(case, meaning, [name for name, _ in plan.columns])
    has = {
        "its answer changes": len(answers) > 1,
        "corrections": any(leg.corrects for leg in timeline.legs(0, len(case.epochs))),
        "the graph beside windows": any(c.scope.window is None for c in plan.components),
        "several windows": len(windows) > 1,
        "several streams": len({*case.streams.values()}) > 1,
        "a change of the graph corrects": any(h is not None and at <= h for _, at, h in held),
        "pyoxigraph is the oracle": case.departure is None,
        "no solutions without content": case.non_empty,
        "a derived graph beside windows": any(c.scope.derived for c in plan.components),
    }
    return traits | {trait for trait, is_so in has.items() if is_so}


def _answers(
    case: StreamCase, meaning: Meaning, columns: list[str]
) -> set[frozenset[tuple[Row, int]]]:
    """The answers at the last instant of every epoch, by pyoxigraph."""
    answers = set()
    for epoch, instant in enumerate(meaning.horizons):
        if instant is not None:
            quads = meaning.dataset(epoch, instant)
            answers.add(frozenset(by_oxigraph(case, quads, columns).items()))
    return answers


def test_a_regression_is_read_as_it_was_written(tmp_path: Path) -> None:
    for seed in range(10):
        case = stream_case(seed)
        assert read(write(case, "case", "No reason.", tmp_path)) == case
