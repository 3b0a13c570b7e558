"""Derived graphs beside windows, in a lake: readers have the answers of what is written out."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.laws import Seeds
from tests.support.opened import on_spark
from tests.support.projects.project import Project
from tests.support.streams.memory import state
from tests.support.streams.projects import SECOND, START, answer_log, readings
from tests.support.streams.sensors import ROOMS, SENSORS
from weir.audit.stage import audit_lake
from weir.compact.stage import compact_lake
from weir.compute.session import Spark
from weir.definitions.catalog import registered
from weir.errors import WeirError
from weir.lake.lake import Lake
from weir.lake.tables import DERIVED, EMBEDDINGS
from weir.progress.backlog import LaterStart
from weir.project import Project as Opened
from weir.why.explain import explain_epoch
from weir.why.explanation import Change, Explanation

_EX = "http://example.org/"
FLOORS = f"""#+ graph: urn:d:floors
PREFIX ex: <{_EX}>
CONSTRUCT {{ ?sensor ex:on ?floor }} WHERE {{ ?sensor ex:in ?room . ?room ex:of ?floor }}
"""
OTHER_FLOORS = FLOORS.replace("?room ex:of ?floor", "OPTIONAL { ?room ex:of ?floor }")
"""The same triples by another plan: an edit has the graph begin again."""
_READER = f"""#+ corrects_back: PT20S
PREFIX ex: <{_EX}>
SELECT ?floor (COUNT(*) AS ?n) {{}}
FROM NAMED WINDOW ex:w ON readings [RANGE PT10S STEP PT10S]
WHERE {{{{ WINDOW ex:w {{{{ ?reading ex:of ?sensor }}}} {{}} }}}}
GROUP BY ?floor
"""
_ON = "?sensor ex:on ?floor"
READERS = {
    "by_reads": "#+ reads: [floors]\n" + _READER.format("", _ON),
    "by_from": _READER.format("FROM <urn:d:floors>", _ON),
    "by_graph": _READER.format("", f"GRAPH <urn:d:floors> {{ {_ON} }}"),
}
WRITTEN_OUT = _READER.format("", "?sensor ex:in ?room . ?room ex:of ?floor")
_PROGRAM = """%+ stream: readings
%+ unit: PT10S
%+ corrects_back: PT20S
%+ prefixes: {"": "http://example.org/"}
"""
PROGRAM = f"""{_PROGRAM}%+ reads: [floors]
%+ atoms: {{"read(S)": "?R :of ?S", "on(S,F)": {{graph: "?S :on ?F"}}}}
busy(F) <- win^1 diamond read(S), on(S,F).
"""
PROGRAM_WRITTEN_OUT = f"""{_PROGRAM}%+ atoms:
%+   "read(S)": "?R :of ?S"
%+   "within(S,R)": {{graph: "?S :in ?R"}}
%+   "part(R,F)": {{graph: "?R :of ?F"}}
busy(F) <- win^1 diamond read(S), within(S,R), part(R,F).
"""
_SENSORS, _ROOMS, _FLOORS = ("s1", "s2", "s3"), ("kitchen", "hall"), ("f1", "f2")


@dataclass
class Life:
    """A random history of where sensors are and of their readings, of which many are late."""

    project: Project
    rng: random.Random
    now: int = 0
    number: int = 0

    def advance(self) -> None:
        """Change the graph, or have some readings arrive, or both."""
        if self.rng.random() < 0.5:
            self.move()
        if self.rng.random() < 0.8:
            self.read()

    def move(self) -> None:
        """Change where a sensor or a room is, mostly at a time that is said."""
        subject = self.rng.choice((*_SENSORS, *_ROOMS))
        predicate, places = ("in", _ROOMS) if subject in _SENSORS else ("of", _FLOORS)
        sign = self.rng.choice("AAD")
        line = f"{sign} <{_EX}{subject}> <{_EX}{predicate}> <{_EX}{self.rng.choice(places)}> ."
        second = max(0, self.now + self.rng.randint(-25, 5))
        at = START.replace(minute=second // 60, second=second % 60).isoformat()
        time = at if self.rng.random() < 0.7 else ""
        self.number += 1
        self.project.patch(f"changes/{self.number:04}.rdfp", line, time=time)

    def read(self) -> None:
        """Have readings arrive."""
        seconds = [self.now + self.rng.randint(-20, 15) for _ in range(self.rng.randint(1, 4))]
        self.now = max(self.now, *seconds)
        text = readings(*((self.rng.choice(_SENSORS), max(0, second)) for second in seconds))
        self.number += 1
        self.project.write(f"events/{self.number:04}.nt", text)


def begun(folder: Path) -> Project:
    """A project with a derived graph, its readers, and the same written out; nothing is in it."""
    project = Project(folder).declare(ROOMS, SENSORS)
    project.folders("events")
    project.query("floors", FLOORS)
    for name, text in READERS.items():
        project.query(name, text)
    project.query("written_out", WRITTEN_OUT)
    project.program("program", PROGRAM)
    project.program("program_written_out", PROGRAM_WRITTEN_OUT)
    return project


def states(
    project: Project, name: str, seconds: Sequence[int]
) -> list[Counter[tuple[str | None, ...]]]:
    """The answer at some seconds, as known now."""
    log = answer_log(project, name)
    return [state(log, 10**9, second * SECOND) for second in seconds]


def begins(project: Project, name: str) -> int:
    """The first second of an answer; 0 if it begins with its streams."""
    last = Lake(project.settings.lake).last_metadata(EMBEDDINGS.name(name))
    assert last is not None, "it is maintained"
    start = LaterStart.from_json(last[1].extra)
    return 0 if start is None else (start.begins - int(START.timestamp()) * SECOND) // SECOND


@pytest.mark.usefixtures("slow")
@pytest.mark.law("derived graphs over streams")
def test_readers_over_windows_have_the_answers_of_what_is_written_out(
    tmp_path: Path, seeds: Seeds
) -> None:
    """Row for row, while what gives the graph is not edited; then at each instant from their
    first on.
    """
    for seed in seeds:
        rng = random.Random(f"derived over streams {seed}")
        project = begun(tmp_path / str(seed))
        life = Life(project, rng)
        life.move()
        life.read()
        project.run()
        texts = [FLOORS]
        for _ in range(6):
            for _ in range(rng.randint(1, 2)):
                life.advance()
            if rng.random() < 0.2:
                texts.append(OTHER_FLOORS if texts[-1] == FLOORS else FLOORS)
                project.query("floors", texts[-1])
            project.run()
        # Readers that wait for the instant from which the graph is known reach it.
        life.now += 60
        life.read()
        project.run()
        pairs = [(name, "written_out") for name in READERS]
        for name, other in (*pairs, ("program", "program_written_out")):
            first = begins(project, name)
            seconds = range(first, life.now + 1)
            at = f"seed {seed}, {name} from {first} on"
            assert states(project, name, seconds) == states(project, other, seconds), at
            if len(texts) == 1:
                assert answer_log(project, name) == answer_log(project, other), at
        with Opened(project.settings) as opened:
            audit_lake(opened, "audit")


def moved(project: Project, second: int, *lines: str) -> None:
    number = len(project.change_sets) + 1
    time = START.replace(second=second).isoformat()
    project.patch(f"changes/{number:04}.rdfp", *(f"{line} ." for line in lines), time=time)


def placed(sign: str, subject: str, predicate: str, place: str) -> str:
    return f"{sign} <{_EX}{subject}> <{_EX}{predicate}> <{_EX}{place}>"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A kitchen on the floor f1, into which s1 comes at second 5; readings at 1, 12 and 25."""
    project = Project(tmp_path / "project").declare(ROOMS, SENSORS)
    project.folders("events")
    project.query("written_out", WRITTEN_OUT)
    moved(project, 0, placed("A", "kitchen", "of", "f1"))
    moved(project, 5, placed("A", "s1", "in", "kitchen"))
    project.write("events/1.nt", readings(("s1", 1), ("s1", 12), ("s1", 25)))
    return project


def register(project: Project, floors: str = FLOORS) -> None:
    """Have it give a graph, and a query read that."""
    project.query("floors", floors)
    project.query("reader", READERS["by_graph"])


def explained(project: Project, name: str = "reader") -> Sequence[Explanation]:
    """Why rows of the newest epoch changed that has any."""
    with Opened(project.settings) as opened:
        definition = registered(project.settings, name)
        return explain_epoch(opened, definition, None, {}, 5).rows


def test_a_reader_that_is_registered_later_begins_when_the_graph_is_known(project: Project) -> None:
    project.run()
    moved(project, 15, placed("A", "kitchen", "of", "f2"))
    project.run()
    register(project)
    project.run()
    assert begins(project, "reader") == 15
    assert states(project, "reader", [20]) == states(project, "written_out", [20])


def test_what_a_graph_begins_with_holds_before_the_epoch_at_which_it_begins(
    project: Project,
) -> None:
    """Late readings begin a leg, and that before it ends at an earlier epoch."""
    project.run()
    project.write("events/2.nt", readings(("s1", 14), ("s1", 35)))
    project.run()
    register(project)
    project.run()
    seconds = range(5, 40)
    assert states(project, "reader", seconds) == states(project, "written_out", seconds)
    assert states(project, "reader", [10]) != [Counter()]


def test_a_reader_of_a_graph_with_its_full_history_begins_with_its_stream(project: Project) -> None:
    project.query("floors", "#+ history: full\n" + FLOORS)
    project.run()
    moved(project, 15, placed("A", "kitchen", "of", "f2"))
    project.run()
    project.query("reader", READERS["by_graph"])
    project.run()
    assert begins(project, "reader") == 0
    assert answer_log(project, "reader") == answer_log(project, "written_out")


def test_a_reader_of_a_graph_with_its_history_since_a_compaction_begins_there(
    project: Project, spark: Spark
) -> None:
    # While a query over windows reads the graph, its log is kept.
    project.remove_query("written_out")
    project.folders("queries")
    project.run()
    here, there = placed("D", "kitchen", "of", "f1"), placed("A", "kitchen", "of", "f2")
    moved(project, 15, here, there)
    project.run()
    project.configure(keep_epochs=0)
    assert on_spark(spark, compact_lake, project.settings, "compact").consolidated_until
    register(project, "#+ history: full\n" + FLOORS)
    project.run()
    assert begins(project, "reader") == 15


def test_rows_of_the_first_run_are_explained(project: Project) -> None:
    register(project)
    project.run()
    assert explained(project)


def test_a_match_has_triples_with_which_the_derived_graph_begins(project: Project) -> None:
    """It begins at an epoch of events, after the newest one of the graph."""
    register(project)
    project.run()
    project.write("events/2.nt", readings(("s1", 31), ("s1", 45)))
    project.run()
    matches = [row.match for row in explained(project) if row.match is not None]
    on = (f"<{_EX}s1>", f"<{_EX}on>", f"<{_EX}f1>")
    assert any(on in match.parts for match in matches)


def test_what_fails_is_said_to_be_the_graph(project: Project) -> None:
    register(project)
    project.run()
    unknown = FLOORS.replace(
        "WHERE {", "WHERE { SERVICE <http://127.0.0.1/unknown> { ?room ?p ?o }"
    )
    project.query("floors", unknown)
    moved(project, 15, placed("A", "kitchen", "of", "f2"))
    with pytest.raises(WeirError) as raised:
        project.run()
    said = [str(part) for part in raised.value.parts]
    what = "reader.rq: the query floors, whose graph it reads, was not maintained"
    assert any(what in part for part in said), said


def test_what_only_a_derived_graph_has_is_not_said_to_be_missing(project: Project) -> None:
    register(project)
    assert project.run().warnings == []


def test_a_change_of_the_derived_graph_is_named_where_it_changes_an_answer(
    project: Project,
) -> None:
    register(project)
    project.query("by_reads", READERS["by_reads"])
    project.program("program", PROGRAM)
    project.run()
    moved(project, 10, placed("A", "kitchen", "of", "f2"))
    project.run()
    for name in ("reader", "by_reads", "program"):
        causes = [change for row in explained(project, name) for change in row.changes]
        graphs = {cause.graph for cause in causes if isinstance(cause, Change)}
        assert graphs == {DERIVED.name("floors")}, name
