"""The reason that `weir status` gives is that of the state, not of how a query was computed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.projects.command_line import Weir
from tests.support.projects.handmade import HandMadeLake, publish_by_hand
from weir.definitions.catalog import Catalog
from weir.definitions.definition import Definition
from weir.errors import EXIT_FAILED, EXIT_QUALITY, EXIT_USAGE
from weir.lake.delta.commit import write
from weir.lake.ledger.runs import FAILED, SKIPPED, SUCCEEDED, LedgerRow, record
from weir.lake.tables import answers
from weir.progress.backlog import REPAIRED
from weir.progress.failed_attempts import Attempt, FailedAttempts
from weir.project import open_lake

SELECT = "SELECT ?s ?o WHERE { ?s <http://a/p> ?o }"
EDITED = "SELECT ?s ?o WHERE { ?s <http://a/edited> ?o }"
BEYOND = "it takes more than query_seconds = 600"
RETRY = "or by `weir run --retry q`"


@pytest.fixture
def project(lake: HandMadeLake) -> HandMadeLake:
    """The query q, of which nothing is computed, and two epochs."""
    lake.query("q", SELECT)
    lake.ingest(2)
    return lake


def member(lake: HandMadeLake) -> Definition:
    return Catalog.of(lake.settings).member("q")


def publish(lake: HandMadeLake, to_epoch: int, embeddings_version: int = 1) -> None:
    """Compute and publish an answer of q."""
    lake.maintain("q", [(1, 1, "<http://a/a>", "<http://a/b>")], mode="initial")
    publish_by_hand(lake, "q", ["s", "o"], [], watermark=to_epoch)
    opened = open_lake(lake.settings)
    last = opened.last_metadata("answers/q", job="publish")
    assert last is not None
    extra = {**last[1].extra, "embeddings_version": embeddings_version}
    metadata = replace(last[1], fingerprint=member(lake).fingerprint, extra=extra)
    write(opened, answers("q", ("s", "o")), [], metadata)


def exceed(lake: HandMadeLake) -> None:
    """Record that q took more than a limit, and was left out of a run after that."""
    tried = Attempt(
        member(lake).fingerprint, lake.settings.limits.of_queries, lake.epochs, datetime.now(UTC)
    )
    failed = FailedAttempts.after(tried, BEYOND, None)
    reason = f"q: {failed.explained('q')}"
    row = LedgerRow("m", "maintain", 1, FAILED, "q", SKIPPED, reason, 0, 0)
    record(open_lake(lake.settings), [replace(row, failed_attempts=failed.to_json())])


def ran(lake: HandMadeLake, status: str, mode: str, reason: str) -> None:
    """Record what a run of maintain said of q."""
    record(
        open_lake(lake.settings), [LedgerRow("m", "maintain", 1, status, "q", mode, reason, 0, 1)]
    )


def printed(weir: Weir) -> str:
    """What is printed, in one line."""
    return " ".join(weir("status").out.split())


def state(weir: Weir) -> str:
    (only,) = weir("status", "--output", "json").json["queries"]
    return str(only["state"])


def behind(weir: Weir) -> str:
    """What is printed for a monitor, in one line."""
    called = weir("status", "--fail-on", "behind")
    assert called.code == EXIT_QUALITY
    return " ".join(called.err.split())


def test_the_reason_of_a_new_query_beyond_a_limit_is_the_limit(
    weir: Weir, project: HandMadeLake
) -> None:
    exceed(project)
    assert state(weir) == "new"
    assert f"q: {BEYOND}. It is tried again" in printed(weir)


def test_the_fault_of_a_new_query_names_its_limit(weir: Weir, project: HandMadeLake) -> None:
    exceed(project)
    assert f"behind q: {BEYOND}. It is tried again" in behind(weir)


def test_an_edited_query_beyond_a_limit_has_the_reason_of_the_limit(
    weir: Weir, project: HandMadeLake
) -> None:
    publish(project, 2)
    project.query("q", EDITED)
    exceed(project)
    assert state(weir) == "behind"
    assert f"q: {BEYOND}. It is tried again" in printed(weir)
    assert f"behind q: {BEYOND}. It is tried again" in behind(weir)


def test_a_query_that_was_edited_after_it_was_beyond_a_limit_is_tried_by_the_next_run(
    weir: Weir, project: HandMadeLake
) -> None:
    publish(project, 2)
    exceed(project)
    project.query("q", EDITED)
    assert "q: edited: the next run recomputes it" in printed(weir)


def test_a_new_query_that_was_edited_after_it_was_beyond_a_limit_has_no_reason(
    weir: Weir, project: HandMadeLake
) -> None:
    exceed(project)
    project.query("q", EDITED)
    assert BEYOND not in printed(weir)
    assert "`weir run` creates one" in " ".join(weir("show", "q").err.split())


def test_showing_a_query_beyond_a_limit_gives_the_limit(weir: Weir, project: HandMadeLake) -> None:
    exceed(project)
    called = weir("show", "q")
    assert called.code == EXIT_USAGE
    err = " ".join(called.err.split())
    assert f"q has no published answer yet: {BEYOND}" in err
    assert RETRY in err
    assert "`weir run` creates one" not in err


def test_how_the_last_run_computed_a_query_is_no_reason_that_it_is_behind(
    weir: Weir, project: HandMadeLake
) -> None:
    publish(project, 1)
    ran(project, SUCCEEDED, "untouched", "no row of it changed")
    assert state(weir) == "behind"
    assert "no row of it changed" not in printed(weir)
    assert "behind q: the next run publishes more" in behind(weir)


def test_the_reason_of_a_failed_run_names_its_query_once(weir: Weir, project: HandMadeLake) -> None:
    publish(project, 1)
    ran(project, FAILED, "incremental", "q: /path/to/a: cannot be read")
    assert "q: /path/to/a: cannot be read" in printed(weir)
    assert "q: q:" not in printed(weir)
    assert "behind q: /path/to/a: cannot be read" in behind(weir)


def test_the_reason_of_a_skipped_query_is_that_of_the_run_that_skipped_it(
    weir: Weir, project: HandMadeLake
) -> None:
    ran(project, SUCCEEDED, SKIPPED, "waits until data are complete")
    assert state(weir) == "new"
    assert "q: waits until data are complete" in printed(weir)


def test_a_repaired_answer_is_behind_because_it_was_repaired(
    weir: Weir, project: HandMadeLake
) -> None:
    publish(project, 2, REPAIRED)
    assert state(weir) == "behind"
    reason = "the published rows were repaired: the next run publishes the difference"
    assert f"q: {reason}" in printed(weir)
    assert f"behind q: {reason}" in behind(weir)


@pytest.mark.usefixtures("has_run")
def test_the_failed_run_is_that_of_the_checks_and_not_that_nothing_was_published(
    weir: Weir,
) -> None:
    Path("expectations").mkdir(exist_ok=True)
    Path("expectations/exhibits.yml").write_text(
        "answers: exhibits\nexpectations:\n  - type: expect_column_values_to_be_unique\n"
        "    kwargs: {column: nosuch}\n"
    )
    first = Path("data/versions/001.ttl").read_text()
    Path("data/versions/002.ttl").write_text(first.replace('"1"', '"2"'))
    assert weir("run").code == EXIT_QUALITY
    failed = weir("status", "--output", "json").json["failed_run"]
    assert (failed["job"], "nosuch" in failed["reason"]) == ("validate", True)


@pytest.mark.usefixtures("has_run")
def test_a_query_that_does_not_parse_fails_each_run_and_stops_no_other(weir: Weir) -> None:
    Path("queries/typo.rq").write_text("SELECT ?s {\n  ?s ?p }")
    first = Path("data/versions/001.ttl").read_text()
    Path("data/versions/002.ttl").write_text(first.replace('"1"', '"2"'))
    for modes in (["incremental"], []):
        called = weir("run", "--output", "json")
        assert called.code == EXIT_FAILED
        assert [row["mode"] for row in called.json["queries"]] == modes
        (error,) = called.json["errors"]
        assert "queries/typo.rq:2:" in error
    states = {q["query"]: q["state"] for q in weir("status", "--output", "json").json["queries"]}
    assert states == {"exhibits": "current", "typo": "broken"}
    assert weir("status", "--fail-on", "stopped").code == EXIT_QUALITY
