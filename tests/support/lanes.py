"""Which tests a lane runs, and which run in one process, by their fixtures and folders.

`--lane test` is what `make test` runs, `--lane rest` what `make test-all` adds, `--lane deep` all;
without it, pytest runs what its arguments name. Tests of laws (`tests/support/laws.py`) are in each
lane, with other seeds.
"""

from __future__ import annotations

import gc
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.laws import FIRST_SEED, FRACTION, Seeds, batches, first_seed
from weir.process.leaving import collect_rarely

OPTION = "--lane"


@dataclass(frozen=True, slots=True)
class Lane:
    """Which part of the laws' sizes a lane runs, and which of the other tests.

    Attributes:
        laws: from which to which fraction of their sizes.
        dear: whether it has the dear tests.
        cheap: whether it has the others.
        shares: those of the cases of sampled tests, of `SHARES`; the first is that of `make test`.
    """

    laws: tuple[float, float]
    dear: bool
    cheap: bool
    shares: frozenset[int]


SHARES = 16
"""Of the cases of a sampled test, `make test` runs a share that moves with the commit, `make
test-all` another one, `make deep` all.
"""
_ALL = frozenset(range(SHARES))
LANES = {
    "test": Lane(laws=(0.0, 0.01), dear=False, cheap=True, shares=frozenset({0})),
    "rest": Lane(laws=(0.01, 0.04), dear=True, cheap=False, shares=frozenset({1})),
    "deep": Lane(laws=(0.0, 1.0), dear=True, cheap=True, shares=_ALL),
}
UNNAMED = Lane(laws=(0.0, 0.01), dear=True, cheap=True, shares=_ALL)

ONCE = {
    "spark": "spark",
    "airflow_database": "airflow",
    "running_endpoint": "fuseki",
    "jena": "jena",
    "object_store": "store",
    "own_jvm": "jvm",
}
"""What is started once in a run, by fixture: its tests are in one process of pytest, and first."""
MARKS = {"spark": "spark", "fuseki": "running_endpoint", "store": "object_store"}
"""The fixtures that single cases of a test use, by their marks."""
DEAR_FIXTURES = frozenset({*ONCE, "slow"})
SAMPLED_FIXTURES = frozenset({"sampled"})
DEAR_FOLDERS = ("tests/torture/", "tests/demo/", "tests/bench/", "tests/wheel/")
END_TO_END = "tests/dags/test_execution.py"
"""The DAGs on Airflow, from a change set to the published answer: in `make test`, too."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(OPTION, choices=sorted(LANES), help="run the tests of this lane")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Processes of pytest-xdist inherit the seed: all have to collect the same tests."""
    os.environ.setdefault(FIRST_SEED, str(first_seed()))
    config.addinivalue_line("markers", "law(name): the random cases of a law, by `seeds`")
    config.addinivalue_line("markers", "spark: uses the Spark session of the run")
    config.addinivalue_line("markers", "fuseki: uses Fuseki")
    config.addinivalue_line("markers", "store: uses the object store of the run")


def pytest_report_header(config: pytest.Config) -> str:
    """What repeats this run."""
    start, end = laws_of(config)
    return f"laws: {start:g} to {end:g} of their sizes, from {FIRST_SEED}={first_seed()} on"


def lane_of(config: pytest.Config) -> Lane:
    """The lane that is run."""
    return LANES.get(config.getoption(OPTION), UNNAMED)


def laws_of(config: pytest.Config) -> tuple[float, float]:
    """From which to which fraction of their sizes laws are run."""
    fraction = os.environ.get(FRACTION)
    return lane_of(config).laws if fraction is None else (0.0, float(fraction))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test for each batch of seeds of a law."""
    mark = metafunc.definition.get_closest_marker("law")
    if mark is not None:
        start, end = laws_of(metafunc.config)
        if is_dear(metafunc.definition.location[0], frozenset(metafunc.fixturenames)):
            # `make test` has none of them.
            start = 0.0
        seeds = batches(mark.args[0], start, end, first_seed())
        metafunc.parametrize("seeds", seeds, ids=[f"part{i}" for i in range(len(seeds))])


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is of other lanes, and keep together what is started once."""
    lane = lane_of(config)
    kept: dict[bool, list[pytest.Item]] = {True: [], False: []}
    left_out = []
    for item in items:
        fixtures = frozenset(getattr(item, "fixturenames", ()))
        fixtures |= {MARKS[mark] for mark in MARKS if item.get_closest_marker(mark)}
        file, is_law = item.location[0], item.get_closest_marker("law") is not None
        is_sampled = not is_law and bool(SAMPLED_FIXTURES & fixtures)
        if not _is_of(lane, item, is_law=is_law, is_sampled=is_sampled, fixtures=fixtures):
            left_out.append(item)
            continue
        once = next((ONCE[fixture] for fixture in ONCE if fixture in fixtures), None)
        kept[once is not None].append(item)
        if once or not is_law:
            item.add_marker(pytest.mark.xdist_group(once or file))
        if "spark" in fixtures:
            item.add_marker("spark")
    items[:] = kept[True] + kept[False]
    config.hook.pytest_deselected(items=left_out)


def is_dear(file: str, fixtures: frozenset[str]) -> bool:
    """Whether `make test` leaves a test to `make test-all`."""
    if file == END_TO_END:
        return False
    return bool(DEAR_FIXTURES & fixtures) or file.startswith(DEAR_FOLDERS)


def _is_of(
    lane: Lane, item: pytest.Item, *, is_law: bool, is_sampled: bool, fixtures: frozenset[str]
) -> bool:
    """Whether a lane runs a test."""
    if is_dear(item.location[0], fixtures):
        # `make test` has none of them, so that its share is that of `make test-all`, too.
        return lane.dear and (not is_sampled or _share(item) in lane.shares | {0})
    if is_sampled:
        return _share(item) in lane.shares
    return lane.cheap or is_law


def _share(item: pytest.Item) -> int:
    """The share of a sampled test, which moves with the commit."""
    return (zlib.crc32(item.nodeid.encode()) + first_seed()) % SHARES


def pytest_collection_finish() -> None:
    """What was imported and collected stays: the collector of garbage need not look at it again."""
    gc.collect()
    gc.freeze()
    # As the command does: it took 7 % of the time of a project's life.
    collect_rarely()


def pytest_sessionfinish() -> None:
    """Modules of C++ complain at the end about what was not collected."""
    gc.unfreeze()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Print how to repeat what failed of a law."""
    outcome: Any = yield
    report = outcome.get_result()
    seeds = getattr(item, "funcargs", {}).get("seeds")
    if report.failed and isinstance(seeds, Seeds):
        report.sections.append(("repeat", seeds.again(item.nodeid.partition("[")[0])))
