"""A stage that is paused before its claim, while another run of it does the work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.built import AsBuilt
from tests.support.opened import call
from tests.support.oracles.projects import check_answers
from tests.support.projects.graphs import FIRST, LATER, NAMES, PAIRS, ingest_change_sets
from tests.support.projects.project import PATCHES, Project
from weir.lake.lake import Lake
from weir.publish.stage import publish_answers
from weir.stage import Claim, Job, claimed
from weir.validate.stage import validate_answers

pytestmark = pytest.mark.usefixtures("sampled")


def _build(folder: Path) -> Project:
    project = Project(folder).declare(PATCHES)
    project.query("pairs", PAIRS)
    project.query("names", NAMES)
    ingest_change_sets(project, FIRST)
    project.run()
    ingest_change_sets(project, LATER)
    project.maintain()
    return project


@pytest.fixture
def begun(as_built: AsBuilt) -> Project:
    """Two queries that are published up to epoch 2 and maintained up to 6."""
    return as_built(_build)


def paused(meanwhile: Callable[[], object]) -> Callable[..., Any]:
    """`claimed`, but the first caller waits until `meanwhile` is done."""
    waiting = [meanwhile]

    @contextmanager
    def late(lake: Lake, job: Job, run_id: str, lease_seconds: int) -> Iterator[Claim]:
        if waiting:
            waiting.pop()()
        with claimed(lake, job, run_id, lease_seconds) as claim:
            yield claim

    return late


def test_a_publish_that_was_overtaken_publishes_nothing_twice(
    begun: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun.validate()

    def other() -> None:
        assert call(publish_answers, begun.settings, "other").publications

    monkeypatch.setattr("weir.publish.stage.claimed", paused(other))
    call(publish_answers, begun.settings, "late")
    for query in ("pairs", "names"):
        check_answers(begun, query, 2, 6)


def test_a_validation_that_was_overtaken_leaves_the_newer_verdict(
    begun: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other() -> None:
        begun.change("A <urn:z> <urn:knows> <urn:b> <urn:g>")
        begun.maintain()
        call(validate_answers, begun.settings, "other")

    monkeypatch.setattr("weir.validate.stage.claimed", paused(other))
    call(validate_answers, begun.settings, "late")
    begun.publish()
    for query in ("pairs", "names"):
        check_answers(begun, query, 2, 7)
