"""Ask: one solution, true or false, at every epoch."""

from __future__ import annotations

from tests.support.notation import deltas
from weir.plan.operators import Ask

_QUERY = "ASK { ?s :p ?a }"


def test_the_answer_is_false_before_the_first_solution() -> None:
    assert deltas(_QUERY, "+x q 1", "+x q 2", node=Ask) == [["+false"], []]


def test_the_answer_changes_with_the_first_and_the_last_solution() -> None:
    epochs = ("+x q 1", "+x p 1", "+y p 1; -x p 1", "-y p 1")
    changes = deltas(_QUERY, *epochs, node=Ask)
    assert changes == [["+false"], ["+true", "-false"], [], ["+false", "-true"]]


def test_the_answer_is_true_at_once_if_the_first_epoch_has_a_solution() -> None:
    assert deltas(_QUERY, "+x p 1", node=Ask) == [["+true"]]
