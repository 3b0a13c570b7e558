"""The query of Listing 1 of paper 003 (fixture 003-1) through all stages.

The fixture says what a window has at each of six evaluations. Here its content follows from events:
the evaluations are closes of one window, and an event is where every triple of it is in just those
windows. The replica and the remote data of the paper are two graphs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import pytest

from tests.support.generators.basic_cases import Quad, Triple
from tests.support.papers import Fixture, read_fixture
from tests.support.projects.project import Project
from tests.support.streams.projects import START, answer_log

pytestmark = pytest.mark.usefixtures("sampled")

WINDOW = "<http://example.org/W>"
LISTING = """PREFIX : <http://example.org/>
SELECT ?user
FROM NAMED WINDOW :W ON mentions [RANGE 10m STEP 1m]
WHERE {
  WINDOW :W { ?user :hasMentions ?mentionsNum }
  GRAPH :R { ?user :hasFollowers ?fCount }
  FILTER (?fCount > 100000)
}
"""
CONSTRUCTED = LISTING.replace("SELECT ?user", "CONSTRUCT { ?user a :influentialUser }")
CLOSES = (10, 11, 12, 15, 16, 24)
"""The minutes of the evaluations: far enough apart for what enters late and leaves early."""
RANGE = 10
STREAM = {
    "name": "mentions",
    "kind": "patches",
    "location": "mentions",
    "stream": {"time": "transaction"},
}
GRAPH = {"name": "followers", "kind": "patches", "location": "followers"}


@pytest.fixture(scope="module")
def golden(shared: Path) -> Fixture:
    """The fixture."""
    (folder,) = (shared / "papers" / "examples").glob("003-1-*")
    return read_fixture(folder)


def minutes_of_events(golden: Fixture) -> list[tuple[float, Triple]]:
    """When each triple of the window occurs, by minutes, so that it is in the right windows."""
    events = []
    between = [minute + 0.5 for minute in range(-RANGE, CLOSES[-1])]
    contents = [
        {quad[1:] for quad in state if quad[0] == WINDOW} for state in states(golden.history)
    ]
    for triple in sorted(set().union(*contents)):
        wanted = [triple in content for content in contents]
        events.append(
            next(
                (minute, triple)
                for minute in between
                if [minute < close <= minute + RANGE for close in CLOSES] == wanted
            )
        )
    return events


def states(history: Sequence[tuple[frozenset[Quad], frozenset[Quad]]]) -> list[set[Quad]]:
    """What holds after each change."""
    held: set[Quad] = set()
    contents = []
    for vanish, appear in history:
        held = (held - vanish) | appear
        contents.append(held)
    return contents


def write_step(project: Project, golden: Fixture, step: int) -> None:
    """The changes of the graphs, then the events up to an evaluation, and that it is reached."""
    vanish, appear = golden.history[step]
    lines = [
        f"{letter} {' '.join(quad[1:])} {quad[0]} ."
        for letter, quads in (("D", vanish), ("A", appear))
        for quad in sorted(quads)
        if quad[0] != WINDOW
    ]
    if lines:
        project.patch(f"followers/{step}.rdfp", *lines)
        project.ingest()
    since = CLOSES[step - 1] if step else -RANGE
    events = [e for e in minutes_of_events(golden) if since <= e[0] < CLOSES[step]]
    clock: tuple[float, Triple] = (CLOSES[step], ("<u:clock>", "<u:is>", f'"{step}"'))
    for minute, group in groupby(sorted([*events, clock]), key=itemgetter(0)):
        number = int((minute + RANGE) * 2)
        lines = [f"A {' '.join(triple)} ." for _, triple in group]
        time = (START + timedelta(minutes=minute)).isoformat()
        project.patch(f"mentions/{number:04}.rdfp", *lines, time=time)


def deltas(project: Project, query: str) -> list[Counter[tuple[str | None, ...]]]:
    """Between the evaluations, the signed answers."""
    by_close: list[Counter[tuple[str | None, ...]]] = [Counter() for _ in CLOSES]
    minutes = timedelta(minutes=1) // timedelta(microseconds=1)
    for _, instant, weight, row in answer_log(project, query):
        step = next(i for i, close in enumerate(CLOSES) if instant <= close * minutes)
        by_close[step][row] += weight
    return [Counter({row: n for row, n in weights.items() if n}) for weights in by_close]


def expected(golden: Fixture, deltas: str) -> list[Counter[tuple[str | None, ...]]]:
    """The signed answers of the fixture to its query or to that of the oracle."""
    steps = [golden.expected["initial"], *(step[deltas] for step in golden.expected["steps"])]
    changes = []
    for step in steps:
        signed: Counter[tuple[str | None, ...]] = Counter()
        for row in step:
            signed[row["bindings"]["user"],] += row["delta"]
        changes.append(signed)
    return changes


@pytest.fixture(scope="module", params=["every stage after each update", "one run at the end"])
def project(
    golden: Fixture, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Project:
    """All evaluations are done."""
    folder = tmp_path_factory.mktemp("paper")
    project = Project(folder).declare(GRAPH, STREAM)
    project.folders("followers", "mentions")
    project.query("listing", LISTING)
    project.query("oracle", LISTING.replace(":R", ":BKG"))
    project.query("constructed", CONSTRUCTED)
    for step in range(len(CLOSES)):
        write_step(project, golden, step)
        if request.param.startswith("every"):
            project.run()
        else:
            project.ingest()
    project.run()
    return project


def test_every_update_gives_the_deltas_of_the_fixture(golden: Fixture, project: Project) -> None:
    """As bags, with the query over the replica."""
    assert deltas(project, "listing") == expected(golden, "deltas")


def test_the_query_over_remote_data_gives_the_deltas_of_the_oracle(
    golden: Fixture, project: Project
) -> None:
    assert deltas(project, "oracle") == expected(golden, "deltas_oracle")


def test_the_construct_of_the_listing_gives_the_answers_as_sets(
    golden: Fixture, project: Project
) -> None:
    """The listing constructs a triple per user, so a second mention changes nothing."""
    held: Counter[tuple[str | None, ...]] = Counter()
    users = [{row["bindings"]["user"] for row in golden.expected["initial"]}]
    users += [{*step["answer_set"]} for step in golden.expected["steps"]]
    for changed, answer in zip(deltas(project, "constructed"), users, strict=True):
        held.update(changed)
        assert {row[0]: count for row, count in held.items() if count} == dict.fromkeys(answer, 1)
