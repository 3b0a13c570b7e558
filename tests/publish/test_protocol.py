"""What publish may publish, and when; over a lake written by hand, without Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from deltalake import DeltaTable

from tests.support.opened import call
from tests.support.projects.handmade import Change, HandMadeLake, event_time
from weir.errors import QualityError
from weir.lake.ledger.runs import FAILED, SUCCEEDED, LedgerRow, record
from weir.progress.completion import Completion
from weir.project import open_lake
from weir.publish.stage import PublishResult, publish_answers
from weir.validate.stage import validate_answers

SELECT = "SELECT ?s ?o WHERE { ?s <http://a/p> ?o }"
DISTINCT = "SELECT DISTINCT ?s ?o WHERE { ?s <http://a/p> ?o }"
A, B, C = "<http://a/a>", '"b"@en', "_:c"


def validate(lake: HandMadeLake) -> None:
    call(validate_answers, lake.settings, "v")


def publish(lake: HandMadeLake) -> PublishResult:
    return call(publish_answers, lake.settings, "p")


def maintained(lake: HandMadeLake, queries: Sequence[str], *changes: Change) -> None:
    """Queries whose first rows are of the newest epoch, which is their base."""
    for name in queries:
        lake.query(name, SELECT)
        lake.maintain(name, changes, base=lake.epochs, mode="initial")


def say_checked(lake: HandMadeLake, query: str, **other: Any) -> None:
    """The ledger rows of a validation that found the rows of a query right, or what `other` has."""
    (work,) = Completion.read(open_lake(lake.settings)).backlog([query])
    about = LedgerRow(
        "v",
        "validate",
        9,
        SUCCEEDED,
        query,
        from_epoch=work.from_epoch,
        to_epoch=work.to_epoch,
        table_version=work.maintained.version,
        checked_run=work.maintained.metadata.run_id,
    )
    graph = LedgerRow("v", "validate", 9, SUCCEEDED, to_epoch=lake.epochs)
    record(open_lake(lake.settings), [replace(about, **other), graph])


def event_times(lake: HandMadeLake, query: str) -> Mapping[int, object]:
    return {row["epoch"]: row["event_time"] for row in lake.rows(f"answers/{query}")}


def metadata(lake: HandMadeLake, query: str) -> tuple[int, Any]:
    last = open_lake(lake.settings).last_metadata(f"answers/{query}")
    assert last is not None
    return last[1].watermark, last[1].extra["rows"]


def test_answers_of_which_none_has_a_row_are_published_together(lake: HandMadeLake) -> None:
    lake.ingest(1)
    maintained(lake, ["one", "two"])
    validate(lake)
    publish(lake)
    assert (lake.answers("one"), lake.answers("two")) == ([], [])


def test_rows_that_were_checked_are_published(lake: HandMadeLake) -> None:
    lake.ingest(1)
    maintained(lake, ["q"], (1, 1, A, B))
    say_checked(lake, "q")
    publish(lake)
    assert lake.answers("q") == [(1, 1, A, B)]


@pytest.mark.parametrize(
    "other",
    [
        {"checked_run": "another"},
        {"table_version": 7},
        {"from_epoch": 1},
        {"status": FAILED, "reason": "no"},
    ],
    ids=["run", "version", "range", "failure"],
)
def test_rows_that_a_verdict_is_not_about_are_held_back(
    lake: HandMadeLake, other: dict[str, Any]
) -> None:
    lake.ingest(1)
    maintained(lake, ["q"], (1, 1, A, B))
    say_checked(lake, "q", **other)
    with pytest.raises(QualityError):
        publish(lake)
    assert not open_lake(lake.settings).exists("answers/q")


def test_rows_of_an_epoch_that_is_not_checked_are_held_back(lake: HandMadeLake) -> None:
    lake.ingest(2)
    maintained(lake, ["q"], (2, 1, A, B))
    say_checked(lake, "q")
    lake.ingest(1)
    lake.maintain("q", [(3, 1, A, C)], base=2)
    (work,) = Completion.read(open_lake(lake.settings)).backlog(["q"])
    row = LedgerRow(
        "v",
        "validate",
        10,
        SUCCEEDED,
        "q",
        from_epoch=work.from_epoch,
        to_epoch=work.to_epoch,
        table_version=work.maintained.version,
        checked_run=work.maintained.metadata.run_id,
    )
    record(open_lake(lake.settings), [row])
    with pytest.raises(QualityError, match="checks of the graph have not succeeded after epoch 2"):
        publish(lake)


@pytest.mark.parametrize("queries", [["one"], ["one", "two"]], ids=["alone", "together"])
def test_a_row_whose_epoch_has_no_transaction_is_published_without_a_time(
    lake: HandMadeLake, queries: list[str]
) -> None:
    """Alone and together they are different statements."""
    lake.ingest(2)
    for name in queries:
        lake.query(name, SELECT)
        lake.maintain(name, [(1, 1, A, B), (2, 1, A, C)], mode="initial")
    validate(lake)
    location = open_lake(lake.settings).location("transactions")
    DeltaTable(location).delete("epoch = 1")
    publish(lake)
    for name in queries:
        assert lake.answers(name) == [(1, 1, A, B), (2, 1, A, C)]
        assert event_times(lake, name) == {1: None, 2: event_time(2)}


@pytest.mark.parametrize("queries", [["one"], ["one", "two"]], ids=["alone", "together"])
def test_only_rows_after_the_published_ones_are_appended(
    lake: HandMadeLake, queries: list[str]
) -> None:
    lake.ingest(2)
    maintained(lake, queries, (2, 1, A, B), (2, 1, A, None))
    validate(lake)
    publish(lake)
    lake.ingest(2)
    for name in queries:
        lake.maintain(name, [(3, -1, A, B), (4, 1, A, C)], base=2)
    validate(lake)
    publish(lake)
    expected = [(2, 1, A, B), (2, 1, A, None), (3, -1, A, B), (4, 1, A, C)]
    for name in queries:
        assert lake.answers(name) == expected
        assert metadata(lake, name) == (4, 2)
        assert event_times(lake, name) == {epoch: event_time(epoch) for epoch in (2, 3, 4)}


def test_the_difference_to_what_is_published_comes_at_the_epoch_of_the_state(
    lake: HandMadeLake,
) -> None:
    lake.ingest(2)
    maintained(lake, ["q"], (2, 1, A, B), (2, 1, A, None))
    validate(lake)
    publish(lake)
    lake.ingest(3)
    lake.query("q", DISTINCT)
    lake.maintain("q", [(4, 1, A, B), (4, 1, A, C), (5, -1, A, C)], base=4, mode="edited")
    validate(lake)
    publish(lake)
    assert lake.answers("q") == [
        (2, 1, A, B),
        (2, 1, A, None),
        (4, -1, A, None),
        (4, 1, A, C),
        (5, -1, A, C),
    ]
    assert metadata(lake, "q") == (5, 1)


def test_a_recomputed_answer_is_measured_without_the_published_one(lake: HandMadeLake) -> None:
    lake.ingest(1)
    maintained(lake, ["q"], (1, 1, A, B), (1, 1, A, None))
    validate(lake)
    publish(lake)
    lake.ingest(1)
    lake.query("q", f"#+ max_rows: 2\n{DISTINCT}")
    lake.maintain("q", [(2, 1, A, C)], base=2, mode="edited")
    validate(lake)
    publish(lake)
    assert metadata(lake, "q") == (2, 1)


def test_an_edit_that_was_maintained_at_an_older_epoch_changes_nothing_before_the_published_one(
    lake: HandMadeLake,
) -> None:
    """A log that is recomputed from its start has a base before the published epoch."""
    lake.ingest(3)
    maintained(lake, ["q"], (3, 1, A, B))
    validate(lake)
    publish(lake)
    lake.query("q", DISTINCT)
    lake.maintain("q", [(1, 1, A, B), (2, 1, A, C)], base=1, mode="edited")
    validate(lake)
    publish(lake)
    assert lake.answers("q") == [(3, 1, A, B), (3, 1, A, C)]


def test_a_failed_check_of_a_query_holds_it_back_alone(lake: HandMadeLake) -> None:
    lake.ingest(1)
    maintained(lake, ["bad"], (1, -1, A, B))
    maintained(lake, ["good"], (1, 1, A, B))
    with pytest.raises(QualityError):
        validate(lake)
    with pytest.raises(QualityError):
        publish(lake)
    assert lake.answers("good") == [(1, 1, A, B)]
    assert not open_lake(lake.settings).exists("answers/bad")


def test_a_wrong_quad_holds_back_every_query(lake: HandMadeLake) -> None:
    lake.ingest(1, weight=7)
    maintained(lake, ["q"], (1, 1, A, B))
    with pytest.raises(QualityError):
        validate(lake)
    with pytest.raises(QualityError, match=r"checks of the graph .*: the graph: .*\(1 row\)"):
        publish(lake)
    assert Completion.read(open_lake(lake.settings)).graph_validated_to == 0


def test_rows_that_replace_checked_ones_are_checked_again(lake: HandMadeLake) -> None:
    lake.ingest(1)
    maintained(lake, ["q"], (1, 1, A, B))
    validate(lake)
    lake.maintain("q", [(1, -1, A, B)], base=1, mode="rebased")
    with pytest.raises(QualityError):
        validate(lake)
    with pytest.raises(QualityError):
        publish(lake)
    assert not open_lake(lake.settings).exists("answers/q")


def test_the_rows_of_an_edited_query_wait_for_maintain(lake: HandMadeLake) -> None:
    lake.ingest(1)
    maintained(lake, ["q"], (1, 1, A, B))
    lake.query("q", DISTINCT)
    validate(lake)
    assert Completion.read(open_lake(lake.settings)).verdicts == {}


def test_an_epoch_that_touches_nothing_moves_the_watermark_without_a_commit(
    lake: HandMadeLake,
) -> None:
    lake.ingest(1)
    maintained(lake, ["q"], (1, 1, A, B))
    validate(lake)
    publish(lake)
    version = open_lake(lake.settings).version("answers/q")
    lake.ingest(1)
    lake.leave_untouched("q", 1)
    validate(lake)
    publish(lake)
    published = Completion.read(open_lake(lake.settings)).published("q")
    assert published is not None
    assert (published.epoch, open_lake(lake.settings).version("answers/q")) == (2, version)


def test_running_again_commits_nothing(lake: HandMadeLake) -> None:
    lake.ingest(1)
    maintained(lake, ["q"], (1, 1, A, B))
    validate(lake)
    publish(lake)
    before = lake.versions()
    validate(lake)
    publish(lake)
    assert lake.versions() == before
