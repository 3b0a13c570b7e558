"""Streams out of queries, through all stages; other queries read them."""

from __future__ import annotations

import shutil
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.killed import call_killed
from tests.support.opened import call, has_pending_work, no_spark
from tests.support.projects.project import Project
from tests.support.streams.projects import (
    READINGS,
    SECOND,
    START,
    STREAM,
    event_project,
    local,
    readings,
)
from weir.answers.sql import query_lake
from weir.answers.views import view_names
from weir.cli.explanation import explain_query
from weir.compact.stage import compact_lake
from weir.definitions.catalog import Catalog
from weir.errors import QualityError, WeirError
from weir.ingest.stream_readers import undeclared_streams
from weir.project import open_lake

pytestmark = pytest.mark.usefixtures("sampled")

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_HEAD = "PREFIX ex: <http://example.org/>\n"
SEEN = (
    _HEAD
    + """REGISTER STREAM seen AS CONSTRUCT {op} {{ ?sensor ex:seen true }}
FROM NAMED WINDOW ex:w ON readings [RANGE PT10S STEP PT10S]
WHERE {{ WINDOW ex:w {{ ?reading ex:of ?sensor }} }}
"""
)
SEEN_OFTEN = (
    _HEAD
    + """SELECT ?sensor FROM NAMED WINDOW ex:v ON seen [RANGE PT30S STEP PT10S]
WHERE { WINDOW ex:v { ?sensor ex:seen true } }
"""
)
FILES = (
    readings(("s1", 1), ("s2", 3), ("s1", 12)),
    readings(("s1", 14), ("s3", 24)),
    # s4 at 5 is late: the window [0, 10) is published, and what was emitted of it.
    readings(("s4", 5), ("s1", 31)),
    readings(("s2", 57)),
    readings(("s1", 75)),
)
Elements = dict[int, set[str]]
"""By second the sensors."""
SENSORS: Elements = {10: {"s1", "s2", "s4"}, 20: {"s1"}, 30: {"s3"}, 40: {"s1"}, 60: {"s2"}}
"""Which sensors are in the window that closes at a second."""
STREAMS: dict[str, Elements] = {
    "RSTREAM": SENSORS,
    "ISTREAM": {10: {"s1", "s2", "s4"}, 30: {"s3"}, 40: {"s1"}, 60: {"s2"}},
    "DSTREAM": {20: {"s2", "s4"}, 30: {"s1"}, 40: {"s3"}, 50: {"s1"}, 70: {"s2"}},
}


def project_of(folder: Path, operator: str, **limits: int) -> Project:
    project = event_project(folder, SEEN.format(op=operator), **limits)
    project.query("often", SEEN_OFTEN)
    return project


def arrive(project: Project, *numbers: int) -> None:
    for number in numbers:
        project.write(f"events/{number}.ttl", FILES[number])


def elements(project: Project, epoch: int = 1_000) -> Elements:
    """What the stream has as known at an epoch."""
    weights: Counter[tuple[int, str]] = Counter()
    for at, instant, weight, sensor in _rows(project):
        if at <= epoch:
            weights[(instant - _microseconds()) // SECOND, local(sensor)] += weight
    assert {*weights.values()} <= {0, 1}
    by_second: Elements = {}
    for (second, sensor), weight in weights.items():
        if weight:
            by_second.setdefault(second, set()).add(sensor)
    return by_second


def _microseconds() -> int:
    return int(START.timestamp()) * SECOND


def _rows(project: Project) -> list[tuple[Any, ...]]:
    return project.rows("output_streams/q", "epoch", "instant", "weight", "subject")


def often(project: Project) -> Elements:
    """The answer of the query that reads the stream, at every tenth second."""
    log = project.rows("answers/often", "event_time", "weight", "sensor")
    by_second: Elements = {}
    for second in range(10, 80, 10):
        state: Counter[str] = Counter()
        for time, weight, sensor in log:
            if time <= START + timedelta(seconds=second):
                state[local(sensor)] += weight
        by_second[second] = {sensor for sensor, held in state.items() if held}
    return by_second


def seen_before(stream: Elements) -> Elements:
    """By its definition: [c - 30 s, c) of the stream."""
    return {
        close: {s for at, sensors in stream.items() if close - 30 <= at < close for s in sensors}
        for close in range(10, 80, 10)
    }


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("operator", STREAMS)
def test_a_query_emits_the_stream_of_its_answer(tmp_path: Path, operator: str) -> None:
    project = project_of(tmp_path, operator)
    for number in range(len(FILES)):
        arrive(project, number)
        project.run()
    assert elements(project) == STREAMS[operator]


@pytest.mark.parametrize("operator", STREAMS)
def test_another_query_reads_the_stream_in_the_same_run(tmp_path: Path, operator: str) -> None:
    project = project_of(tmp_path, operator)
    for number in range(len(FILES)):
        arrive(project, number)
        project.run()
    assert often(project) == seen_before(STREAMS[operator])


def test_a_report_of_windows_with_content_counts_nothing_while_they_are_empty(
    tmp_path: Path,
) -> None:
    """Of the readings at 57 and 75 the window that closes at 70 has neither."""
    count = """SELECT ISTREAM (COUNT(*) AS ?n)
FROM NAMED WINDOW ex:w ON readings [RANGE PT10S STEP PT10S]
WHERE { WINDOW ex:w { ?reading ex:of ?sensor } }
"""
    emitted = {}
    for report in ("close", "non_empty"):
        project = event_project(tmp_path / report, f"#+ report: {report}\n{_HEAD}{count}")
        arrive(project, *range(len(FILES)))
        project.run()
        emitted[report] = {
            ((instant - _microseconds()) // SECOND, int(n.split('"')[1]))
            for instant, n in project.rows("output_streams/q", "instant", "n")
        }
    assert (70, 0) in emitted["close"]
    assert emitted["non_empty"] == {element for element in emitted["close"] if element[1]}


def test_a_late_event_takes_back_what_was_emitted(tmp_path: Path) -> None:
    project = project_of(tmp_path, "DSTREAM")
    arrive(project, 0, 1)
    project.run()
    assert elements(project) == {20: {"s2"}}
    arrive(project, 2)
    project.run()
    assert elements(project, 2) == {20: {"s2"}}
    assert elements(project)[20] == {"s2", "s4"}


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("operator", STREAMS)
def test_one_run_emits_what_many_emit(tmp_path: Path, operator: str) -> None:
    logs = []
    for name, parts in (("once", [range(5)]), ("often", [(0,), (1,), (2, 3), (4,)])):
        project = project_of(tmp_path / name, operator)
        for numbers in parts:
            arrive(project, *numbers)
            project.run()
        rows = project.rows("answers/often", "epoch", "event_time", "weight", "sensor")
        logs.append((_rows(project), rows))
    assert logs[0] == logs[1]


def test_an_edit_of_the_query_recomputes_its_stream_and_those_that_read_it(
    tmp_path: Path,
) -> None:
    project = project_of(tmp_path, "ISTREAM")
    arrive(project, *range(5))
    project.run()
    project.query("q", SEEN.format(op="DSTREAM"))
    project.run()
    assert elements(project) == STREAMS["DSTREAM"]
    assert often(project) == seen_before(STREAMS["DSTREAM"])


def test_a_query_that_lost_the_table_of_its_stream_emits_it_again(tmp_path: Path) -> None:
    project = project_of(tmp_path, "ISTREAM")
    arrive(project, 0, 1)
    project.run()
    shutil.rmtree(open_lake(project.settings).location("output_streams/q"))
    arrive(project, 2, 3, 4)
    project.run()
    assert elements(project) == STREAMS["ISTREAM"]
    assert often(project) == seen_before(STREAMS["ISTREAM"])


def test_more_elements_than_the_limit_fail_the_run_until_it_is_raised(tmp_path: Path) -> None:
    project = project_of(tmp_path, "RSTREAM", rstream_rows=3)
    arrive(project, *range(5))
    with pytest.raises(WeirError, match=r"RSTREAM would emit .* more than rstream_rows = 3"):
        project.run()
    project = project_of(tmp_path, "RSTREAM")
    project.run()
    assert elements(project) == STREAMS["RSTREAM"]
    assert often(project) == seen_before(STREAMS["RSTREAM"])


def test_a_stream_that_could_not_be_emitted_is_pending_work(tmp_path: Path) -> None:
    project = project_of(tmp_path, "RSTREAM", rstream_rows=3)
    arrive(project, *range(5))
    with pytest.raises(WeirError, match="RSTREAM would emit"):
        project.run()
    assert has_pending_work(project.settings)
    project = project_of(tmp_path, "RSTREAM")
    project.run()
    assert not has_pending_work(project.settings)


def test_removing_a_query_whose_stream_another_reads_is_pending_work(tmp_path: Path) -> None:
    project = project_of(tmp_path, "ISTREAM")
    arrive(project, 0, 1)
    project.run()
    assert not has_pending_work(project.settings)
    (project.settings.queries / "q.rq").unlink()
    assert has_pending_work(project.settings)


def test_the_stream_of_a_select_has_its_columns(tmp_path: Path) -> None:
    text = _HEAD + (
        "SELECT ISTREAM ?sensor (COUNT(*) AS ?n)\n"
        "FROM NAMED WINDOW ex:w ON readings [RANGE PT10S STEP PT10S]\n"
        "WHERE { WINDOW ex:w { ?reading ex:of ?sensor } } GROUP BY ?sensor\n"
    )
    project = event_project(tmp_path, text)
    arrive(project, 0, 1)
    project.run()
    rows = project.rows("output_streams/q", "instant", "weight", "sensor", "n")
    counted = [(at - _microseconds(), w, local(s), str(n).split('"')[1]) for at, w, s, n in rows]
    assert sorted(counted) == [
        (10 * SECOND, 1, "s1", "1"),
        (10 * SECOND, 1, "s2", "1"),
        (20 * SECOND, 1, "s1", "2"),
    ]


def test_a_view_has_the_stream_with_what_was_taken_back(tmp_path: Path) -> None:
    project = project_of(tmp_path, "DSTREAM")
    for number in range(3):
        arrive(project, number)
        project.run()
    names, rows = query_lake(
        project.settings, "SELECT epoch, weight, subject, event_time FROM q_stream ORDER BY ALL"
    )
    assert names == ("epoch", "weight", "subject", "event_time")
    assert [(e, w, s[-2:], (at - START).seconds) for e, w, s, at in rows] == [
        (2, 1, "s2", 20),
        (3, 1, "s1", 30),
        (3, 1, "s4", 20),
    ]
    assert "q_stream" in view_names(project.settings)


def test_a_window_of_elements_reads_the_last_of_a_stream(tmp_path: Path) -> None:
    project = project_of(tmp_path, "ISTREAM")
    project.query("often", SEEN_OFTEN.replace("RANGE PT30S STEP PT10S", "ELEMENTS 2"))
    arrive(project, *range(5))
    project.run()
    # At 10 s there are three elements, of which the last in the order of their texts count.
    assert often(project) == {
        10: {"s2", "s4"},
        20: {"s2", "s4"},
        30: {"s4", "s3"},
        40: {"s3", "s1"},
        50: {"s3", "s1"},
        60: {"s1", "s2"},
        70: {"s1", "s2"},
    }


def test_explain_names_the_streams_that_a_query_reads_and_gives(tmp_path: Path) -> None:
    project = project_of(tmp_path, "DSTREAM")
    explained = {
        member.name: explain_query(member) for member in Catalog.of(project.settings).members
    }
    assert "stream out of the query: DSTREAM, the rows that vanish" in explained["q"]
    assert "seen: out of the query q" in explained["often"]


def test_a_source_and_a_query_cannot_give_the_same_stream(tmp_path: Path) -> None:
    project = project_of(tmp_path, "ISTREAM")
    stream = {"stream": {"time": "transaction"}}
    project.declare(READINGS | stream, READINGS | stream | {"name": "seen"})
    errors = undeclared_streams(Catalog.of(project.settings).members, project.settings.sources)
    assert [*errors] == ["often"]
    assert "the source seen gives the stream that q registers, too" in errors["often"].what


def test_rows_that_follow_from_rows_that_are_held_back_are_held_back(tmp_path: Path) -> None:
    project = project_of(tmp_path, "ISTREAM")
    project.query("q", "#+ max_rows: 1\n" + SEEN.format(op="ISTREAM"))
    arrive(project, 0)
    with pytest.raises(QualityError, match="row_count_is_within_max_rows"):
        project.run()
    with pytest.raises(
        QualityError, match="often: the query q, whose stream it reads, is not published"
    ):
        project.publish()
    assert not open_lake(project.settings).exists("answers/often")
    project.query("q", SEEN.format(op="ISTREAM"))
    arrive(project, 1, 2, 3, 4)
    project.run()
    assert often(project) == seen_before(STREAMS["ISTREAM"])


POINTS = [
    f"maintain:{moment}:{table}"
    for table in ("embeddings/q", "output_streams/q", "embeddings/often")
    for moment in ("before", "after")
]


@pytest.fixture(scope="module", params=("RSTREAM", "ISTREAM"))
def undisturbed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """An operator, and the logs of the stream and of its reader after two runs."""
    project = project_of(tmp_path_factory.mktemp("undisturbed"), request.param)
    for numbers in ((0, 1), (2, 3, 4)):
        arrive(project, *numbers)
        project.run()
    return (request.param, *_logs(project))


def _logs(project: Project) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    columns = ("epoch", "event_time", "weight", "sensor")
    return _rows(project), project.rows("answers/often", *columns)


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_run_that_is_run_again_emits_what_an_undisturbed_one_does(
    undisturbed: tuple[str, list[tuple[Any, ...]], list[tuple[Any, ...]]],
    tmp_path: Path,
    point: str,
) -> None:
    operator, *logs = undisturbed
    project = project_of(tmp_path, operator)
    arrive(project, 0, 1)
    project.run()
    arrive(project, 2, 3, 4)
    call_killed(Project.run, project, at=point)
    project.run()
    assert [*_logs(project)] == logs


def test_a_run_without_new_epochs_emits_what_a_killed_one_did_not(tmp_path: Path) -> None:
    project = project_of(tmp_path, "RSTREAM")
    arrive(project, *range(5))
    call_killed(Project.run, project, at="maintain:after:embeddings/q")
    project.maintain()
    assert elements(project) == STREAMS["RSTREAM"]


def test_a_stream_that_begins_later_leaves_what_its_readers_published(tmp_path: Path) -> None:
    """Events were deleted, and then the query that gives the stream was edited."""
    project = project_of(tmp_path, "ISTREAM")
    project.declare(READINGS | {"stream": STREAM | {"lateness": "PT10S", "keep": "PT60S"}})
    project.write("events/0.ttl", readings(*((f"s{second}", second) for second in range(200))))
    project.run()
    before = project.rows("answers/often", "epoch", "event_time", "weight", "sensor")
    call(compact_lake, project.settings, "compact")
    edited = SEEN.format(op="ISTREAM").replace(
        "?sensor }} }}", "?sensor }} FILTER (?sensor != ex:n) }}"
    )
    project.query("q", edited)
    project.write("events/1.ttl", readings(*((f"s{second}", second) for second in range(200, 290))))
    project.run()
    after = project.rows("answers/often", "epoch", "event_time", "weight", "sensor")
    assert {*before} < {*after}
    state: Counter[str] = Counter()
    for _, time, weight, sensor in after:
        if time <= START + timedelta(seconds=280):
            state[sensor] += weight
    assert {local(sensor) for sensor, held in state.items() if held} == {
        f"s{second}" for second in range(240, 270)
    }


@pytest.mark.parametrize("operator", ["RSTREAM", "DSTREAM"])
def test_spark_alone_emits_what_the_driver_emits(
    tmp_path: Path, operator: str, spark: SparkSession
) -> None:
    logs = []
    on_spark = {"driver_rows": 0, "driver_table_bytes": 0, "driver_parse_bytes": 0}
    for name, limits in (("here", {}), ("spark", on_spark)):
        project = project_of(tmp_path / name, operator, **limits)
        for numbers in ((0, 1), (2, 3, 4)):
            arrive(project, *numbers)
            project.run(spark if limits else no_spark)
        logs.append(_logs(project))
    assert logs[0] == logs[1]
