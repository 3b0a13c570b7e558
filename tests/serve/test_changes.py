"""`/changes`: each publication is one event, also for a client that was away."""

from __future__ import annotations

import json
import shutil

from tests.support.projects.graphs import knows
from tests.support.projects.project import Project
from tests.support.serving import serving


def rows(event: dict[str, str], name: str) -> list[tuple[str, str]]:
    """The rows that an event has, by `added` or `removed`."""
    return [(row["a"], row["b"]) for row in json.loads(event["data"])[name]]


def test_each_publication_is_an_event_with_what_appeared_and_vanished(growing: Project) -> None:
    with serving(growing.settings) as client, client.events("pairs") as events:
        assert next(events)["event"] == "start"
        growing.change_set("A " + knows("x", "y"), "D " + knows("a", "b"))
        growing.run()
        event = next(events)
    assert (event["event"], json.loads(event["data"])["epochs"]) == ("change", [7, 7])
    assert rows(event, "added") == [("urn:x", "urn:y")]
    assert rows(event, "removed") == [("urn:a", "urn:b")]


def test_a_client_that_comes_back_goes_on_where_it_was(growing: Project) -> None:
    with serving(growing.settings) as client:
        with client.events("pairs") as events:
            start = next(events)["id"]
        for name in "xyz":
            growing.change_set("A " + knows("a", name))
            growing.run()
        with client.events("pairs", start) as events:
            seen = [next(events) for _ in range(3)]
        assert [rows(event, "added") for event in seen] == [[("urn:a", f"urn:{n}")] for n in "xyz"]
        with client.events("pairs", seen[1]["id"]) as events:
            assert next(events) == seen[2]


def test_an_event_has_so_many_rows_and_says_how_many_are_left_out(growing: Project) -> None:
    settings = growing.settings
    few = settings.model_copy(update={"serve": settings.serve.model_copy(update={"event_rows": 2})})
    with serving(few) as client, client.events("pairs") as events:
        next(events)
        growing.change_set(*("A " + knows("a", name) for name in "uvwxyz"))
        growing.run()
        data = json.loads(next(events)["data"])
    assert (len(data["added"]), data["left_out"]) == (2, 4)


def test_a_cursor_that_is_not_known_any_more_sends_the_client_to_the_answer(
    growing: Project,
) -> None:
    with serving(growing.settings) as client:
        with client.events("pairs", "another:1") as events:
            event = next(events)
        assert event["event"] == "unknown"
        assert json.loads(event["data"])["read"] == "/answers/pairs"
        assert client.get("/answers/pairs").headers["weir-cursor"] == event["id"]


def test_the_stream_of_an_answer_that_is_dropped_ends(growing: Project) -> None:
    with serving(growing.settings) as client, client.events("pairs") as events:
        next(events)
        shutil.rmtree(growing.folder / "lake/answers/pairs")
        growing.remove_query("pairs")
        assert [*events] == []


def test_changes_of_an_answer_that_is_none_are_refused(growing: Project) -> None:
    with serving(growing.settings) as client:
        reply = client.get("/changes/pair")
    assert (reply.status, "Did you mean pairs?" in reply.text) == (404, True)
