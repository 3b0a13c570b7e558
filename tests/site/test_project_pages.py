"""What the page of the graph calls classes and predicates."""

from __future__ import annotations

from weir.site.project_pages import legend


def test_terms_of_one_vocabulary_have_different_names() -> None:
    long = "http://example.org/a/vocabulary/with/a/long/name#"
    assert legend([f"<{long}Room>", f"<{long}Floor>"], {}) == {
        f"<{long}Room>": "Room",
        f"<{long}Floor>": "Floor",
    }


def test_a_prefix_of_the_project_is_used() -> None:
    assert legend(["<urn:b:Room>"], {"b": "urn:b:"}) == {"<urn:b:Room>": "b:Room"}


def test_terms_with_the_same_end_are_whole() -> None:
    terms = ["<http://a/label>", "<http://b#label>"]
    assert legend(terms, {}) == {term: term for term in terms}
