"""Which graphs are reserved for replicas."""

from __future__ import annotations

import pytest

from weir.rdf.replica_graphs import is_reserved, replica_graph


@pytest.mark.parametrize("remote", ["<http://a/>", "<https://~/?q=é>", "<HTTP://0/>", "<z:z>"])
def test_the_graph_of_every_remote_is_reserved(remote: str) -> None:
    assert is_reserved(replica_graph(remote))


@pytest.mark.parametrize(
    "graph",
    ["", "<urn:weir:replica>", "<urn:weir:replicas:x>", "<urn:weir:>", "<urn:weir:replica;>"],
)
def test_other_graphs_are_not_reserved(graph: str) -> None:
    assert not is_reserved(graph)
