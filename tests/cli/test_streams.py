"""Queries over streams on the command line, over a project that all stages have run in."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from setup.steps import ROOT
from tests.support.opened import has_pending_work
from tests.support.projects.command_line import Called, Weir
from tests.support.projects.project import Project
from tests.support.streams.sensors import HOT, ROOMS, SENSORS, arrive, sensors
from weir.cli.window_explanation import first_close
from weir.definitions.catalog import Catalog
from weir.engine.windows import SteppedWindow, window_content
from weir.errors import EXIT_FAILED, EXIT_USAGE, ConfigurationError, WeirError
from weir.ingest.sources.declared import load_sources
from weir.ingest.stream_readers import undeclared_stream
from weir.project import open_lake
from weir.text.durations import duration_text

PLACES = "PREFIX ex: <http://example.org/> SELECT ?sensor ?room WHERE { ?sensor ex:in ?room }"
LAST = "2026-01-01T00:00:55Z"
HALL, KITCHEN = "http://example.org/hall", "http://example.org/kitchen"
EXPLAINED = """streams:
  readings: declared in sources.yml, begins at 2026-01-01T00:00:01Z

windows:
  <http://example.org/w> on readings: [c - PT10S, c) at every close c
      closes: t0 + PT10S + k * PT10S, k = 0, 1, ..; t0 = 1970-01-01T00:00:00Z
      first close after the stream begins: 2026-01-01T00:00:10Z
      look-back: PT20S
corrects back: PT0S, after changes of the graph
"""
KINDS = """#+ t0: 2026-01-01T00:00:00Z
#+ first: partial
#+ bounds: (]
#+ corrects_back: PT1H30M
SELECT RSTREAM ?s
FROM NAMED WINDOW <urn:a> ON readings [RANGE PT10S STEP PT4S]
FROM NAMED WINDOW <urn:b> ON readings [RANGE PT1M]
FROM NAMED WINDOW <urn:c> ON readings [ELEMENTS 3]
WHERE { WINDOW <urn:a> { ?s ?p ?o } WINDOW <urn:b> { ?s ?p ?o } WINDOW <urn:c> { ?s ?p ?o } }
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project after four runs; an event of the third was late for the query `hot`."""
    project = sensors(tmp_path_factory.mktemp("sensors"))
    project.query("places", PLACES)
    for number in range(4):
        arrive(project, number)
        project.run()
    return project


@pytest.fixture
def project(ran: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A copy of it, which is the current folder."""
    project = ran.copy(tmp_path / "project")
    monkeypatch.chdir(project.folder)
    return project


def counts(called: Called) -> list[tuple[str, str, int]]:
    """The rows of an answer of `hot`."""
    return [(row["room"], row["n"], row["weight"]) for row in called.json]


def test_show_prints_everything_known_by_default(weir: Weir, project: Project) -> None:
    del project
    assert counts(weir("show", "hot", "--output", "json")) == [(HALL, "1", 1)]
    assert f"hot at {LAST}, as of epoch 5" in weir("show", "hot").out


def test_show_prints_an_answer_at_a_time_as_it_was_known_at_an_epoch(
    weir: Weir, project: Project
) -> None:
    del project

    def shown(*options: str) -> list[tuple[str, str, int]]:
        return counts(weir("show", "hot", *options, "--output", "json"))

    corrected, first = [(HALL, "2", 1), (KITCHEN, "1", 1)], [(HALL, "1", 1), (KITCHEN, "1", 1)]
    assert shown("--at", "2026-01-01T00:00:10Z") == corrected
    assert shown("--at", "2026-01-01T01:00:19.999999+01:00") == corrected
    assert shown("--at", "2026-01-01T00:00:10Z", "--as-of", "3") == first
    assert shown("--as-of", "3") == [(KITCHEN, "2", 1)]
    assert shown("--at", "2026-01-01T00:00:09.999999Z") == []
    assert shown("--at", LAST) == [(HALL, "1", 1)]


def test_an_answer_at_a_time_is_exported(weir: Weir, project: Project, tmp_path: Path) -> None:
    del project
    file, options = tmp_path / "hot.jsonl", ("--at", "2026-01-01T00:00:10Z", "--as-of", "3")
    assert weir("export", "data", "hot", *options, "--to", str(file)).code == 0
    shown = weir("show", "hot", *options, "--output", "json").json
    assert sorted(map(json.loads, file.read_text().splitlines()), key=str) == sorted(shown, key=str)
    assert len(shown) == 2


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--at", "2026-01-01T00:00:10"), "has no zone"),
        (("--at", "soon"), "neither a time nor an epoch"),
        (("--at", "3"), "--as-of 3 prints"),
        (("--at", "2026-01-01T00:00:55.000001Z"), f"it is final up to {LAST}"),
        (
            ("--at", LAST, "--as-of", "3"),
            "as of epoch 3, it is final up to 2026-01-01T00:00:23Z",
        ),
        (("--at", LAST, "--as-of", "1"), "as of epoch 1, nothing of it is final"),
        (("--as-of", "6"), "the newest is 5"),
        (("--intervals", "--at", LAST), "Give one of the two"),
    ],
)
def test_show_refuses_a_time_or_epoch_without_an_answer_and_says_why(
    weir: Weir, project: Project, options: Sequence[str], expected: str
) -> None:
    del project
    called = weir("show", "hot", *options)
    assert called.code == EXIT_USAGE
    assert expected in called.err


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--at", LAST), "--at takes an epoch"),
        (("--at", "3", "--as-of", "3"), "Give one of them"),
        (("--as-of", "6"), "the newest is 5"),
        (("--intervals",), "weir log places"),
    ],
)
def test_show_takes_only_an_epoch_for_a_query_without_streams(
    weir: Weir, project: Project, options: Sequence[str], expected: str
) -> None:
    del project
    called = weir("show", "places", *options)
    assert called.code == EXIT_USAGE
    assert expected in called.err


def test_as_of_and_at_are_the_same_for_a_query_without_streams(
    weir: Weir, project: Project
) -> None:
    del project
    at = weir("show", "places", "--at", "4", "--output", "json").json
    assert at == weir("show", "places", "--as-of", "4", "--output", "json").json
    assert len(at) == 2


def test_intervals_list_since_and_until_rows_held(weir: Weir, project: Project) -> None:
    del project

    def listed(*options: str) -> list[tuple[Any, ...]]:
        rows = weir("show", "hot", "--intervals", *options, "--output", "json").json
        return [
            (row["room"], row["n"], row["since"][17:19], (row["until"] or "")[17:19])
            for row in rows
        ]

    assert listed() == [
        (HALL, "1", "30", "40"),
        (HALL, "1", "50", ""),
        (HALL, "2", "10", "20"),
        (KITCHEN, "1", "10", "20"),
        (KITCHEN, "1", "30", "50"),
        (KITCHEN, "2", "20", "30"),
    ]
    assert listed("--as-of", "2") == [(HALL, "1", "10", ""), (KITCHEN, "1", "10", "")]


def test_the_log_has_instants_and_marks_corrections(weir: Weir, project: Project) -> None:
    del project
    rows = weir("log", "hot", "--from", "3", "--to", "4", "--output", "json").json
    assert [
        (row["epoch"], row["event_time"][17:19], row["correction"], row["weight"]) for row in rows
    ] == [
        *((3, "20", False, -1), (3, "20", False, -1), (3, "20", False, 1)),
        *((4, "10", True, -1), (4, "10", True, 1), (4, "20", True, 1), (4, "20", True, -1)),
        *((4, "30", False, 1), (4, "30", False, 1), (4, "30", False, -1)),
    ]
    assert "correction" not in weir("log", "places", "--output", "json").json[0]


def test_sql_has_intervals_and_events_as_views(weir: Weir, project: Project) -> None:
    del project
    statement = "SELECT n, since, until, weight, n_term FROM hot_intervals WHERE until IS NULL"
    assert weir("sql", statement, "--output", "json").json == [
        {
            "n": "1",
            "since": "2026-01-01T00:00:50+00:00",
            "until": None,
            "weight": 1,
            "n_term": '"1"^^<http://www.w3.org/2001/XMLSchema#integer>',
        }
    ]
    statement = "SELECT * FROM Readings_Events WHERE predicate LIKE '%of>' ORDER BY event_time"
    events = weir("sql", statement, "--output", "json").json
    assert len(events) == 10
    assert events[0] == {
        "graph": "<urn:weir:graph:readings>",
        "subject": "<http://example.org/s1/1>",
        "predicate": "<http://example.org/of>",
        "object": "<http://example.org/s1>",
        "event_time": "2026-01-01T00:00:01+00:00",
        "epoch": 2,
        "line": events[0]["line"],
    }


def test_sql_lists_the_views_of_streams(weir: Weir, project: Project) -> None:
    del project
    called = weir("sql", "SELECT * FROM nothing")
    assert called.code == EXIT_FAILED
    listed = called.err.partition("There are")[2]
    assert (
        "hot_intervals, places_current, places_changes, places_intervals, readings_events,"
        in listed
    )


def test_rows_of_a_query_over_the_graph_have_intervals_of_epochs(
    weir: Weir, project: Project
) -> None:
    del project
    called = weir("sql", "SELECT DISTINCT since_epoch, until_epoch FROM places_intervals")
    assert called.code == 0
    assert "since_epoch" in called.out


def test_a_query_named_like_the_events_of_a_stream_has_its_own_views(
    weir: Weir, project: Project
) -> None:
    project.query("readings_events", PLACES)
    project.run()
    for view, rows in (("readings_events", 20), ("readings_events_current", 2)):
        counted = weir("sql", f"SELECT count(*) AS n FROM {view}", "--output", "json").json
        assert counted == [{"n": rows}], view


def test_a_removed_query_keeps_its_times(weir: Weir, project: Project) -> None:
    project.remove_query("hot")
    answer = weir("show", "hot", "--at", "2026-01-01T00:00:10Z", "--as-of", "3", "--output", "json")
    assert counts(answer) == [(HALL, "1", 1), (KITCHEN, "1", 1)]
    marked = [row["correction"] for row in weir("log", "hot", "--output", "json").json]
    assert marked == [False] * 5 + [True] * 4 + [False] * 6


def test_status_shows_up_to_when_answers_are_final_and_which_stream_decides(
    weir: Weir, project: Project
) -> None:
    del project
    rows = {row["query"]: row for row in weir("status", "--output", "json").json["queries"]}
    hot, places = rows["hot"], rows["places"]
    assert (hot["final_to"], hot["decided_by"]) == ("2026-01-01T00:00:55+00:00", "readings")
    assert (places["final_to"], places["decided_by"]) == (None, None)
    printed = " ".join(weir("status").out.split())
    assert f"hot {LAST} readings" in printed
    assert f"readings 5 {LAST}" in printed


def test_status_shows_how_far_each_stream_is(weir: Weir, project: Project) -> None:
    silent = SENSORS | {"name": "alarms", "location": "alarms"}
    project.declare(ROOMS, SENSORS, silent)
    alarms, readings = weir("status", "--streams", "--output", "json").json
    assert alarms == {
        "stream": "alarms",
        "epoch": None,
        "frontier": None,
        "age": None,
        "rows": 0,
        "late": 0,
        "early": 0,
        "deleted_before": None,
    }
    assert readings.pop("age") > 0
    assert readings == {
        "stream": "readings",
        "epoch": 5,
        "frontier": "2026-01-01T00:00:55+00:00",
        "rows": 20,
        "late": 0,
        "early": 0,
        "deleted_before": None,
    }


def test_status_shows_streams_that_no_query_reads(weir: Weir, project: Project) -> None:
    project.remove_query("hot")
    shutil.rmtree("lake/answers/hot")
    printed = weir("status").out
    assert "Queries over streams" not in printed
    assert "readings" in printed.partition("Streams")[2]


def test_status_of_a_project_without_streams_says_that_none_is_declared(
    weir: Weir, project: Project
) -> None:
    project.declare(ROOMS)
    shutil.rmtree("lake")
    assert weir("status", "--streams", "--output", "json").json == []
    assert "Streams" not in weir("status").out
    assert "No stream is declared" in weir("status", "--streams").out


def test_a_stream_without_events_holds_a_query_back(weir: Weir, project: Project) -> None:
    silent = SENSORS | {"name": "alarms", "location": "alarms"}
    project.declare(ROOMS, SENSORS, silent)
    text = HOT.replace("WHERE {", "FROM NAMED WINDOW ex:v ON alarms [ELEMENTS 1]\nWHERE {")
    project.query("both", text.replace("} ?sensor", "} WINDOW ex:v { ?a ex:of ?sensor } ?sensor"))
    project.folders("alarms")
    project.run()
    both = next(
        r for r in weir("status", "--output", "json").json["queries"] if r["query"] == "both"
    )
    assert (both["final_to"], both["decided_by"]) == (None, "alarms")
    assert weir("show", "both", "--output", "json").json == []
    assert "both: nothing is final, as of epoch 5" in weir("show", "both").out


def test_the_site_has_the_streams(weir: Weir, project: Project) -> None:
    del project
    assert weir("site").code == 0
    page = Path("site/sources.html").read_text()
    assert "<h2>Streams</h2>" in page
    assert '<th scope="row">readings</th>' in page


def test_explain_describes_the_windows(weir: Weir, project: Project) -> None:
    del project
    assert EXPLAINED in weir("explain", "hot").out
    explained = weir("explain", "hot", "--sql").out
    for relation in ("g0_window", "g1_graph", "q_n3", "q_new"):
        assert f"-- {relation} (" in explained


def test_explain_describes_every_kind_of_window(weir: Weir, project: Project) -> None:
    project.query("kinds", KINDS)
    explained = weir("explain", "kinds").out
    for line in (
        "<urn:a> on readings: (c - PT10S, c] at every close c",
        "closes: t0 + PT10S + k * PT4S after t0, also for k < 0; t0 = 2026-01-01T00:00:00Z",
        "first close after the stream begins: 2026-01-01T00:00:02Z",
        "<urn:b> on readings: (t - PT1M, t] at every instant t",
        "<urn:c> on readings: the last 3 triples",
        "look-back: its elements",
        "stream out of the query: RSTREAM, all rows of the answer at each close",
        "corrects back: PT1H30M",
    ):
        assert line in explained


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        ("alarms", "no source gives the stream alarms"),
        ("<http://example.org/s>", "no source gives the stream <http://example.org/s>"),
        ("rooms", "the source rooms gives changes of the graph"),
    ],
)
def test_an_undeclared_stream_is_an_error(
    weir: Weir, project: Project, stream: str, expected: str
) -> None:
    project.query("wrong", HOT.replace("ON readings", f"ON {stream}"))
    called = weir("explain", "wrong")
    assert called.code == EXIT_USAGE
    assert expected in called.err
    assert "Streams: readings." in called.err
    doctor = weir("doctor", "--output", "json").json
    assert [row["found"] for row in doctor if not row["ok"] and expected in row["found"]]
    status = {row["query"]: row for row in weir("status", "--output", "json").json["queries"]}
    assert status["wrong"]["state"] == "broken"
    assert expected in status["wrong"]["reason"]


def test_a_run_reports_an_undeclared_stream_and_maintains_the_other_queries(
    project: Project,
) -> None:
    project.query("wrong", HOT.replace("ON readings", "ON alarms"))
    project.query("other", PLACES)
    with pytest.raises(WeirError, match="no source gives the stream alarms"):
        project.maintain()
    lake = open_lake(project.settings)
    assert (lake.exists("embeddings/other"), lake.exists("embeddings/wrong")) == (True, False)
    assert has_pending_work(project.settings)


def test_a_query_without_windows_reads_no_stream(project: Project) -> None:
    query = Catalog.of(project.settings).member("places")
    assert undeclared_stream(query, load_sources(project.settings.sources)) is None


def test_the_examples_of_the_reference_print_what_they_show(weir: Weir, project: Project) -> None:
    del project
    page = (ROOT / "docs" / "reference-commands.md").read_text(encoding="utf-8")
    section = page.partition("## Answers with two times")[2].partition("```console\n")[2]
    examples = section.partition("```")[0].split("$ weir ")[1:]
    assert len(examples) == 7
    for command, _, shown in (example.partition("\n") for example in examples):
        called = weir(*command.split())
        rest = iter(_lines(called.out + called.err))
        # What is left out of the page are whole lines.
        missing = [line for line in _lines(shown) if line not in rest]
        assert not missing, f"{command}: {missing} not in\n{called.out}{called.err}"


def _lines(text: str) -> list[str]:
    words = (" ".join(line.split()) for line in text.splitlines())
    return [line for line in words if line.strip(" ─")]


@pytest.mark.parametrize("name", ["since", "until", "correction"])
def test_a_variable_is_not_named_like_a_column_of_the_views(project: Project, name: str) -> None:
    project.query("hot", HOT.replace("?room", f"?{name}"))
    project.query("places", PLACES.replace("?room", f"?{name}"))
    catalog = Catalog.of(project.settings)
    assert catalog.member("places").output.columns == ("sensor", name)
    with pytest.raises(ConfigurationError, match=f"column {name} that is printed"):
        catalog.member("hot")


@pytest.mark.parametrize("start", [0, 3, 9, 10, 11, 12, 13, 14, 25])
@pytest.mark.parametrize("bounds", ["[)", "(]"])
@pytest.mark.parametrize("first", ["full", "partial"])
def test_the_first_close_that_explain_prints_is_that_of_the_engine(
    start: int, bounds: Any, first: Any
) -> None:
    window = SteppedWindow(width=5, step=2, origin=10, first=first, bounds=bounds)
    instant = max(start, 10 if bounds == "[)" else 11)
    event = {"subject": "s", "predicate": "p", "object": "o", "epoch": 1, "line": 1}
    with duckdb.connect() as connection:
        connection.register("events", pa.Table.from_pylist([event | {"instant": instant}]))
        windows = connection.execute(
            window_content("events", window, 0, 100).sql(dialect="duckdb")
        ).fetchall()
    ((*_, since, _),) = windows
    assert first_close(window, start) == since


@pytest.mark.parametrize(
    ("microseconds", "text"),
    [
        (0, "PT0S"),
        (1, "PT0.000001S"),
        (1_500_000, "PT1.5S"),
        (10_000_000, "PT10S"),
        (5_400_000_000, "PT1H30M"),
        (86_400_000_000, "P1D"),
        (90_061_000_000, "P1DT1H1M1S"),
    ],
)
def test_durations_are_written_as_xml_schema_does(microseconds: int, text: str) -> None:
    assert duration_text(microseconds) == text
