"""The scenarios over streams: readings, windows by their definition, late rows, tiny runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import streams
from bench.late_rows import ROWS, STEP, LateRows, Second, counts
from bench.readings import EVERY, SENSORS, minutes, readings
from bench.stream_oracle import Event, answer_by_definition
from tests.support.catalogs import catalog_of
from weir.timeline.axis import EPOCHS


def test_a_sensor_reads_every_ten_seconds_but_for_a_minute_of_the_hour() -> None:
    hour = [*readings(0, 3600)]
    assert hour == [*readings(0, 3600)]
    assert len(hour) == SENSORS * (3600 - 60) // EVERY
    assert len({(reading.second, reading.sensor) for reading in hour}) == len(hour)


def test_change_sets_divide_the_readings(tmp_path: Path) -> None:
    files = minutes(tmp_path, 3, 2)
    lines = [line for file in files for line in file.read_text().splitlines()]
    assert lines == [line for reading in readings(180, 300) for line in reading.lines]


@pytest.mark.parametrize(
    ("window", "names"),
    [
        ("RANGE PT10S STEP PT5S", "bc"),  # closed at 20: [10, 20)
        ("RANGE PT10S", "cde"),  # (12, 22]
        ("ELEMENTS 2", "de"),
    ],
)
def test_the_answer_by_definition_is_over_the_events_inside_the_window(
    window: str, names: str
) -> None:
    seconds = {"a": 9, "b": 10, "c": 19, "d": 20, "e": 22, "f": 23}
    events = [
        Event(second, f"<urn:{name}> <http://example.org/of> <urn:s>")
        for name, second in seconds.items()
    ]
    text = f"""PREFIX ex: <http://example.org/>
SELECT ?x
FROM NAMED WINDOW ex:w ON readings [{window}]
WHERE {{ WINDOW ex:w {{ ?x ex:of ?y }} }}"""
    answer = answer_by_definition(text, events, "", 22)
    assert sorted(answer) == [(f"<urn:{name}>",) for name in names]


def test_late_rows_are_as_many_as_those_on_time_and_before_the_close(tmp_path: Path) -> None:
    late = LateRows(200_000, 1, tmp_path, lambda _: None)
    on_time, *corrections = late._arriving()
    assert {len(late_rows.seconds) for late_rows in (on_time, *corrections)} == {ROWS}
    assert on_time.seconds[-1].second == on_time.close == late.history + STEP
    for correction in corrections:
        assert max(row.second for row in correction.seconds) < correction.close == late.history


def test_readings_are_counted_from_the_first_second_up_to_the_last() -> None:
    some = [Second(second, (1, 101)) for second in range(10)]
    ((row, once),) = counts(some, 2, 5).items()
    assert row[0].startswith("6 ")
    assert once == 1


def test_the_queries_over_streams_are_ten_and_read_the_graph_alone_without_their_windows(
    tmp_path: Path,
) -> None:
    files = sorted(streams.QUERIES.glob("*.rq"))
    for file in files:
        (tmp_path / file.name).write_text(streams.without_windows(file.read_text()))
    assert len(files) == 10
    assert all(query.axis.windows for query in catalog_of(streams.QUERIES).members)
    plain = catalog_of(tmp_path)
    assert not plain.errors
    assert [query.axis for query in plain.members] == [EPOCHS] * 10
