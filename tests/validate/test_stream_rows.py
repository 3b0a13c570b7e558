"""Streams are checked with the graph: their new epochs, as ingest recorded them."""

from __future__ import annotations

import pytest

from tests.support.projects.project import Project
from weir.errors import QualityError
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.tables import stream
from weir.project import open_lake

DATE_TIME = "<http://www.w3.org/2001/XMLSchema#dateTime>"


def declare(project: Project, **keys: object) -> None:
    time = {"time": {"predicate": "urn:t"}}
    project.declare({"name": "r", "kind": "patches", "location": "r", "stream": time | keys})


def ingest(project: Project, number: int, *seconds: int) -> None:
    """One more epoch, of events at these seconds."""
    lines = (
        f'A <urn:e{number}{second}> <urn:t> "2026-01-01T00:00:{second:02}Z"^^{DATE_TIME} .'
        for second in seconds
    )
    project.patch(f"r/{number}.rdfp", *lines)
    project.ingest()


def validate(project: Project) -> int:
    """How many expectations of streams were checked."""
    result = project.validate()
    return sum(outcome.suite == "streams" for v in result.validations for outcome in v.results)


@pytest.mark.usefixtures("slow")
def test_epochs_of_a_stream_are_checked_once(project: Project) -> None:
    declare(project)
    ingest(project, 1, 10)
    ingest(project, 2)
    assert validate(project) == 5
    assert validate(project) == 0
    ingest(project, 3, 20)
    assert validate(project) == 5


def test_many_late_events_fail_until_the_share_is_raised(project: Project) -> None:
    declare(project, max_late_share=0.5)
    ingest(project, 1, 10)
    ingest(project, 2, 11, 1, 2)
    for _ in range(2):
        with pytest.raises(QualityError, match="late_share_is_within_max_late_share"):
            validate(project)
    declare(project, max_late_share=0.7)
    assert validate(project) == 5


def test_an_event_that_ingest_did_not_commit_is_noticed(project: Project) -> None:
    declare(project)
    ingest(project, 1, 10)
    event = dict.fromkeys(("graph", "subject", "predicate", "object"), "<urn:x>")
    row = event | {"instant": 0, "line": 1, "epoch": 1, "weight": 1}
    write(open_lake(project.settings), stream("r"), [row], Metadata("x", "other", 1))
    with pytest.raises(QualityError, match="events_are_in_range") as caught:
        validate(project)
    assert "counts_agree_with_events" in str(caught.value)
