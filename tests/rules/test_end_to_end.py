"""Programs through all stages: events to atoms, to published answers with corrections."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.built import AsBuilt
from tests.support.opened import call
from tests.support.projects.project import PATCHES, Project
from tests.support.streams.memory import StreamRow
from tests.support.streams.projects import READINGS, SECOND, STREAM, answer_log, local, readings
from weir.answers.sql import query_lake
from weir.answers.views import view_names
from weir.cli.program_explanation import explain_program
from weir.compact.stage import compact_lake
from weir.definitions.catalog import Catalog
from weir.project import open_lake

pytestmark = pytest.mark.usefixtures("sampled")

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAM = """\
%+ description: which sensors are heard of
%+ stream: readings
%+ unit: PT10S
%+ prefixes: {"": "http://example.org/"}
%+ output: [heard, steady, silent]
%+ atoms: {"of(S)": "?R :of ?S", "watched(S)": {graph: "?S a :Watched"}}
heard(S) <- win^1 diamond of(S).
@T close(S) <- win^1 @T of(S).
steady(S) <- win^1 box close(S).
silent(S) <- watched(S), not heard(S).
"""
"""Points of ten seconds: heard at this point or the one before, steady at both."""
FILES = (
    readings(("s1", 1), ("s2", 3), ("s1", 12)),
    readings(("s1", 25), ("s2", 41)),
    # s2 at 15 is late: the points up to 30 are final.
    readings(("s2", 15), ("s1", 52)),
    readings(("s1", 90)),
)
GRAPH = "A <http://example.org/s2> <{}> <http://example.org/Watched>".format(
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
)
HOLDS = {
    # by point, with everything known
    0: {"heard s1", "heard s2", "steady s1", "steady s2"},
    10: {"heard s1", "heard s2", "steady s1", "steady s2"},
    20: {"heard s1", "heard s2", "steady s1"},
    30: {"heard s1", "silent s2"},
    40: {"heard s2"},
    50: {"heard s1", "heard s2"},
    60: {"heard s1", "silent s2"},
    70: {"silent s2"},
    80: {"silent s2"},
}


def project_of(folder: Path, program: str = PROGRAM, **limits: int) -> Project:
    project = Project(folder)
    project.declare(PATCHES, READINGS, **limits)
    project.folders("events")
    project.program("plant", program)
    project.change_set(GRAPH)
    return project


def arrive(project: Project, *numbers: int) -> None:
    for number in numbers:
        project.write(f"events/{number}.ttl", FILES[number])


def holds(log: list[StreamRow]) -> dict[int, set[str]]:
    """By second of the first instant of a point what holds there."""
    return {second: state(log, second) for second in HOLDS}


def state(log: list[StreamRow], second: int) -> set[str]:
    """What holds at a second."""
    weights: dict[str, int] = {}
    for _, instant, weight, (predicate, *arguments) in log:
        if instant <= second * SECOND:
            name = f"{str(predicate).strip(chr(34))} {local(arguments[0])}"
            weights[name] = weights.get(name, 0) + weight
    assert {*weights.values()} <= {0, 1}
    return {name for name, weight in weights.items() if weight}


def _build(folder: Path) -> Project:
    project = project_of(folder)
    for number in range(len(FILES)):
        arrive(project, number)
        project.run()
    return project


@pytest.fixture
def often(as_built: AsBuilt) -> Project:
    """A project with a run per file."""
    return as_built(_build)


def test_atoms_are_published_at_every_point(often: Project) -> None:
    assert holds(answer_log(often, "plant")) == HOLDS


def test_a_late_event_corrects_published_atoms_at_a_later_epoch(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    arrive(project, 0, 1)
    project.run()
    before = answer_log(project, "plant")
    assert holds(before)[10] == {"heard s1", "heard s2", "steady s1"}
    arrive(project, 2)
    project.run()
    after = answer_log(project, "plant")
    assert after[: len(before)] == before
    assert holds(after)[10] == HOLDS[10]


def test_one_run_gives_the_log_of_many(often: Project, tmp_path: Path) -> None:
    at_once = project_of(tmp_path / "at_once")
    arrive(at_once, *range(len(FILES)))
    at_once.run()
    assert answer_log(at_once, "plant") == answer_log(often, "plant")


def test_a_run_without_new_epochs_commits_nothing(often: Project) -> None:
    lake = open_lake(often.settings)
    before = [lake.version(f"{table}/plant") for table in ("embeddings", "answers")]
    often.run()
    lake.refresh()
    assert [lake.version(f"{table}/plant") for table in ("embeddings", "answers")] == before


def test_an_edited_program_publishes_the_difference(often: Project) -> None:
    often.program("plant", PROGRAM.replace("steady(S) <- win^1", "steady(S) <- win^0"))
    before = answer_log(often, "plant")
    often.run()
    after = answer_log(often, "plant")
    assert [row for row in before if row not in after] == []
    assert "steady s2" in holds(after)[40]


def test_an_edit_of_comments_and_places_publishes_nothing(often: Project) -> None:
    before = answer_log(often, "plant")
    often.program("plant", "% A comment.\n" + PROGRAM.replace(" <- ", "  <-  "))
    often.run()
    assert answer_log(often, "plant") == before


def test_a_program_that_is_registered_after_events_were_deleted_has_the_atoms_of_one_before(
    tmp_path: Path,
) -> None:
    """It begins where its windows lack nothing; what holds there began before."""
    logs = {}
    for name in ("before", "after"):
        project = project_of(tmp_path / name)
        stream = {"time": STREAM["time"], "keep": "PT30S"}
        project.declare(PATCHES, READINGS | {"stream": stream})
        if name == "after":
            (project.folder / "programs/plant.lars").unlink()
        for number, second in enumerate((1, 60, 120, 180)):
            seconds = range(second, second + 60, 5)
            project.write(f"events/{number}.ttl", readings(*(("s1", at) for at in seconds)))
            project.run()
        if name == "after":
            (deleted,) = call(compact_lake, project.settings, "compact").events
            assert deleted.deleted
        project.program("plant", PROGRAM)
        project.write("events/9.ttl", readings(("s2", 250), ("s1", 260)))
        project.run()
        logs[name] = answer_log(project, "plant")
    begins = min(instant for _, instant, *_ in logs["after"])
    assert begins > 120 * SECOND
    for second in range(begins // SECOND, 250, 10):
        assert state(logs["after"], second) == state(logs["before"], second), second


def test_each_predicate_has_a_view_with_its_arguments(often: Project) -> None:
    assert {"plant_heard", "plant_silent", "plant_steady"} <= {*view_names(often.settings)}
    statement = "SELECT s, since::VARCHAR, until::VARCHAR FROM plant_silent ORDER BY since"
    columns, rows = query_lake(often.settings, statement)
    assert columns[0] == "s"
    assert [(local(s + ">"), since[17:19], until and until[17:19]) for s, since, until in rows] == [
        ("s2", "30", "40"),
        ("s2", "00", None),
    ]


def test_a_query_reads_the_stream_that_a_program_writes(tmp_path: Path) -> None:
    written = '%+ write_stream: {name: alerts, "silent(X)": "?X a :Silent"}\n'
    project = project_of(tmp_path, written + PROGRAM)
    project.query(
        "alerted",
        "SELECT ?s FROM NAMED WINDOW w ON alerts [RANGE PT10S STEP PT10S]\n"
        "WHERE { WINDOW w { ?s a <http://example.org/Silent> } }",
    )
    for number in range(len(FILES)):
        arrive(project, number)
        project.run()
    log = answer_log(project, "alerted")
    state: dict[int, int] = {}
    for second in range(0, 90, 10):
        state[second] = sum(weight for _, at, weight, _ in log if at <= second * SECOND)
    # The window that closes at t has the points of the ten seconds before.
    expected = {second: int("silent s2" in held) for second, held in HOLDS.items()}
    assert state == {t: expected.get(t - 10, 0) for t in state}


def test_explain_prints_strata_look_back_and_shared_windows(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    program = Catalog.of(project.settings).member("plant")
    text = explain_program(program, starts={"readings": None})
    for line in (
        "answer: at each point the atoms of heard(s), steady(s), silent(s)",
        "look-back: 1 points, PT10S",
        "  win^1 diamond of: line 7",
        "  of(S) of the stream: ?R <http://example.org/of> ?S",
        "  watched(S) of the graph, as of the point: ?S"
        " <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/Watched>",
    ):
        assert line in text, text


def test_spark_alone_publishes_the_same_atoms(
    often: Project, tmp_path: Path, spark: SparkSession
) -> None:
    alone = project_of(
        tmp_path / "on_spark", driver_rows=0, driver_table_bytes=0, driver_parse_bytes=0
    )
    arrive(alone, *range(len(FILES)))
    alone.run(spark)
    assert answer_log(alone, "plant") == answer_log(often, "plant")
