"""Which graphs are reserved, for replicas and for documents that links lead to."""

from __future__ import annotations

import pytest

from weir.rdf.reserved_graphs import (
    about_graph,
    document_graph,
    documents_of_web,
    is_reserved,
    parts_of_web,
    replica_graph,
    traversal_of,
    traversal_with,
    web_graph,
)


@pytest.mark.parametrize("remote", ["<http://a/>", "<https://~/?q=é>", "<HTTP://0/>", "<z:z>"])
def test_the_graph_of_every_remote_is_reserved(remote: str) -> None:
    assert is_reserved(replica_graph(remote))
    assert traversal_with(replica_graph(remote)) is None


@pytest.mark.parametrize("iri", ["http://a/", "https://~/?q=é>", "http://b.example/x:y/#z"])
def test_the_graphs_of_a_traversal_are_reserved_and_in_its_ranges(iri: str) -> None:
    merge, document, about = web_graph("n"), document_graph("n", iri), about_graph("n", iri)
    assert all(is_reserved(graph) for graph in (merge, document, about))
    assert [traversal_with(graph) for graph in (merge, document, about)] == ["n"] * 3
    assert [traversal_of(graph) for graph in (merge, document, about)] == ["n", None, None]
    first, after = documents_of_web("n")
    assert [first <= graph < after for graph in (merge, document, about)] == [False, True, False]
    first, after = parts_of_web("n")
    assert [first <= graph < after for graph in (merge, document, about)] == [False, True, True]


def test_a_traversal_whose_name_begins_like_another_one_has_graphs_of_its_own() -> None:
    for first, after in (documents_of_web("n"), parts_of_web("n")):
        assert not first <= document_graph("n2", "http://a/") < after
        assert not first <= web_graph("n2") < after


@pytest.mark.parametrize(
    "graph",
    [
        "",
        "<urn:weir:replica>",
        "<urn:weir:replicas:x>",
        "<urn:weir:>",
        "<urn:weir:replica;>",
        "<urn:weir:web>",
        "<urn:weir:webs:x>",
        "<urn:weir:web;>",
    ],
)
def test_other_graphs_are_not_reserved(graph: str) -> None:
    assert not is_reserved(graph)
