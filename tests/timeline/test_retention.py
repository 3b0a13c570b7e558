"""Old events of streams are deleted: nothing published changes, and later answers are right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from tests.support.killed import call_killed
from tests.support.opened import call
from tests.support.projects.project import Project
from tests.support.streams.memory import StreamRow, state
from tests.support.streams.projects import (
    READINGS,
    SECOND,
    START,
    STREAM,
    answer_log,
    event_project,
    readings,
)
from weir.answers.moments import moment_of
from weir.compact.stage import DeletedOfStream, compact_lake
from weir.engine.windows import LastElements
from weir.errors import ConfigurationError
from weir.ingest.lateness import DELETED
from weir.lake.instants import microseconds
from weir.lake.ledger.claims import claim
from weir.lake.tables import stream
from weir.progress.streams import deleted_events
from weir.project import open_lake
from weir.status.streams import stream_statuses
from weir.timeline.retention import needed_elements

pytestmark = pytest.mark.usefixtures("sampled")


KEEP = {"lateness": "PT10S", "keep": "PT1S"}
COUNT = """PREFIX ex: <http://example.org/>
SELECT ?sensor (COUNT(*) AS ?n)
FROM NAMED WINDOW ex:w ON readings {window}
WHERE {{ WINDOW ex:w {{ ?reading ex:of ?sensor }} }} GROUP BY ?sensor
"""
WINDOWS = ("[RANGE PT10S STEP PT10S]", "[RANGE PT7S]", "[ELEMENTS 3]")
TABLE = stream("readings").name
FIRST = microseconds(START)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project whose stream has an event a second for 100 seconds, and a query that has run."""
    return with_query(tmp_path / "project", WINDOWS[0])


def with_query(folder: Path, window: str) -> Project:
    project = event_project(folder, COUNT.format(window=window))
    declare(project)
    arrive(project, 1, *((f"s{second % 2}", second) for second in range(100)))
    project.run()
    return project


def declare(project: Project, **others: str) -> None:
    project.declare(READINGS | {"stream": STREAM | KEEP | others})


def arrive(project: Project, number: int, *sensors: tuple[str, int]) -> None:
    project.write(f"events/{number:03}.ttl", readings(*sensors))


def compact(project: Project) -> tuple[list[DeletedOfStream], list[str]]:
    said: list[str] = []
    result = call(compact_lake, project.settings, "compact", said.append)
    return [*result.events], said


def first_second(project: Project) -> int:
    """That of the first event that is stored; a reading has two triples."""
    return int(min(row[0] for row in project.rows(TABLE, "instant")) - FIRST) // SECOND


def counts(log: list[StreamRow], epoch: int, second: int) -> dict[str | None, str | None]:
    answer = state(log, epoch, second * SECOND)
    assert all(weight == 1 for weight in answer.values())
    return {sensor: None if n is None else n.split('"')[1] for sensor, n in answer}


@pytest.mark.parametrize(("elements", "first"), [(1, 40), (2, 30), (3, 30), (4, 10), (5, None)])
def test_the_elements_that_a_window_needs_begin_with_the_last_so_many(
    elements: int, first: int | None
) -> None:
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE events AS SELECT * FROM (VALUES (10, 1), (30, 1), (30, 2),"
        " (40, 2), (20, 9), (60, 1)) AS events (instant, epoch)"
    )
    query = needed_elements("events", LastElements(elements), low=50, known=5)
    row = connection.execute(query.sql("duckdb")).fetchone()
    assert (row and row[0]) == first


@pytest.mark.parametrize("window", WINDOWS)
def test_later_runs_publish_what_they_would_with_all_events(tmp_path: Path, window: str) -> None:
    project = with_query(tmp_path / "project", window)
    whole = project.copy(tmp_path / "whole")
    before = answer_log(project, "q")
    ((deleted,), _) = compact(project)
    assert deleted.deleted > 100
    assert answer_log(project, "q") == before
    # 89 is as late as an event may be: the frontier is at 99.
    for number, events in ((2, (("s0", 89), ("s0", 105))), (3, (("s0", 95), ("s1", 120)))):
        for side in (project, whole):
            arrive(side, number, *events)
            side.run()
        compact(project)
    log = answer_log(project, "q")
    assert log == answer_log(whole, "q")
    assert Counter(before) < Counter(log)
    (status,) = stream_statuses(project.settings)
    assert status.rows == len(project.rows(TABLE))
    assert any(epoch == 2 and instant <= 99 * SECOND for epoch, instant, *_ in log), "a correction"


def test_no_event_is_deleted_that_a_late_one_may_need(project: Project) -> None:
    compact(project)
    # The latest late event is at 89: the window that closes at 90 has the events from 80 on.
    assert 60 < first_second(project) <= 80


def test_events_within_keep_stay_although_no_query_needs_them(project: Project) -> None:
    declare(project, keep="PT50S")
    ((deleted,), _) = compact(project)
    assert first_second(project) == 49
    assert deleted.old.held_by is None
    (status,) = stream_statuses(project.settings)
    assert status.rows == len(project.rows(TABLE)) == 102
    assert status.deleted_before is not None
    assert microseconds(status.deleted_before) == FIRST + 49 * SECOND


def test_without_keep_nothing_is_deleted(project: Project) -> None:
    stored = project.rows(TABLE)
    project.declare(READINGS | {"stream": STREAM | {"lateness": "PT10S"}})
    assert compact(project)[0] == []
    assert project.rows(TABLE) == stored


def test_where_no_file_has_old_events_no_event_is_read(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(project, keep="P1D")

    def read(*_: object) -> None:
        raise AssertionError("events were read")

    monkeypatch.setattr("weir.compact.stage.earlier_rows", read)
    monkeypatch.setattr("weir.compact.old_events.read_timeline", read)
    assert compact(project)[0] == []


def test_a_few_old_events_among_many_stay_until_they_are_worth_the_writing(
    project: Project,
) -> None:
    declare(project, keep="PT90S")
    ((deleted,), _) = compact(project)
    assert deleted.deleted == 0
    assert first_second(project) == 0
    assert deleted_events(open_lake(project.settings), "readings") is None


def _new(project: Project) -> str:
    project.query("later", COUNT.format(window=WINDOWS[1]))
    return "the query later"


def _edited(project: Project) -> str:
    project.query("q", COUNT.format(window=WINDOWS[1]))
    return "the query q"


def _broken(project: Project) -> str:
    project.query("later", "SELECT nonsense")
    return "the file of later, which has an error"


def _removed(project: Project) -> str:
    project.remove_query("q")
    return "q, whose file is gone (`weir drop q` ends this)"


@pytest.mark.parametrize("what", [_new, _edited, _broken, _removed])
def test_a_query_that_may_need_all_events_keeps_them(
    project: Project, what: Callable[[Project], str]
) -> None:
    held_by = what(project)
    stored = project.rows(TABLE)
    ((deleted,), said) = compact(project)
    assert (deleted.deleted, deleted.old.held_by) == (0, held_by)
    assert project.rows(TABLE) == stored
    assert any(held_by in line and "all stay" in line for line in said)


def test_a_query_that_is_behind_keeps_what_it_has_yet_to_read(project: Project) -> None:
    arrive(project, 2, ("s1", 92), ("s1", 300))
    project.ingest()
    compact(project)
    assert 60 < first_second(project) <= 80
    project.run()
    assert counts(answer_log(project, "q"), 2, 100) == {
        "<http://example.org/s0>": "5",
        "<http://example.org/s1>": "6",
    }
    compact(project)
    assert first_second(project) == 300


def test_epochs_that_are_not_validated_keep_their_events(project: Project) -> None:
    project.remove_query("q")
    for folder in ("embeddings/q", "answers/q"):
        drop(project, folder)
    arrive(project, 2, ("s1", 90), ("s1", 300))
    project.ingest()
    ((deleted,), _) = compact(project)
    assert deleted.old.held_by == "the epochs after 1, which are not validated"
    assert first_second(project) == 90
    project.run()
    compact(project)
    assert first_second(project) == 300
    arrive(project, 3, ("s1", 301))
    project.run()


def drop(project: Project, table: str) -> None:

    open_lake(project.settings).remove(table)


def test_a_later_query_begins_where_its_windows_lack_nothing_and_says_so(project: Project) -> None:
    declare(project, keep="PT50S")
    compact(project)
    project.query("later", COUNT.format(window="[RANGE PT20S]"))
    project.query("elements", COUNT.format(window="[ELEMENTS 8]"))
    arrive(project, 2, ("s0", 89), ("s1", 110))
    project.run()
    log = answer_log(project, "later")
    # Kept are the events from 49 on: (48.999.., 68.999..] is the first whole window.
    assert min(instant for _, instant, *_ in log) == 69 * SECOND - 1
    assert counts(log, 1, 69) == {
        "<http://example.org/s0>": "10",
        "<http://example.org/s1>": "10",
    }
    assert counts(log, 2, 89)["<http://example.org/s0>"] == "11"
    # A reading is two triples.
    first = min(instant for _, instant, *_ in answer_log(project, "elements"))
    assert first == 52 * SECOND
    runs = project.rows("runs", "job", "query", "reason")
    (reason,) = {why for job, query, why in runs if job == "maintain" and query == "later"}
    assert "begins at 2026-01-01T00:01:08.999999Z" in reason
    with pytest.raises(ConfigurationError, match="not known"):
        moment_of(project.settings, "later", "2026-01-01T00:01:08Z", None)
    moment_of(project.settings, "later", "2026-01-01T00:01:09Z", None)
    compact(project)
    arrive(project, 3, ("s0", 105), ("s0", 140))
    project.run()
    assert counts(answer_log(project, "later"), 3, 110) == {
        "<http://example.org/s0>": "5",
        "<http://example.org/s1>": "6",
    }


def test_an_edited_query_leaves_earlier_answers_as_they_were_published(project: Project) -> None:
    declare(project, keep="PT50S")
    compact(project)
    before = answer_log(project, "q")
    project.query("q", COUNT.format(window="[RANGE PT20S STEP PT20S]"))
    arrive(project, 2, ("s1", 125))
    project.run()
    log = answer_log(project, "q")
    assert Counter(before) < Counter(log)
    for second in range(0, 80, 10):
        assert counts(log, 2, second) == counts(before, 1, second)
    for second in (80, 100):
        assert set(counts(log, 2, second).values()) == {"10"}
    moment_of(project.settings, "q", "2026-01-01T00:00:30Z", None)


def test_a_query_waits_until_its_first_whole_window_is_final(project: Project) -> None:
    compact(project)
    before = answer_log(project, "q")
    project.query("q", COUNT.format(window="[RANGE PT1M]"))
    project.run()
    assert answer_log(project, "q") == before
    (waits,) = {row[1] for row in project.rows("runs", "mode", "reason") if row[0] == "skipped"}
    assert "waits until" in waits
    arrive(project, 2, ("s1", 160))
    project.run()
    log = answer_log(project, "q")
    assert Counter(before) < Counter(log)
    assert counts(log, 2, 155)["<http://example.org/s1>"] == "2"
    with pytest.raises(ConfigurationError, match="not known"):
        moment_of(project.settings, "q", "2026-01-01T00:01:50Z", None)


def test_an_event_of_a_time_that_was_deleted_is_late(project: Project) -> None:
    compact(project)
    first = first_second(project)
    declare(project, lateness="PT1H")
    arrive(project, 2, ("s1", first - 1), ("s1", 101))
    project.run()
    assert {row[0] for row in project.rows("late", "reason")} == {DELETED}
    assert first_second(project) == first


def test_an_event_whose_window_lacks_deleted_ones_has_the_query_recomputed_from_what_is_kept(
    project: Project,
) -> None:
    compact(project)
    before = answer_log(project, "q")
    first = first_second(project)
    declare(project, lateness="PT1H")
    arrive(project, 2, ("s1", first), ("s1", 101))
    project.run()
    log = answer_log(project, "q")
    assert Counter(before) <= Counter(log)
    assert ("rebased",) in project.rows("runs", "mode")
    assert counts(log, 2, 100) == counts(before, 1, 99) | {"<http://example.org/s1>": "5"}


def test_no_event_is_deleted_during_an_ingest(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weir.compact.stage._PATIENCE", 0.0)
    claim(open_lake(project.settings), "ingest", "busy", lease_seconds=60)
    events, said = compact(project)
    assert [event.deleted for event in events] == [0]
    assert first_second(project) == 0
    assert any("run busy of ingest" in line for line in said)


def test_with_wrong_sources_no_event_is_deleted(project: Project) -> None:
    project.write("sources.yml", "sources: [{name: readings}]")
    events, said = compact(project)
    assert events == []
    assert any("events are left as they are" in line for line in said)


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_killed_compaction_is_taken_up_again(
    project: Project, tmp_path: Path, moment: str
) -> None:
    undisturbed = project.copy(tmp_path / "undisturbed")
    compact(undisturbed)
    call_killed(compact, project, at=f"compact:{moment}:delete:{TABLE}")
    compact(project)
    assert project.rows(TABLE) == undisturbed.rows(TABLE)
    deleted = [deleted_events(open_lake(p.settings), "readings") for p in (project, undisturbed)]
    assert deleted[0] == deleted[1] is not None
    ((again,), _) = compact(project)
    assert again.deleted == 0
    for side in (project, undisturbed):
        arrive(side, 2, ("s1", 89), ("s1", 120))
        side.run()
    assert answer_log(project, "q") == answer_log(undisturbed, "q")
