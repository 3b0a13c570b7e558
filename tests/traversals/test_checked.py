"""The check of remotes over traversals: what it accepts, and what it finds wrong."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.opened import call
from tests.support.projects.project import Project
from tests.traversals.test_stages import START, TRAVERSALS, evaluate
from tests.traversals.webs import Web, change, random_web
from weir.errors import QualityError
from weir.expectations.documents import DOCUMENTS_SUITE
from weir.ingest.stage import ingest_changes
from weir.lake.lake import Lake
from weir.lake.tables import QUALITY
from weir.project import open_lake
from weir.refresh.check import check_freshness
from weir.refresh.current import current_states
from weir.remotes.freshness_log import record_freshness
from weir.remotes.inbox import Inbox
from weir.traversals.inbox import DocumentMark, document_inbox

pytestmark = pytest.mark.usefixtures("sampled")

Row = dict[str, Any]


def project_of(path: Path, declaration: str = TRAVERSALS) -> Project:
    project = Project(path)
    project.write("traversals.yml", declaration)
    project.write("sources.yml", "sources: []\n")
    return project


def refresh(project: Project, web: Web, hour: int) -> None:
    """Evaluate, and record how fresh the documents are."""
    evaluate(project, web, START + timedelta(hours=hour))
    lake = open_lake(project.settings)
    stored = document_inbox("nose").last(lake)
    assert stored is not None
    record_freshness(lake, "nose", stored.mark, f"run-{hour}")


def failures(project: Project, hour: int) -> Mapping[str, int]:
    """Suite and expectation of what a check finds wrong -> how many rows."""
    run_id, now = f"check-{hour}", START + timedelta(hours=hour, minutes=1)
    with suppress(QualityError):
        call(check_freshness, project.settings, run_id, now=now)
    rows = [row for row in project.table(QUALITY.name) if row["run_id"] == run_id]
    assert rows
    return {
        f"{row['table'].partition('/')[0]}.{row['expectation']}": row["unexpected_rows"]
        for row in rows
        if not row["success"]
    }


@pytest.mark.parametrize("epoch_per", ["round", "document"])
def test_the_rounds_of_a_changing_web_meet_all_expectations(tmp_path: Path, epoch_per: str) -> None:
    declaration = f"{TRAVERSALS}    epoch_per: {epoch_per}\n"
    project, rng = project_of(tmp_path, declaration), random.Random(1)
    web = random_web(rng, 12)
    for hour in range(6):
        refresh(project, web, hour)
        if hour % 3:
            call(ingest_changes, project.settings, f"ingest-{hour}")
        if hour % 2:
            assert failures(project, hour) == {}
        change(rng, web, 12)
    assert {row["pattern"] for row in project.table("freshness")} >= {"a.example", "b.example"}


def other_content(rows: list[Row]) -> None:
    row = next(row for row in rows if row["content"])
    row["content"] += "<http://x/s> <http://x/p> <http://x/o> .\n"


def twice(rows: list[Row]) -> None:
    row = next(row for row in rows if row["content_round"] is None)
    rows.append(row | {"outcome": "known", "request_id": None})


def no_alias(rows: list[Row]) -> None:
    next(row for row in rows if row["is_member"])["aliases"] = "[]"


def no_request(rows: list[Row]) -> None:
    next(row for row in rows if row["outcome"] != "known")["request_id"] = "none"


def another_fault(rows: list[Row]) -> None:
    next(row for row in rows if row["outcome"] == "changed")["fault"] = "failed"


def more_changes_than_answers(rows: list[Row]) -> None:
    rows[0]["changes"] = rows[0]["answers"] + 1


def a_difference_without_an_answer(rows: list[Row]) -> None:
    row = next(row for row in rows if row["inserted"])
    row["answers"] = row["changes"] = 0


BROKEN = (
    (twice, "one_row_per_page", 2),
    (other_content, "content_agrees_with_its_digest", 1),
    (no_alias, "documents_are_reached", 1),
    (no_request, "outcomes_have_a_request", 1),
    (another_fault, "faults_say_why", 1),
    (more_changes_than_answers, "answers_are_counted", 1),
    (a_difference_without_an_answer, "only_documents_change_the_graph", 1),
)


@pytest.mark.parametrize(
    ("wrong", "expectation", "number"), BROKEN, ids=[name for _, name, _ in BROKEN]
)
def test_each_kind_of_wrong_page_fails_its_expectation_alone(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    wrong: Callable[[list[Row]], None],
    expectation: str,
    number: int,
) -> None:
    project, rng = project_of(tmp_path), random.Random(1)
    web = random_web(rng, 12)
    refresh(project, web, 0)
    assert failures(project, 0) == {}
    for triples in web.answers.values():
        if isinstance(triples, list):
            triples.append(("<http://x/s>", "<http://x/p>", '"new"'))
    append = Inbox.append

    def appended(
        inbox: Inbox[DocumentMark], lake: Lake, mark: DocumentMark, rows: list[Row], run_id: str
    ) -> None:
        wrong(rows)
        append(inbox, lake, mark, rows, run_id)

    monkeypatch.setattr(Inbox, "append", appended)
    refresh(project, web, 1)
    assert failures(project, 1) == {f"documents.{expectation}": number}


def test_every_expectation_of_pages_is_broken_by_a_test() -> None:
    names = {expectation.name for expectation in DOCUMENTS_SUITE.expectations}
    assert names == {expectation for _, expectation, _ in BROKEN}


def test_a_host_that_was_never_declared_is_found(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    refresh(project, random_web(random.Random(1), 12), 0)
    narrowed = TRAVERSALS.replace("[a.example, b.example, c.example]", "[a.example]")
    project.write("traversals.yml", narrowed)
    assert [*failures(project, 0)] == ["requests.only_declared_hosts"]


def test_documents_that_are_too_old_are_an_error(tmp_path: Path) -> None:
    project = project_of(tmp_path, f"{TRAVERSALS}    warn_after: PT2H\n    error_after: PT4H\n")
    refresh(project, random_web(random.Random(1), 12), 0)
    (fresh,) = current_states(project.settings, START + timedelta(hours=1))
    (old,) = current_states(project.settings, START + timedelta(hours=3))
    assert (fresh.is_late, old.state, old.is_late) == (False, "warn", True)
    assert [*failures(project, 5)] == ["current_freshness.oldest_is_young_enough"]
