"""Queries over streams that are corrected or recomputed: what was published stays, and is right."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.projects.project import Project
from tests.support.streams.memory import StreamRow
from tests.support.streams.projects import SECOND, START, answer_log, event_project, readings
from tests.support.streams.sensors import HOT, ROOMS, SENSORS, arrive, sensors
from weir.compact.stage import needed_after
from weir.definitions.query import compile_query
from weir.errors import ConfigurationError, WeirError
from weir.project import open_lake
from weir.timeline.reading import graph_epochs

pytestmark = pytest.mark.usefixtures("sampled")

_HEAD = "PREFIX ex: <http://example.org/>\n"
_SEEN = """REGISTER STREAM seen AS CONSTRUCT {op} {{ ?sensor ex:seen ?room }}
FROM NAMED WINDOW ex:w ON readings [RANGE PT10S STEP PT10S]
WHERE {{ WINDOW ex:w {{ ?reading ex:of ?sensor }} ?sensor ex:in ?room }}
"""
_READER = """SELECT ?room FROM NAMED WINDOW ex:v ON seen {window}
WHERE {{ WINDOW ex:v {{ ?sensor ex:seen ?room }} }}
"""


def at(second: int) -> str:
    return (START + timedelta(seconds=second)).isoformat()


def is_in(sensor: str, room: str, sign: str = "A") -> str:
    ex = "http://example.org/"
    return f"{sign} <{ex}{sensor}> <{ex}in> <{ex}{room}> ."


def rooms(log: Sequence[StreamRow], second: int) -> dict[str, int]:
    """By room how many rows hold at a second."""
    weights: dict[str, int] = {}
    for _, instant, weight, (room, *_) in log:
        if instant <= second * SECOND:
            name = str(room).rpartition("/")[2][:-1]
            weights[name] = weights.get(name, 0) + weight
    return {room: held for room, held in weights.items() if held}


def step(project: Project, number: int) -> None:
    """The readings, with a change of the graph of second 5 after the first."""
    if number == 1:
        project.patch("changes/0002.rdfp", is_in("s2", "cellar"), time=at(5))
    else:
        arrive(project, *((0, 1) if number == 0 else (number,)))


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("window", ["[RANGE PT30S STEP PT10S]", "[ELEMENTS 2]"])
@pytest.mark.parametrize("operator", ["ISTREAM", "DSTREAM", "RSTREAM"])
def test_a_reader_is_corrected_where_the_graph_corrects_the_stream_that_it_reads(
    tmp_path: Path, operator: str, window: str
) -> None:
    """The reader does not read the graph itself."""
    logs = []
    for name in ("often", "at_once"):
        project = sensors(tmp_path / name)
        project.remove_query("hot")
        project.query("q", "#+ corrects_back: PT1H\n" + _HEAD + _SEEN.format(op=operator))
        project.query("reader", _HEAD + _READER.format(window=window))
        for number in range(4):
            step(project, number)
            if name == "often":
                project.run()
            else:
                project.ingest()
        project.run()
        logs.append(answer_log(project, "reader"))
    assert logs[0] == logs[1]
    corrected = {epoch for epoch, *_ in logs[0]}
    # What leaves at 20 is not final when the graph changes.
    assert 4 in corrected or operator == "DSTREAM"


@pytest.mark.parametrize("file", ["broken", "gone", "gone, and dropped"])
def test_the_graph_is_kept_for_a_query_over_streams_without_a_usable_file(
    tmp_path: Path, file: str
) -> None:
    project = sensors(tmp_path, keep_epochs=0)
    arrive(project, 0, 1)
    project.run()
    if file == "broken":
        project.query("hot", "SELECT")
    else:
        project.remove_query("hot")
    if file == "gone, and dropped":
        for table in ("answers/hot", "embeddings/hot"):
            open_lake(project.settings).remove(table)
    needed = needed_after(project.settings, open_lake(project.settings))
    assert bool(needed) == (file == "gone, and dropped")


def test_a_query_over_a_consolidated_graph_begins_where_the_graph_has_all_that_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = sensors(tmp_path, keep_epochs=0)
    project.remove_query("hot")
    arrive(project, 0, 1)
    project.run()
    moved = (is_in("s1", "kitchen", "D"), is_in("s1", "hall"))
    project.patch("changes/0002.rdfp", *moved, time=at(15))
    arrive(project, 2)
    project.run()
    monkeypatch.setattr("weir.timeline.reading.consolidated_until", lambda *_: 4)
    project.query("hot", HOT)
    arrive(project, 3)
    project.run()
    log = answer_log(project, "hot")
    assert min(instant for _, instant, *_ in log) >= 15 * SECOND
    assert rooms(log, 40) == {"hall": 1}


@pytest.mark.usefixtures("slow")
def test_a_consolidated_log_is_not_consolidated_to_an_earlier_instant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weir.timeline.consolidation._LEAST_ROWS", -1000)
    stream = SENSORS["stream"] | {"lateness": "PT0S"}
    project = sensors(tmp_path)
    project.declare(ROOMS, SENSORS | {"stream": stream})
    until = []
    for number in range(8):
        if number == 5:
            project.declare(ROOMS, SENSORS | {"stream": stream | {"lateness": "PT1H"}})
        second = 60 * number
        project.write(f"events/{number}.nt", readings(("s1", second), ("s2", second + 30)))
        project.run()
        last = open_lake(project.settings).last_metadata("embeddings/hot", job="maintain")
        assert last is not None
        until.append(last[1].extra.get("consolidated_until", 0))
    assert until[4] > 0
    assert until == sorted(until)


def test_a_stream_of_all_rows_waits_for_the_first_event(tmp_path: Path) -> None:
    project = sensors(tmp_path)
    project.query("q", _HEAD + _SEEN.format(op="RSTREAM"))
    project.run()
    arrive(project, 0, 1)
    project.run()
    assert {weight for (weight,) in project.rows("output_streams/q", "weight")} == {1}


def test_closes_without_rows_do_not_count_against_the_limit_of_elements(tmp_path: Path) -> None:
    text = _HEAD + (
        "SELECT RSTREAM ?sensor FROM NAMED WINDOW ex:w ON readings [RANGE PT10S STEP PT1S]\n"
        "WHERE { WINDOW ex:w { ?reading ex:of ?sensor } }\n"
    )
    project = event_project(tmp_path, text, rstream_rows=20)
    project.write("events/1.ttl", readings(("s1", 1)))
    project.run()
    project.write("events/2.ttl", readings(("s1", 86_400)))
    project.run()
    assert len(project.rows("output_streams/q", "instant")) == 10


def test_a_change_of_the_graph_in_the_future_counts_as_one_of_its_ingest(tmp_path: Path) -> None:
    project = sensors(tmp_path)
    project.patch("changes/0002.rdfp", is_in("s3", "attic"), time="2999-01-01T00:00:00Z")
    project.ingest()
    ingested = {row[0]: row[1] for row in project.rows("transactions", "epoch", "ingested_at")}[2]
    times = dict(graph_epochs(open_lake(project.settings), 2))
    assert times == {1: None, 2: int(ingested.timestamp() * SECOND)}


def test_history_is_refused_with_windows() -> None:
    text = (
        "#+ history: full\nSELECT * FROM NAMED WINDOW w ON r [RANGE 1s] { WINDOW w { ?s ?p ?o } }"
    )
    with pytest.raises(ConfigurationError, match="history is for queries without") as caught:
        compile_query(text, "q")
    assert caught.value.where == "q:1"


_SENSORS = """SELECT DISTINCT ?sensor FROM NAMED WINDOW ex:w ON readings [RANGE PT10S STEP PT10S]
WHERE {{ WINDOW ex:w {{ ?reading {p} ?sensor }} FILTER isIRI(?sensor) }}
"""


def test_a_log_that_is_recomputed_is_complete_up_to_what_was_published(tmp_path: Path) -> None:
    """For the edited query the last epoch changes nothing: its leg has no rows."""
    project = event_project(tmp_path, _HEAD + _SENSORS.format(p="?p"))
    other = readings(("s9", 2)).replace("example.org/of", "example.org/other")
    files = (readings(("s1", 1), ("s2", 23)), readings(("s2", 25), ("s1", 45)), other)
    for number, file in enumerate(files):
        project.write(f"events/{number}.ttl", file)
        project.run()
    before = answer_log(project, "q")
    assert max(epoch for epoch, *_ in before) == 3
    project.query("q", _HEAD + _SENSORS.format(p="ex:of"))
    project.run()
    assert published_to(project, "q") == 3
    project.write("events/3.ttl", readings(("s1", 90)))
    project.run()
    after = answer_log(project, "q")
    assert published_to(project, "q") == 4
    assert sorted(row for row in after if row in before) == sorted(before)
    for second in range(0, 50, 10):
        assert {*held(after, 4, second).values()} <= {1}


def published_to(project: Project, query: str) -> int:
    """The watermark of an answer."""
    last = open_lake(project.settings).last_metadata(f"answers/{query}", job="publish")
    assert last is not None
    return last[1].watermark


def held(log: Sequence[StreamRow], epoch: int, second: int) -> dict[tuple[str | None, ...], int]:
    """The rows at a second, as known at an epoch."""
    weights: dict[tuple[str | None, ...], int] = {}
    for at, instant, weight, (sensor, *_) in log:
        if at <= epoch and instant <= second * SECOND:
            weights[sensor,] = weights.get((sensor,), 0) + weight
    return {row: weight for row, weight in weights.items() if weight}


def test_a_second_file_for_a_stream_leaves_what_its_readers_published(tmp_path: Path) -> None:
    project = sensors(tmp_path)
    project.remove_query("hot")
    project.query("q", _HEAD + _SEEN.format(op="ISTREAM"))
    project.query("reader", _HEAD + _READER.format(window="[RANGE PT30S STEP PT10S]"))
    arrive(project, 0, 1)
    project.run()
    before = answer_log(project, "reader")
    project.query("another", _HEAD + _SEEN.format(op="DSTREAM"))
    arrive(project, 2)
    with pytest.raises(WeirError, match="register"):
        project.run()
    assert answer_log(project, "reader") == before
    project.remove_query("another")
    arrive(project, 3)
    project.run()
    after = answer_log(project, "reader")
    assert after[: len(before)] == before
    whole = sensors(tmp_path / "undisturbed")
    whole.remove_query("hot")
    whole.query("q", _HEAD + _SEEN.format(op="ISTREAM"))
    whole.query("reader", _HEAD + _READER.format(window="[RANGE PT30S STEP PT10S]"))
    arrive(whole, 0, 1, 2, 3)
    whole.run()
    assert answer_log(whole, "reader") == after
