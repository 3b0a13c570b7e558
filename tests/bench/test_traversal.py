"""The scenario of the benchmark that follows links: what is followed, and what is counted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from bench import traversal
from bench.pods import DOCUMENTS, Pods


def test_each_person_has_as_many_documents_and_there_is_one_more() -> None:
    documents = dict(Pods(("http://a.example", "http://b.example"), 20).documents())
    assert len(documents) == 20 * DOCUMENTS + 1
    per_person = Counter(iri.split("/")[4] for iri in documents if "/pods/" in iri)
    assert set(per_person.values()) == {DOCUMENTS}


def test_the_second_person_knows_all_others_by_friends() -> None:
    pods = Pods(("http://a.example",), 100)
    friends = pods.known_to(1)
    of_friends = [other for friend in friends for other in pods.known_to(friend)]
    assert sorted((1, *friends, *of_friends)) == [*range(1, 100)]


def test_requests_and_bytes_are_those_of_the_servers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traversal, "WORK", tmp_path)
    monkeypatch.delenv(traversal.COMUNICA, raising=False)
    scenario = traversal.Traversals(4, lambda _: None)
    first, later = scenario._costs(traversal._TASKS[0], 4)
    assert (first.documents, first.requests, first.robots) == (50, 50, 1)
    # robots.txt is read once a day.
    assert (later.documents, later.requests, later.robots) == (50, 50, 0)
    assert later.bytes < first.bytes / 4
    assert first.processor > 0
