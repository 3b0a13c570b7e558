"""`weir.Project`: runs, answers, status and errors in Python."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from datetime import timedelta
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import weir
from tests.support.projects.command_line import files
from tests.support.streams.projects import START, event_project, readings
from weir.cli import main

EX = "http://example.org/"
COUNTED = """PREFIX : <http://example.org/>
SELECT ?s (COUNT(*) AS ?n) FROM NAMED WINDOW :w ON readings [RANGE PT10S STEP PT10S]
WHERE { WINDOW :w { ?r :of ?s } } GROUP BY ?s"""
ROOM = "PREFIX : <http://example.org/>\nSELECT ?room { ?exhibit :room ?room }\n"


@pytest.fixture(scope="module")
def museum_of_three_versions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that ran at each of three versions; to be copied."""
    folder = tmp_path_factory.mktemp("museum")
    assert main(["init", str(folder)]) == 0
    versions = folder / "data/versions"
    text = (versions / "001.ttl").read_text()
    with weir.Project(folder) as project:
        project.run()
        for number, old, new in ((2, '"1"', '"2"'), (3, '"2"', '"3"')):
            text = text.replace(old, new)
            (versions / f"00{number}.ttl").write_text(text)
            project.run()
    return folder


@pytest.fixture
def museum(museum_of_three_versions: Path, tmp_path: Path) -> Path:
    shutil.copytree(museum_of_three_versions, tmp_path, dirs_exist_ok=True)
    return tmp_path


def bag(rows: pa.Table) -> Counter[tuple[str, ...]]:
    """The rows of a table of `exhibits` with their weights summed up."""
    counted: Counter[tuple[str, ...]] = Counter()
    for row in rows.select(["title_term", "room_term", "weight"]).to_pylist():
        counted[row["title_term"], row["room_term"]] += row["weight"]
    return Counter({row: weight for row, weight in counted.items() if weight})


def test_the_changes_up_to_an_epoch_sum_up_to_the_answer_as_of_it(museum: Path) -> None:
    with weir.Project(museum) as project:
        answer = project.answers["exhibits"]
        assert answer.epoch == 3
        changes = answer.changes()
        for epoch in (1, 2, 3):
            before = changes.filter(pa.compute.field("epoch") <= epoch)
            assert bag(before) == bag(answer.as_of(epoch)) != Counter()
        assert bag(answer.as_of(3)) == bag(answer.current())


def test_changes_since_an_epoch_are_the_later_ones_with_their_causes(museum: Path) -> None:
    with weir.Project(museum) as project:
        later = project.answers["exhibits"].changes(since=2)
    assert {*later["epoch"].to_pylist()} == {3}
    assert {*later["changed by"].to_pylist()} == {"museum: 003.ttl"}


def test_changes_after_a_cursor_are_all_that_was_published_later(museum: Path) -> None:
    with weir.Project(museum) as project:
        answer = project.answers["exhibits"]
        cursor, before = answer.cursor, bag(answer.current())
        assert answer.changes(after=cursor).num_rows == 0
        for number, room in ((4, "5"), (5, "6")):
            text = (museum / "data/versions/001.ttl").read_text().replace('"1"', f'"{room}"')
            (museum / f"data/versions/00{number}.ttl").write_text(text)
            project.run()
        later = bag(answer.changes(after=cursor))
        before.update(later)
        assert Counter({row: n for row, n in before.items() if n}) == bag(answer.current())


def test_an_edit_at_an_epoch_that_was_read_is_after_its_cursor(museum: Path) -> None:
    with weir.Project(museum) as project:
        answer = project.answers["exhibits"]
        cursor = answer.cursor
        query = museum / "queries/exhibits.rq"
        query.write_text(query.read_text().replace("?exhibit :t", "?exhibit :room '9' ; :t"))
        project.run()
        assert answer.changes(since=3).num_rows == 0
        later = answer.changes(after=cursor)
        assert {*later["changed by"].to_pylist()} == {"an edit of the query"}
        assert later.num_rows == 2


def test_a_cursor_of_an_answer_that_was_dropped_is_refused_with_a_way_on(museum: Path) -> None:
    with weir.Project(museum) as project:
        answer = project.answers["exhibits"]
        for cursor in ("another:0", "nonsense"):
            with pytest.raises(weir.ConfigurationError, match="no cursor") as refused:
                answer.changes(after=cursor)
            assert "read `current` first" in refused.value.hint


def test_a_table_is_taken_by_pandas_and_duckdb(museum: Path) -> None:
    with weir.Project(museum) as project:
        rows = project.answers["exhibits"].current()
    assert sorted(rows.to_pandas()["room"]) == ["3", "3"]
    assert duckdb.execute("SELECT count(*) FROM rows").fetchall() == [(2,)]


def test_a_query_is_tried_and_nothing_is_written(museum: Path) -> None:
    before = files(str(museum / "lake"))
    with weir.Project(museum) as project:
        tried = project.try_(ROOM)
        nothing = project.try_(ROOM.replace(":room ?", ":rom ?"))
    assert tried.to_pylist() == [{"room": "3", "weight": 2}]
    assert (nothing.num_rows, nothing.schema) == (0, tried.schema)
    assert files(str(museum / "lake")) == before


def test_a_row_is_explained(museum: Path) -> None:
    with weir.Project(museum) as project:
        explained = project.answers["exhibits"].why({"title": "Greek vase", "room": "3"})
    assert explained.epoch == 3
    ((row),) = explained.rows
    assert [change.triple[2] for change in row.changes] == ['"3"']


def test_a_held_answer_is_raised_or_returned_or_accepted_and_others_are_published(
    museum: Path,
) -> None:
    (museum / "queries/rooms.rq").write_text("#+ min_rows: 10\n" + ROOM)
    (museum / "queries/titles.rq").write_text(ROOM.replace("room", "title"))
    with weir.Project(museum) as project:
        run = project.run(check=False)
        assert [type(error) for error in run.errors] == [weir.QualityError]
        assert project.answers["titles"].current().num_rows == 3
        with pytest.raises(weir.QualityError, match="rooms"):
            project.run()
        with pytest.raises(weir.QualityError, match="held back"):
            project.answers["rooms"].current()
        assert [fault[:2] for fault in project.status().faults()] == [("held", "rooms")]
        assert project.run(accept=["rooms"]).errors == ()


def test_a_selection_is_all_that_is_maintained(museum: Path) -> None:
    for name in ("one", "two"):
        (museum / f"queries/{name}.rq").write_text(ROOM)
    with weir.Project(museum) as project:
        project.run(select=["one"])
        assert project.answers["one"].epoch == 3
        assert project.answers["two"].epoch is None


def test_the_steps_of_a_run_are_reported(museum: Path) -> None:
    (museum / "queries/one.rq").write_text(ROOM)
    lines: list[tuple[str, str]] = []
    with weir.Project(museum) as project:
        project.run(progress=lambda stage, line: lines.append((stage, line)))
    assert {stage for stage, _ in lines} >= {"maintain", "publish"}


def test_a_name_that_no_query_has_is_a_key_error_that_says_what_may_be_meant(museum: Path) -> None:
    with weir.Project(museum) as project:
        assert [*project.answers] == ["exhibits"]
        with pytest.raises(KeyError, match="Did you mean exhibits"):
            project.answers["exhibit"]


def test_what_is_not_published_says_how_it_becomes_so(tmp_path: Path) -> None:
    assert main(["init", str(tmp_path)]) == 0
    with (
        weir.Project(tmp_path) as project,
        pytest.raises(weir.ConfigurationError, match="`weir run` creates one"),
    ):
        project.answers["exhibits"].current()


def test_a_folder_that_is_no_project_is_refused(tmp_path: Path) -> None:
    with pytest.raises(weir.ConfigurationError, match=r"weir\.toml"):
        weir.Project(tmp_path)


def test_damage_is_an_error_that_names_the_file(museum: Path) -> None:
    for file in (museum / "lake/answers/exhibits").glob("*.parquet"):
        content = bytearray(file.read_bytes())
        content[len(content) // 3] ^= 0xFF
        file.write_bytes(content)
    with (
        weir.Project(museum) as project,
        pytest.raises(weir.WeirError, match=r"answers/exhibits/.*\.parquet"),
    ):
        project.answers["exhibits"].changes()


@pytest.mark.parametrize("statement", ["DROP VIEW x", "COPY runs TO 'x'", "SELECT 1; SELECT 2", ""])
def test_sql_only_reads(museum: Path, statement: str) -> None:
    with weir.Project(museum) as project, pytest.raises(weir.WeirError):
        project.sql(statement)


def test_the_views_are_listed(museum: Path) -> None:
    with weir.Project(museum) as project:
        assert "exhibits_current" in project.sql("SHOW TABLES")["name"].to_pylist()


def test_an_answer_without_streams_has_no_intervals(museum: Path) -> None:
    with weir.Project(museum) as project, pytest.raises(weir.ConfigurationError, match="no stream"):
        project.answers["exhibits"].intervals()


def test_importing_the_package_imports_no_library() -> None:
    code = "import sys, weir; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"pyarrow", "duckdb", "deltalake", "pydantic"} & {*done.stdout.split()}


@pytest.mark.parametrize("name", weir.__all__)
def test_what_the_package_offers_is_there(name: str) -> None:
    assert getattr(weir, name).__doc__


def test_an_answer_over_streams_has_intervals_and_holds_at_instants(tmp_path: Path) -> None:
    streams = event_project(tmp_path / "project", COUNTED)
    streams.write("events/001.ttl", readings(("a", 1), ("b", 2), ("a", 12), ("a", 7300)))
    with weir.Project(streams.folder) as project:
        project.run()
        answer = project.answers["q"]
        first = START + timedelta(seconds=10)
        assert answer.as_of(at=first)["s"].to_pylist() == [f"{EX}a", f"{EX}b"]
        since = answer.intervals().filter(pa.compute.field("since") == first)
        assert since["s"].to_pylist() == [f"{EX}a", f"{EX}b"]
