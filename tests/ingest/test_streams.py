"""Sources that give events: what is an event, when it happened, and which streams go on alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.ingest.test_stream_laws import SECOND, START, moment, set_clock
from tests.support.opened import call
from tests.support.projects.project import Project
from weir.errors import ConfigurationError
from weir.ingest.event_time import DELETION, TWO_TIMES
from weir.ingest.instants import NO_TIME, NO_ZONE, NOT_A_TIME
from weir.ingest.lateness import BEFORE_START, TOO_EARLY, TOO_LATE
from weir.ingest.stage import is_anything_pending
from weir.lake.instants import microseconds
from weir.progress.streams import Frontiers, StreamRows, stream_names, stream_rows
from weir.project import open_lake

__all__ = ["set_clock"]

DATE_TIME = "<http://www.w3.org/2001/XMLSchema#dateTime>"
EVENTS = {"name": "r", "kind": "snapshots", "location": "r"}
PATCHES = {"name": "r", "kind": "patches", "location": "r"}
SetClock = Callable[[int], None]


def stream(like: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return like | {"stream": {"time": {"predicate": "urn:t"}} | keys}


def at(seconds: float, zone: str = "Z") -> str:
    """The literal of an instant after START."""
    return f'"{moment(START + int(seconds * SECOND))}{zone}"^^{DATE_TIME}'


def event(number: int, seconds: float) -> str:
    return f"<urn:e{number}> <urn:t> {at(seconds)} ."


def stored(project: Project, table: str, *columns: str) -> list[tuple[Any, ...]]:
    return project.rows(table, *columns) if open_lake(project.settings).exists(table) else []


def subjects(project: Project, table: str = "streams/r") -> list[str]:
    return [row[0] for row in stored(project, table, "subject")]


def reasons(project: Project) -> list[tuple[Any, ...]]:
    return stored(project, "rejected", "line", "reason")


def frontiers(project: Project) -> list[tuple[int, int | None]]:
    """(epoch, seconds after START)."""
    of_stream = Frontiers.read(open_lake(project.settings)).streams["r"]
    return [(epoch, None if f is None else (f - START) // SECOND) for epoch, f in of_stream]


@pytest.fixture(autouse=True)
def _one_minute_later(set_clock: SetClock) -> None:
    set_clock(START + 60 * SECOND)


def test_a_stream_changes_no_graph(project: Project) -> None:
    project.declare(stream(EVENTS))
    project.write("r/1.nt", event(1, 0))
    result = project.ingest()
    assert (result.from_epoch, result.to_epoch, result.errors) == (0, 1, ())
    assert subjects(project) == ["<urn:e1>"]
    assert [project.rows(table) for table in ("quads", "triples", "graphs")] == [[], [], []]
    columns = ("epoch", "source", "position", "inserted", "deleted", "quads_version")
    assert project.rows("transactions", *columns) == [(1, "r", "1.nt", 0, 0, 0)]
    assert stream_rows(open_lake(project.settings)) == {"r": StreamRows(1, 0, 0)}


def test_a_graph_and_a_stream_take_turns_in_epochs_without_gaps(project: Project) -> None:
    graph = {"name": "g", "kind": "patches", "location": "g"}
    project.declare(graph, stream(EVENTS))
    for number in (1, 2):
        project.patch(f"g/{number}.rdfp", f"A <urn:s> <urn:p> <urn:o{number}> .")
        project.write(f"r/{number}.nt", event(number, number))
        project.ingest()
    sources = project.rows("transactions", "epoch", "source")
    assert sources == [(1, "g"), (2, "r"), (3, "g"), (4, "r")]
    assert frontiers(project) == [(2, 1), (4, 2)]
    lake = open_lake(project.settings)
    assert [Frontiers.read(lake).at("r", epoch) for epoch in (1, 3)] == [None, START + SECOND]
    assert Frontiers.read(lake).at("x", 9) is None


def test_a_file_that_arrives_late_is_the_next_epoch(project: Project) -> None:
    project.declare(stream(EVENTS, lateness="PT1H"))
    project.write("r/2.nt", event(2, 2))
    project.ingest()
    project.write("r/1.nt", event(1, 3))
    assert project.ingest().errors == ()
    assert project.rows("transactions", "epoch", "position") == [(1, "2.nt"), (2, "1.nt")]


def test_a_deletion_is_rejected_and_patches_need_no_chain(project: Project) -> None:
    project.declare(stream(PATCHES))
    project.patch("r/1.rdfp", f"A {event(1, 1)}", f"D {event(2, 1)}", id_="urn:1")
    project.patch("r/2.rdfp", f"A {event(3, 1)}", previous="urn:lost")
    assert project.ingest().errors == ()
    assert subjects(project) == ["<urn:e1>", "<urn:e3>"]
    assert reasons(project) == [(4, DELETION)]
    assert project.rows("transactions", "epoch", "rejected") == [(1, 1), (2, 0)]


def test_a_triple_dates_its_subject_and_itself(project: Project) -> None:
    project.declare(stream(EVENTS))
    lines = [
        f"<urn:a> <urn:v> <urn:b> .\n{event(1, 1)}\n<urn:e1> <urn:v> 7 .",
        f"<urn:two> <urn:t> {at(1)}, {at(2)} .",
        f"<urn:same> <urn:t> {at(1)}, {at(1, '+00:00')} .",
        f"<urn:zoneless> <urn:t> {at(1, '')} .",
        '<urn:never> <urn:t> "never" .',
    ]
    project.write("r/1.ttl", "\n".join(lines))
    project.ingest()
    assert subjects(project) == ["<urn:e1>"] * 2 + ["<urn:same>"] * 2
    assert {row[1] for row in reasons(project)} == {NO_TIME, TWO_TIMES, NO_ZONE, NOT_A_TIME}
    raw = {row[0].split()[0] for row in project.rows("rejected", "raw")}
    assert raw == {"<urn:a>", "<urn:two>", "<urn:zoneless>", "<urn:never>"}


def test_a_declared_time_zone_is_that_of_times_without_one(project: Project) -> None:
    project.declare(stream(EVENTS, timezone="Asia/Tokyo"))
    project.write("r/1.ttl", f"<urn:e> <urn:t> {at(9 * 3600, '')} .")
    project.ingest()
    assert stored(project, "streams/r", "instant") == [(START,)]


def test_a_triple_about_a_graph_dates_the_graph_and_itself(project: Project) -> None:
    project.declare(EVENTS | {"graph": "default", "stream": {"time": {"graph": "urn:t"}}})
    project.write(
        "r/1.trig",
        f"<urn:g> <urn:t> {at(1)} . <urn:h> <urn:t> {at(2)} . <urn:x> <urn:p> <urn:lost> ."
        "GRAPH <urn:g> { <urn:a> <urn:p> <urn:b> . } GRAPH <urn:h> { <urn:c> <urn:p> <urn:d> . }"
        "GRAPH <urn:i> { <urn:e> <urn:p> <urn:f> . }",
    )
    project.ingest()
    columns = ("graph", "subject", "instant")
    assert stored(project, "streams/r", *columns) == [
        ("", "<urn:g>", START + SECOND),
        ("", "<urn:h>", START + 2 * SECOND),
        ("<urn:g>", "<urn:a>", START + SECOND),
        ("<urn:h>", "<urn:c>", START + 2 * SECOND),
    ]
    assert [row[1] for row in reasons(project)] == [NO_TIME, NO_TIME]


def test_a_transaction_is_dated_by_its_header_else_by_its_file(project: Project) -> None:
    project.declare(PATCHES | {"stream": {"time": "transaction"}})
    project.patch("r/1.rdfp", "A <urn:a> <urn:p> <urn:o> .")
    project.write("r/2.rdfp", f"H time {at(5)} .\nTX .\nA <urn:b> <urn:p> <urn:o> .\nTC .\n")
    written = datetime(2027, 1, 15, 8, 0, 1, tzinfo=UTC)
    os.utime(project.folder / "r/1.rdfp", (written.timestamp(),) * 2)
    project.ingest()
    assert stored(project, "streams/r", "subject", "instant") == [
        ("<urn:a>", microseconds(written)),
        ("<urn:b>", START + 5 * SECOND),
    ]
    assert [row[0] is None for row in project.rows("transactions", "event_time")] == [False, True]


def test_a_change_set_has_an_event_once_and_each_of_its_lines_a_place(project: Project) -> None:
    project.declare(stream(EVENTS))
    project.write("r/1/b.nt", f"{event(1, 1)}\n{event(2, 1)}\n")
    project.write("r/1/a.nt", f"{event(2, 1)}\n{event(2, 1)}\n")
    project.ingest()
    assert stored(project, "streams/r", "line", "subject") == [(1, "<urn:e2>"), (3, "<urn:e1>")]


def test_equal_blank_nodes_of_two_files_are_one_node_at_two_instants(project: Project) -> None:
    project.declare(EVENTS | {"stream": {"time": {"graph": "urn:t"}, "lateness": "PT1H"}})
    for number in (1, 2):
        graph = f"<urn:g> <urn:t> {at(number)} . <urn:a> <urn:p> [ <urn:q> 1 ] ."
        project.write(f"r/{number}.trig", f"GRAPH <urn:g> {{ {graph} }}")
    project.ingest()
    nodes = {
        (o, i) for o, i in stored(project, "streams/r", "object", "instant") if o.startswith("_:")
    }
    assert len({node for node, _ in nodes}) == 1
    assert len(nodes) == 2


def test_a_broken_document_stops_a_stream_and_gives_no_events_once_it_is_accepted(
    project: Project,
) -> None:
    project.declare(stream(EVENTS))
    project.write("r/1.ttl", event(1, 1))
    project.ingest()
    project.write("r/2.ttl", "broken")
    project.write("r/3.ttl", "")
    (error,) = project.ingest().errors
    assert "2.ttl is broken: line 1" in error.what
    assert frontiers(project) == [(1, 1)]
    assert project.ingest(accept=["r"]).errors == ()
    assert subjects(project) == ["<urn:e1>"]
    assert frontiers(project) == [(1, 1), (2, 1), (3, 1)]
    assert project.rows("transactions", "epoch", "rejected") == [(1, 0), (2, 1), (3, 0)]


def test_an_event_between_lateness_and_frontier_corrects_and_an_earlier_one_is_late(
    project: Project,
) -> None:
    project.declare(stream(EVENTS, delay="PT2S", lateness="PT3S", starts="2020-01-01T00:00:00Z"))
    project.write("r/1.nt", event(1, 20))
    project.ingest()
    project.write("r/2.nt", "\n".join([event(2, 15), event(3, 14.999999), event(4, 19)]))
    project.ingest()
    assert frontiers(project) == [(1, 18), (2, 18)]
    assert subjects(project) == ["<urn:e1>", "<urn:e2>", "<urn:e4>"]
    late = stored(project, "late", "subject", "stream", "frontier", "reason", "epoch")
    assert late == [("<urn:e3>", "r", START + 18 * SECOND, TOO_LATE, 2)]


def test_an_event_of_the_far_future_does_not_move_the_frontier(project: Project) -> None:
    project.declare(stream(EVENTS, ahead="PT10S"))
    project.write("r/1.nt", "\n".join([event(1, 70), event(2, 70.000001), event(3, 10**9)]))
    project.ingest()
    assert subjects(project) == ["<urn:e1>"]
    assert frontiers(project) == [(1, 70)]
    assert {row[0] for row in stored(project, "late", "reason")} == {TOO_EARLY}
    assert stored(project, "stream_epochs", "rows", "late", "early") == [(1, 2, 2)]


def test_the_first_epoch_with_events_starts_the_stream_for_good(project: Project) -> None:
    project.declare(stream(EVENTS, lateness="PT1H"))
    project.write("r/1.nt", "")
    project.write("r/2.nt", "\n".join([event(1, 10), event(2, 5), event(3, 10**9)]))
    project.write("r/3.nt", event(4, 4))
    project.ingest()
    project.write("r/4.nt", event(5, 4.5))
    project.ingest()
    assert frontiers(project) == [(1, None), (2, 10), (3, 10), (4, 10)]
    late = stored(project, "late", "subject", "reason")
    assert late == [
        ("<urn:e3>", TOO_EARLY),
        ("<urn:e4>", BEFORE_START),
        ("<urn:e5>", BEFORE_START),
    ]


def test_an_edited_delay_counts_from_then_on(project: Project) -> None:
    project.declare(stream(EVENTS))
    project.write("r/1.nt", event(1, 10))
    project.ingest()
    project.declare(stream(EVENTS, delay="PT5S"))
    project.write("r/2.nt", event(2, 14))
    project.write("r/3.nt", event(3, 16))
    project.ingest()
    assert frontiers(project) == [(1, 10), (2, 10), (3, 11)]


IDLE = stream(EVENTS, idle="PT5M", delay="PT10S")


def test_time_passes_in_an_idle_stream_once_in_every_idle(
    project: Project, set_clock: SetClock
) -> None:
    project.declare(IDLE)
    project.write("r/1.nt", event(1, 0))
    project.ingest()
    assert not call(is_anything_pending, project.settings)
    for seconds, epochs in ((359, 1), (360, 2), (361, 2), (659, 2), (660, 3)):
        set_clock(START + seconds * SECOND)
        assert call(is_anything_pending, project.settings) == (epochs > len(frontiers(project)))
        project.ingest()
        assert not call(is_anything_pending, project.settings)
        assert len(frontiers(project)) == epochs
    assert frontiers(project) == [(1, -10), (2, 350), (3, 650)]
    positions = project.rows("transactions", "epoch", "source", "position")
    assert positions == [(1, "r", "1.nt"), (2, "r", None), (3, "r", None)]
    project.write("r/2.nt", event(2, 655))
    result = project.ingest()
    assert (result.errors, result.sources[0].position) == ((), "2.nt")


def test_a_tick_does_not_lower_the_frontier(project: Project, set_clock: SetClock) -> None:
    project.declare(IDLE | {"stream": IDLE["stream"] | {"delay": "PT0S", "ahead": "PT1H"}})
    project.write("r/1.nt", event(1, 3000))
    project.ingest()
    set_clock(START + 1000 * SECOND)
    project.ingest()
    assert frontiers(project) == [(1, 3000), (2, 3000)]


def test_no_time_passes_before_the_first_event_or_in_a_stream_that_is_stopped(
    project: Project, set_clock: SetClock
) -> None:
    project.declare(IDLE)
    project.write("r/1.nt", "")
    project.ingest()
    set_clock(START + 10**6 * SECOND)
    assert project.ingest().is_empty
    project.write("r/2.nt", event(1, 10**6))
    project.ingest()
    set_clock(START + 2 * 10**6 * SECOND)
    project.declare(IDLE | {"location": "nowhere"})
    assert isinstance(project.ingest().errors[0], ConfigurationError)
    assert len(frontiers(project)) == 2


@pytest.mark.parametrize("is_stream", [True, False])
def test_a_source_does_not_become_a_stream_nor_a_stream_a_graph(
    project: Project, is_stream: bool
) -> None:
    before, after = (stream(EVENTS), EVENTS) if is_stream else (EVENTS, stream(EVENTS))
    project.declare(before)
    project.write("r/1.nt", event(1, 1))
    project.ingest()
    project.declare(after)
    project.write("r/2.nt", event(2, 2))
    (error,) = project.ingest().errors
    assert "under another name" in str(error)
    assert stream_names(open_lake(project.settings)) == (("r",) if is_stream else ())


def test_running_again_commits_nothing(project: Project) -> None:
    project.declare(stream(EVENTS))
    project.write("r/1.nt", event(1, 1))
    project.ingest()
    lake = open_lake(project.settings)
    versions = [lake.version(table) for table in ("streams/r", "stream_epochs", "transactions")]
    assert project.ingest().is_empty
    lake = open_lake(project.settings)
    again = [lake.version(table) for table in ("streams/r", "stream_epochs", "transactions")]
    assert again == versions
