"""Where readings of windows differ: what holds here, each with the smallest case that shows it."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.support.generators.basic_cases import Triple
from tests.support.projects.project import Project
from tests.support.streams.histories import Event, GraphChange, StreamBatch
from tests.support.streams.memory import StreamMemory, StreamRow, state
from tests.support.streams.projects import (
    READINGS,
    SECOND,
    STREAM,
    answer_log,
    event_project,
    local,
    readings,
)
from weir.engine.windows import LastElements, SlidingWindow, SteppedWindow, Window
from weir.plan.lower import lower
from weir.sparql.frontend.translate import translate

WINDOW = "<urn:weir:window:w>"
CONTENT = "SELECT ?s FROM NAMED WINDOW w ON s [ELEMENTS 1] { WINDOW w { ?s ?p ?o } }"
"""The windows of tests in memory are given beside the text."""
TEN_BY_TEN = SteppedWindow(10, 10, 0)

Epoch = StreamBatch | GraphChange
Changes = list[tuple[int, int, int, str]]
"""Epoch, instant, weight, the local name of the first column."""


def triple(subject: str, predicate: str = "p", object_: str = "o") -> Triple:
    subject, predicate, object_ = (
        f"<http://example.org/{name}>" for name in (subject, predicate, object_)
    )
    return subject, predicate, object_


def batch(*events: tuple[str, int], until: int = 100) -> StreamBatch:
    """Events by their subjects and instants; none before `until` is expected any more."""
    return StreamBatch("s", tuple((triple(name), at) for name, at in events), until)


def log(
    window: Window,
    *epochs: Epoch,
    query: str = CONTENT,
    corrects_back: int = 0,
) -> list[StreamRow]:
    plan = lower(translate(query, "union"), allow_product=True)
    memory = StreamMemory(plan, {WINDOW: window}, {WINDOW: "s"}, epochs, corrects_back)
    memory.run(0, len(epochs))
    return memory.log()


def changes(rows: Iterable[StreamRow]) -> Changes:
    return sorted((epoch, at, weight, local(row[0])) for epoch, at, weight, row in rows)


def names(rows: list[StreamRow], instant: int, epoch: int = 99) -> set[str]:
    return {local(row[0]) for row in state(rows, epoch, instant)}


@pytest.mark.parametrize(
    ("window", "since"),
    [
        (TEN_BY_TEN, 20),
        (SteppedWindow(10, 10, 0, bounds="(]"), 10),
        (SlidingWindow(10), 10),
    ],
)
def test_a_window_with_a_step_has_its_begin_and_not_its_end(window: Window, since: int) -> None:
    """Trap 1; with the other bounds, and without a step, it has its end and not its begin."""
    assert changes(log(window, batch(("a", 10)))) == [(1, since, 1, "a"), (1, since + 10, -1, "a")]


@pytest.mark.parametrize(("first", "closes"), [("full", {3, 5, 7}), ("partial", {1, 3, 5, 7})])
def test_the_first_close_is_that_of_a_full_window(first: str, closes: set[int]) -> None:
    """Trap 2: t0 + R + kB."""
    window = SteppedWindow(3, 2, 0, first=first)  # type: ignore[arg-type]
    events = batch(*((f"e{at}", at) for at in range(9)), until=8)
    assert {at for _, at, *_ in log(window, events)} == closes


def test_a_triple_that_occurs_twice_is_there_once_and_leaves_with_the_last() -> None:
    """Trap 3: the content of a window is a set."""
    log_of_a = changes(log(SteppedWindow(10, 5, 0), batch(("a", 3), ("a", 8))))
    assert log_of_a == [(1, 10, 1, "a"), (1, 20, -1, "a")]


def test_a_triple_that_leaves_and_enters_at_one_close_does_not_change_the_answer() -> None:
    """Trap 4."""
    log_of_a = changes(log(TEN_BY_TEN, batch(("a", 0), ("a", 10))))
    assert log_of_a == [(1, 10, 1, "a"), (1, 30, -1, "a")]


def test_a_count_over_an_empty_window_is_zero_even_before_the_first_close() -> None:
    """Trap 5: an aggregate over it has an answer, also before the first close."""
    query = CONTENT.replace("?s F", "?n F").replace("{ ?s", "{ SELECT (COUNT(*) AS ?n) { ?s")
    rows = log(TEN_BY_TEN, batch(("a", 0)), query=f"{query} }}")
    counts = {at: [row[0] for row in state(rows, 1, at)] for at in (0, 9, 10, 19, 20, 50)}
    integer = '"{}"^^<http://www.w3.org/2001/XMLSchema#integer>'
    assert counts == {
        at: [integer.format(count)]
        for at, count in {0: 0, 9: 0, 10: 1, 19: 1, 20: 0, 50: 0}.items()
    }


def fixture(shared: Path, name: str) -> tuple[list[Event], dict[str, object]]:
    """The stream of a fixture, an atom a(x, y) as a triple, and what is expected."""
    (folder,) = (shared / "papers" / "examples").glob(f"{name}-*")
    with (folder / "stream.csv").open() as file:
        rows = [(int(row["t"]), row["atom"]) for row in csv.DictReader(file)]
    # An atom is once at a point of time.
    events = [(atom_triple(atom), at) for at, atom in dict.fromkeys(rows)]
    return events, json.loads((folder / "expected.json").read_text())


def atom_triple(atom: str) -> Triple:
    match re.split(r"[(,)]", atom):
        case [predicate, subject, ""]:
            return triple(subject, predicate)
        case [predicate, subject, object_, ""]:
            return triple(subject, predicate, object_)
    raise ValueError(atom)


@pytest.mark.parametrize("by_event", [False, True])
def test_the_answer_at_an_instant_follows_all_events_of_that_instant(
    shared: Path, *, by_event: bool
) -> None:
    """Trap 6: 004-16, where four events of one instant push others out of the last three."""
    events, expected = fixture(shared, "004-16")
    query = CONTENT.replace("?p ?o", "<http://example.org/p> ?o")
    parts = [(event,) for event in events] if by_event else [tuple(events)]
    epochs = [StreamBatch("s", part, part[-1][1]) for part in parts]
    rows = log(LastElements(3), *epochs, StreamBatch("s", (), 8), query=query)
    intervals = expected["output_intervals"]
    assert isinstance(intervals, dict)
    for instant in range(8):
        held = {
            atom.removeprefix("d(").removesuffix(")")
            for atom, spans in intervals.items()
            if atom.startswith("d(") and any(c <= instant <= h for c, h in spans)
        }
        assert names(rows, instant) == held, instant
    assert {at for _, at, *_ in rows} <= {at for _, at in events}


def test_a_window_of_n_of_paper_004_has_a_range_of_n_and_one(shared: Path) -> None:
    """Trap 7: 004-1; tuple windows have n elements in both languages."""
    events, expected = fixture(shared, "004-1")
    windows = expected["windows"]
    assert isinstance(windows, dict)
    for name, printed in windows.items():
        match = re.match(r"(time|tuple) window (\d+) at (\d+)", name)
        assert match is not None
        size, instant = int(match[2]), int(match[3])
        window: Window = SlidingWindow(size + 1) if match[1] == "time" else LastElements(size)
        query = CONTENT.replace("?s F", "?s ?p ?o F")
        rows = log(window, StreamBatch("s", tuple(events), 50), query=query)
        atoms = {atom_triple(atom) for atoms_at in printed["atoms"].values() for atom in atoms_at}
        assert {*state(rows, 1, instant)} == atoms, name


def test_a_late_event_moves_which_elements_are_the_last() -> None:
    """Trap 11."""
    rows = log(LastElements(2), batch(("a", 1), ("b", 3)), batch(("c", 2)))
    assert changes(rows) == [(1, 1, 1, "a"), (1, 3, 1, "b"), (2, 2, 1, "c"), (2, 3, -1, "a")]


def test_a_late_event_that_empties_a_close_takes_back_the_row() -> None:
    """Trap 17, and 16: what is recorded stays, and the first weight at an instant may be -1."""
    query = "SELECT ?s FROM NAMED WINDOW w ON s [ELEMENTS 1] { WINDOW w { ?s <u:p> ?o } FILTER "
    query += "NOT EXISTS { WINDOW w { ?s <u:q> ?o } } }"
    event: Triple = ("<u:/a>", "<u:p>", "<u:o>")
    first = StreamBatch("s", ((event, 1),), 15)
    second = StreamBatch("s", ((event, 11),), 35)
    late = StreamBatch("s", ((("<u:/a>", "<u:q>", "<u:o>"), 2),), 35)
    rows = log(TEN_BY_TEN, first, second, late, query=query)
    assert changes(rows) == [
        (1, 10, 1, "a"),
        (2, 30, -1, "a"),
        (3, 10, -1, "a"),
        (3, 20, 1, "a"),
    ]
    assert [names(rows, 10, epoch) for epoch in (1, 2, 3)] == [{"a"}, {"a"}, set()]


BOTH = CONTENT.replace("?o } }", "?o } ?s ?in ?room }")
"""A window joined with the graph."""


def change(*, appear: str = "", vanish: str = "", time: int | None = None) -> GraphChange:
    def where(names: str) -> frozenset[Triple]:
        return frozenset(triple(name, "in", "room") for name in names)

    return GraphChange(where(vanish), where(appear), time)


def test_a_graph_without_times_holds_for_all_instants_that_are_not_final() -> None:
    """Trap 19."""
    rows = log(TEN_BY_TEN, change(appear="a"), batch(("a", 5)), query=BOTH)
    assert changes(rows) == [(2, 10, 1, "a"), (2, 20, -1, "a")]
    epochs: list[Epoch] = [
        batch(("a", 5), ("b", 15), until=15),
        change(appear="ab"),
        batch(until=50),
    ]
    assert changes(log(TEN_BY_TEN, *epochs, query=BOTH)) == [
        (3, 16, 1, "a"),
        (3, 20, -1, "a"),
        (3, 20, 1, "b"),
        (3, 30, -1, "b"),
    ]


def test_a_graph_whose_times_go_back_never_vanishes_before_it_appears() -> None:
    """Trap 19: an epoch does not hold before those that precede it."""
    epochs: list[Epoch] = [
        batch(("a", 5), ("b", 5), until=9),
        change(appear="ab", time=15),
        change(vanish="a", time=12),
        batch(until=50),
    ]
    for corrects_back in (0, 100):
        rows = log(TEN_BY_TEN, *epochs, query=BOTH, corrects_back=corrects_back)
        assert changes(rows) == [(4, 15, 1, "b"), (4, 20, -1, "b")]


def test_a_change_of_the_graph_corrects_only_as_far_back_as_declared() -> None:
    """Trap 19."""
    epochs: list[Epoch] = [batch(("a", 5), until=18), change(appear="a", time=12), batch(until=50)]
    since = {0: 19, 3: 16, 100: 12}
    for corrects_back, instant in since.items():
        rows = log(TEN_BY_TEN, *epochs, query=BOTH, corrects_back=corrects_back)
        epoch = 3 if corrects_back == 0 else 2
        assert changes(rows) == [(epoch, instant, 1, "a"), (3, 20, -1, "a")]


def test_closes_without_events_are_evaluated() -> None:
    """Trap 22: an idle stream's windows become empty when its frontier moves."""
    rows = log(TEN_BY_TEN, batch(("a", 3), until=12), batch(until=19), batch(until=20))
    assert changes(rows) == [(1, 10, 1, "a"), (3, 20, -1, "a")]


OF = "SELECT ?sensor FROM NAMED WINDOW w ON readings [RANGE 10s STEP 10s] "
OF += "{ WINDOW w { ?reading <http://example.org/of> ?sensor } }"


def seconds(project: Project) -> Changes:
    return [(e, at // SECOND, w, local(row[0])) for e, at, w, row in answer_log(project, "q")]


def test_events_before_the_first_instant_of_the_registration_are_late(tmp_path: Path) -> None:
    """Trap 8, for windows: what the first epoch began with is fixed."""
    project = event_project(tmp_path, OF)
    project.write("events/1.ttl", readings(("a", 5), ("b", 12)))
    project.run()
    project.write("events/2.ttl", readings(("c", 4), ("d", 5), ("e", 31)))
    project.run()
    late = project.rows("late", "epoch", "instant")
    assert [(epoch, instant // SECOND % 60) for epoch, instant in late] == [(2, 4), (2, 4)]
    assert seconds(project) == [
        (1, 10, 1, "a"),
        (2, 10, 1, "d"),
        (2, 20, -1, "a"),
        (2, 20, -1, "d"),
        (2, 20, 1, "b"),
        (2, 30, -1, "b"),
    ]


def test_an_edited_delay_leaves_recorded_frontiers_as_they_are(tmp_path: Path) -> None:
    """Trap 18."""
    project = event_project(tmp_path, OF)
    project.write("events/1.ttl", readings(("a", 5), ("b", 21)))
    project.run()
    before, epochs = seconds(project), project.rows("stream_epochs", "epoch", "frontier")
    assert before == [(1, 10, 1, "a"), (1, 20, -1, "a")]
    project.declare(READINGS | {"stream": STREAM | {"delay": "PT1M"}})
    project.run()
    assert seconds(project) == before
    project.write("events/2.ttl", readings(("c", 15), ("d", 50)))
    project.run()
    assert project.rows("stream_epochs", "epoch", "frontier")[:1] == epochs
    # The frontier waits at 21 for events of a minute before the newest; c at 15 is late.
    assert seconds(project) == [*before, (2, 20, 1, "c")]


def test_a_blank_node_is_another_in_an_event_of_another_instant(tmp_path: Path) -> None:
    """Trap 20: it is labelled by its content, which has the time."""
    query = OF.replace("SELECT ?sensor", "SELECT ?sensor ?reading")
    project = event_project(tmp_path, query)
    project.write("events/1.ttl", readings(("a", 1), blank=True))
    project.write("events/2.ttl", readings(("a", 1), ("a", 2), ("b", 31), blank=True))
    project.run()
    held = [row for _, at, weight, row in answer_log(project, "q") if weight > 0]
    assert len(held) == len({reading for _, reading in held}) == 2
    assert {local(sensor) for sensor, _ in held} == {"a"}


def test_digits_of_times_beyond_microseconds_are_cut_off(tmp_path: Path) -> None:
    """Trap 22: not rounded, so that the event stays on its side of a close."""
    project = event_project(tmp_path, OF)
    text = readings(("a", 9), ("b", 31)).replace("00:00:09", "00:00:09.9999999")
    project.write("events/1.ttl", text)
    project.run()
    assert seconds(project) == [(1, 10, 1, "a"), (1, 20, -1, "a")]


def test_validation_accepts_corrections_that_begin_with_a_negative_weight(tmp_path: Path) -> None:
    """Traps 16 and 17 through all stages: only validated answers are published."""
    query = OF.replace("?sensor }", "?sensor } FILTER NOT EXISTS { WINDOW w { ?x <u:q> ?sensor } }")
    project = event_project(tmp_path, query)
    files = (
        readings(("a", 1), ("z", 15)),
        readings(("a", 11), ("z", 35)),
        readings(("a", 2), ("z", 36)).replace("<http://example.org/of>", "<u:q>"),
    )
    for number, text in enumerate(files):
        project.write(f"events/{number}.ttl", text)
        project.run()
    assert seconds(project) == [
        (1, 10, 1, "a"),
        (2, 20, 1, "z"),
        (2, 30, -1, "a"),
        (2, 30, -1, "z"),
        (3, 10, -1, "a"),
        (3, 20, 1, "a"),
    ]


def test_a_change_of_the_graph_is_not_seen_before_its_epoch() -> None:
    """It corrects from the first instant on; a leg that ends before it does not know of it."""
    epochs: list[StreamBatch | GraphChange]
    epochs = [batch(("a", 5), until=25), change(appear="a", time=3)]
    rows = log(TEN_BY_TEN, *epochs, query=BOTH, corrects_back=100)
    assert changes(rows) == [(2, 10, 1, "a"), (2, 20, -1, "a")]
