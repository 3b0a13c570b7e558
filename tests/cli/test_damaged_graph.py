"""What is said of a damaged graph, and of a run that failed, until it is repaired."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest
import typer

from tests.support.damage import damage_the_pages
from tests.support.projects.command_line import Weir
from weir.errors import EXIT_FAILED, EXIT_QUALITY
from weir.pending import Pending
from weir.project import Project

pytestmark = pytest.mark.usefixtures("sampled")


def newest(pattern: str) -> Path:
    return max(Path().glob(pattern), key=lambda file: file.stat().st_mtime_ns)


def lose_a_file(table: str) -> None:
    newest(f"lake/{table}/*.parquet").unlink()


def garble_a_commit(table: str) -> None:
    newest(f"lake/{table}/_delta_log/*.json").write_text("{not json")


def remove_the_table(table: str) -> None:
    shutil.rmtree(f"lake/{table}")


@pytest.fixture(autouse=True)
def project(has_run: None) -> None:
    """A project that has run, with a third version that has not, and no Spark."""
    del has_run
    first = Path("data/versions/001.ttl").read_text()
    Path("data/versions/003.ttl").write_text(first.replace('"1"', '"3"'))


def state(weir: Weir) -> tuple[str, str]:
    """The state of the query, and why."""
    (query,) = weir("status", "--output", "json").json["queries"]
    return query["state"], query["reason"] or ""


def assert_says_what_to_do(why: str) -> None:
    """Once, after what is damaged."""
    assert why.count("a backup") == 1
    assert "(table" not in why.partition("a backup")[2]


@pytest.mark.parametrize("table", ["quads", "triples"])
@pytest.mark.parametrize("damage", [lose_a_file, garble_a_commit, remove_the_table])
def test_no_query_over_a_damaged_graph_is_current(
    weir: Weir, damage: Callable[[str], None], table: str
) -> None:
    """Nothing has run since."""
    damage(table)
    now, why = state(weir)
    assert now == "broken"
    assert "the graph that it reads is damaged: " in why
    assert table in why
    assert_says_what_to_do(why)
    assert weir("status", "--fail-on", "stopped").code == EXIT_QUALITY


def test_a_damaged_graph_gives_a_run_nothing_to_do() -> None:
    Path("data/versions/003.ttl").unlink()
    lose_a_file("quads")
    with Project.load() as project:
        pending = Pending(project)
        assert [state.state for state in pending.definitions.values()] == ["broken"]
        assert not pending.answers


def test_the_last_failed_run_is_shown_until_the_next_one_succeeds(weir: Weir) -> None:
    assert weir("status", "--output", "json").json["failed_run"] is None
    file = newest("lake/quads/*.parquet")
    damage_the_pages(file)
    assert weir("run").code == EXIT_FAILED
    printed = " ".join(weir("status").out.split())
    assert "the last run of ingest failed at " in printed
    assert f"{file.absolute()}: " in printed
    assert "restore the rest from a backup" in printed
    failed = weir("status", "--output", "json").json["failed_run"]
    assert (failed["job"], str(file) in failed["reason"]) == ("ingest", True)
    assert failed["at"] is not None
    now, why = state(weir)
    assert now == "broken"
    assert_says_what_to_do(why)
    weir("site")
    assert "restore the rest from a backup" in Path("site/index.html").read_text()
    assert weir("repair", "--from-sources", "--yes").code == 0
    assert state(weir)[0] == "current"
    assert weir("run").code == 0
    assert weir("status", "--output", "json").json["failed_run"] is None
    assert state(weir)[0] == "current"


def test_what_an_audit_found_counts_until_it_is_repaired(weir: Weir) -> None:
    damage_the_pages(newest("lake/quads/*.parquet"))
    assert state(weir)[0] != "broken"
    assert weir("audit").code == EXIT_QUALITY
    now, why = state(weir)
    assert now == "broken"
    assert_says_what_to_do(why)
    assert weir("repair", "--from-sources", "--yes").code == 0
    assert state(weir)[0] != "broken"


def test_status_reads_no_data_file_of_the_graph(
    weir: Weir, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither while damage is known nor after a repair."""
    damage_the_pages(newest("lake/quads/*.parquet"))
    assert weir("audit").code == EXIT_QUALITY
    for expected in ("broken", "current"):
        with monkeypatch.context() as patch:
            patch.setattr("weir.lake.lake.damaged_files", unread)
            assert state(weir)[0] == expected
        if expected == "broken":
            assert weir("repair", "--from-sources", "--yes").code == 0
            assert weir("run").code == 0


def unread(*_: object) -> NoReturn:
    raise AssertionError("a file is read")


def test_a_query_whose_embeddings_are_gone_is_behind(weir: Weir) -> None:
    Path("data/versions/003.ttl").unlink()
    remove_the_table("embeddings/exhibits")
    assert state(weir) == ("behind", "its embeddings are gone: the next run computes it again")


def test_a_rebuild_from_sources_asks_and_says_what_it_does(
    weir: Weir, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no(*_: object, **__: object) -> NoReturn:
        raise typer.Abort

    monkeypatch.setattr("typer.confirm", no)
    lose_a_file("quads")
    assert "`weir repair --from-sources`" in weir("repair", "--yes").err
    called = weir("repair", "--from-sources")
    assert "rebuilt from the sources" in " ".join(called.out.split())
    assert not Path("lake/_rebuilt").exists()
    assert state(weir)[0] == "broken"
