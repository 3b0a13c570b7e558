"""The newest changes of an answer in words."""

from __future__ import annotations

from typing import Any

from weir.site.latest import latest_changes


def latest(*rows: tuple[int, list[Any]], appeared: int, vanished: int) -> dict[str, Any]:
    """What is said of the second epoch of an answer."""
    epochs = [[1, 9, 0, "2026-01-01T00:00:00+00:00", "a"], [2, appeared, vanished, None, "b"]]
    changes = [[2, *row] for row in rows]
    history = {"epochs": epochs, "changes": changes, "first": 1, "copies": 0}
    return latest_changes(history, {})[0]


def test_two_rows_of_the_same_thing_are_one_that_changed() -> None:
    said = latest((1, ["e1", "Room 2", 7]), (-1, ["e1", "Room 6", 7]), appeared=1, vanished=1)
    assert said["sentence"] == "1 row changed"
    assert said["rows"] == [{"sign": "→", "text": "e1 · Room 6 → Room 2 · 7"}]


def test_rows_of_different_things_appeared_and_vanished() -> None:
    said = latest((1, ["e1", "x"]), (1, ["e2", "x"]), (-1, ["e3", "x"]), appeared=2, vanished=1)
    assert said["sentence"] == "2 rows appeared, 1 vanished"
    assert [row["sign"] for row in said["rows"]] == ["+", "+", "-"]


def test_a_row_of_one_thing_does_not_become_one_of_another() -> None:
    said = latest((1, ["e1", "x"]), (-1, ["e3", "x"]), appeared=1, vanished=1)
    assert said["sentence"] == "1 row appeared, 1 vanished"


def test_several_rows_of_a_thing_are_not_paired() -> None:
    rows = [(1, ["e1", "a"]), (1, ["e1", "b"]), (-1, ["e1", "c"])]
    assert latest(*rows, appeared=2, vanished=1)["sentence"] == "2 rows appeared, 1 vanished"


def test_copies_are_not_paired() -> None:
    said = latest((2, ["e1", "a"]), (-1, ["e1", "b"]), appeared=2, vanished=1)
    assert said["sentence"] == "2 rows appeared, 1 vanished"


def test_a_single_column_has_nothing_that_could_have_changed() -> None:
    assert latest((1, ["a"]), (-1, ["a"]), appeared=1, vanished=1)["sentence"] == (
        "1 row appeared, 1 vanished"
    )


def test_if_some_rows_are_not_known_none_are_said_to_have_changed() -> None:
    said = latest((1, ["e1", "a"]), (-1, ["e1", "b"]), appeared=500, vanished=500)
    assert said["sentence"] == "500 rows appeared, 500 vanished"


def test_the_first_rows_are_a_first_publication_and_are_not_listed() -> None:
    epochs = [[1, 9, 0, None, "a"]]
    history = {"epochs": epochs, "changes": [[1, 1, ["x"]]], "first": 1, "copies": 0}
    said = latest_changes(history, {})
    assert said[0]["sentence"] == "first published, with 9 rows"
    assert said[0]["rows"] == []


def test_of_a_long_history_the_first_epoch_that_is_known_is_no_first_publication() -> None:
    epochs = [[7, 1, 0, None, "a"]]
    (said,) = latest_changes({"epochs": epochs, "changes": [], "first": 1, "copies": 60}, {})
    assert said["sentence"] == "1 row appeared"


def test_rows_of_an_answer_that_was_published_empty_appeared() -> None:
    history = {
        "epochs": [[7, 1, 0, None, "a"]],
        "changes": [[7, 1, ["x"]]],
        "first": 3,
        "copies": 0,
    }
    (said,) = latest_changes(history, {})
    assert (said["sentence"], said["rows"]) == ("1 row appeared", [{"sign": "+", "text": "x"}])


def test_a_long_text_is_cut_and_an_iri_is_whole() -> None:
    iri, text = "http://example.org/" + "i" * 300, "x" * 300
    said = latest((1, [[iri], text, [text, "en"]]), appeared=1, vanished=0)
    cut = "x" * 120 + "…"
    assert said["rows"] == [{"sign": "+", "text": f"<{iri}> · {cut} · {cut}"}]


def test_a_value_that_is_gone_is_said_to_be_none() -> None:
    said = latest((1, ["store", None]), (-1, ["store", 777]), appeared=1, vanished=1)
    assert said["rows"] == [{"sign": "→", "text": "store · 777 → no value"}]
