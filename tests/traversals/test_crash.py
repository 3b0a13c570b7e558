"""A traversal that dies at any checkpoint: the next run goes on, and no budget is overspent."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.support.dying import Death, dies_after
from tests.support.opened import call
from tests.support.projects.project import Project
from tests.traversals.test_stages import (
    START,
    TRAVERSALS,
    evaluate,
    expected_quads,
    held,
)
from tests.traversals.webs import Web, change, random_web
from weir.ingest.stage import ingest_changes
from weir.lake.tables import REQUESTS
from weir.traversals import evaluation
from weir.traversals.rules import Rules
from weir.traversals.search import SearchLimits

BUDGET = 60


def spent(project: Project) -> dict[Any, int]:
    """By evaluation, the requests that count: settled, or reserved and not settled."""
    amounts: dict[Any, dict[str, int]] = {}
    for row in sorted(project.table(REQUESTS.name), key=lambda row: row["phase"]):
        amounts.setdefault(row["evaluation"], {})[row["request_id"]] = row["requests"]
    return {evaluation_: sum(own.values()) for evaluation_, own in amounts.items()}


def follow_links(project: Project, web: Web, at: datetime) -> None:
    """Both stages: an evaluation, and the epochs of its rounds."""
    evaluate(project, web, at)
    call(ingest_changes, project.settings, f"ingest-{at:%H}")


def died(project: Project, web: Web, at: datetime, passed: int) -> Death:
    """Both stages, which die at the next checkpoint after so many."""
    with dies_after(passed) as death:
        follow_links(project, web, at)
    return death


@pytest.mark.usefixtures("slow")
@pytest.mark.law("webs and deaths")
def test_a_traversal_that_dies_at_any_checkpoint_is_brought_to_its_end(
    seeds: Iterable[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation, "CHUNK", 3)
    monkeypatch.setattr(evaluation, "ROUND_PAGES", 4)
    for seed in seeds:
        rng = random.Random(seed)
        before = Project(tmp_path / f"{seed}")
        before.write("traversals.yml", TRAVERSALS + f"    budget: {{requests: {BUDGET}}}\n")
        before.write("sources.yml", "sources: []\n")
        web = random_web(rng, 10)
        # The first evaluation, or one that knows most pages.
        if seed % 2:
            follow_links(before, web, START)
            change(rng, web, 10)
        expected = expected_quads(web, Rules(every=True), SearchLimits())
        at = START + timedelta(hours=1)
        for passed in count():
            project = Project(tmp_path / f"{seed}-{passed}")
            shutil.copytree(before.folder, project.folder, dirs_exist_ok=True)
            death = died(project, web, at, passed)
            follow_links(project, web, at)
            assert held(project) == expected, (seed, death)
            assert max(spent(project).values()) <= BUDGET, (seed, death)
            shutil.rmtree(project.folder)
            if not death.at:
                break


def test_a_replay_commits_no_round_that_changes_the_graph(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("traversals.yml", TRAVERSALS)
    project.write("sources.yml", "sources: []\n")
    web = random_web(random.Random(7), 10)
    for _ in range(2):
        evaluate(project, web, START, lifetime=3600.0)
        call(ingest_changes, project.settings, "ingest")
    assert len(project.table("transactions")) == 1
