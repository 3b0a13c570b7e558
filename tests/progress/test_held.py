"""Which rows are to be checked, and which may not be published."""

from __future__ import annotations

import pytest

from tests.support.projects.handmade import HandMadeLake
from weir.lake.ledger.runs import FAILED, SUCCEEDED, LedgerRow, record
from weir.progress.backlog import Backlog
from weir.progress.completion import Completion
from weir.progress.held import Held, held_reasons, needs_checks, why_held
from weir.project import open_lake

FAILURE = "ask_has_one_row (1 rows)"
UNCHECKED_GRAPH = "the checks of the graph have not succeeded after epoch 0"


def with_rows(lake: HandMadeLake) -> None:
    """Two epochs and a row of q."""
    lake.ingest(2)
    lake.maintain("q", [(1, 1, "<http://a/a>", "<http://a/b>")], mode="initial")


def read(lake: HandMadeLake) -> tuple[Completion, Backlog]:
    completion = Completion.read(open_lake(lake.settings))
    (work,) = completion.backlog(["q"])
    return completion, work


def check_graph(lake: HandMadeLake) -> None:
    """The ledger row of a validation of the graph that succeeded."""
    row = LedgerRow("v", "validate", 1, SUCCEEDED, to_epoch=lake.epochs)
    record(open_lake(lake.settings), [row])


def check_rows(lake: HandMadeLake, failure: str | None, checks: str | None = None) -> None:
    """The ledger row of a validation of q."""
    _, work = read(lake)
    row = LedgerRow(
        "v",
        "validate",
        1,
        SUCCEEDED if failure is None else FAILED,
        "q",
        reason=failure,
        from_epoch=work.from_epoch,
        to_epoch=work.to_epoch,
        table_version=work.maintained.version,
        checked_run=work.maintained.metadata.run_id,
        checks=checks,
    )
    record(open_lake(lake.settings), [row])


def test_rows_of_a_graph_that_was_not_checked_are_held(lake: HandMadeLake) -> None:
    with_rows(lake)
    check_rows(lake, None)
    assert why_held(*read(lake), {}) == Held(UNCHECKED_GRAPH, False)


def test_rows_that_were_not_checked_are_held_and_to_be_checked(lake: HandMadeLake) -> None:
    with_rows(lake)
    check_graph(lake)
    assert why_held(*read(lake), {}) == Held("its rows have not been checked yet", False)
    assert needs_checks(*read(lake), {})


def test_rows_that_failed_a_check_are_held_for_it_and_checked_again(lake: HandMadeLake) -> None:
    with_rows(lake)
    check_rows(lake, FAILURE)
    assert why_held(*read(lake), {}) == Held(FAILURE, True)
    assert needs_checks(*read(lake), {})


def test_rows_that_passed_over_a_graph_that_passed_are_not_held(lake: HandMadeLake) -> None:
    with_rows(lake)
    check_graph(lake)
    check_rows(lake, None)
    assert why_held(*read(lake), {}) is None
    assert not needs_checks(*read(lake), {})


@pytest.mark.parametrize("present", [{"q": "edited"}, {}])
def test_rows_that_passed_other_checks_are_held_and_to_be_checked(
    lake: HandMadeLake, present: dict[str, str]
) -> None:
    with_rows(lake)
    check_graph(lake)
    check_rows(lake, None, "own")
    completion, work = read(lake)
    assert why_held(completion, work, {"q": "own"}) is None
    assert needs_checks(completion, work, present)
    assert why_held(completion, work, present) == Held(
        "its rows have not been checked by the checks that there are now yet", False
    )


def test_a_verdict_about_other_rows_does_not_count(lake: HandMadeLake) -> None:
    with_rows(lake)
    check_graph(lake)
    check_rows(lake, FAILURE)
    lake.maintain("q", [(2, 1, "<http://a/a>", "<http://a/c>")])
    assert why_held(*read(lake), {}) == Held("its rows have not been checked yet", False)


def test_only_what_failed_is_reported_as_held(lake: HandMadeLake) -> None:
    with_rows(lake)
    completion, work = read(lake)
    assert held_reasons(completion, [work]) == {}
    check_rows(lake, FAILURE)
    completion, work = read(lake)
    assert held_reasons(completion, [work]) == {"q": FAILURE}
