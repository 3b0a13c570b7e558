"""Cursors: from which commit of an answer a client goes on."""

from __future__ import annotations

import pytest

from weir.progress.answer_commits import AnswerCommits

ALL = AnswerCommits("pairs", "a-table", -1, 7)


def test_a_cursor_names_the_commits_after_it() -> None:
    assert ALL.since("a-table:3") == AnswerCommits("pairs", "a-table", 3, 7)
    assert ALL.since(ALL.cursor) == AnswerCommits("pairs", "a-table", 7, 7)


@pytest.mark.parametrize(
    "cursor", ["another:7", "another:3", "a-table:8", "a-table:-1", "a-table:x", "a-table", "", "7"]
)
def test_a_text_that_is_no_cursor_of_these_commits_is_none(cursor: str) -> None:
    assert ALL.since(cursor) is None
