"""Labels of blank nodes: laws about names, orders, versions and scopes."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pyoxigraph
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.rdf.conftest import Parsed
from weir.rdf.blank_nodes import Quad, content_labels, scoped_label

ParseText = Callable[..., Parsed]
NODES = [f"_:n{i}" for i in range(7)]
# Few values, so that equal content, chains, cycles and automorphic nodes are common.
QUADS = st.lists(
    st.tuples(
        st.sampled_from(["", "", "<a:g>"]),
        st.sampled_from([*NODES, "<a:s>"]),
        st.sampled_from(["<a:p>", "<a:p>", "<a:q>"]),
        st.sampled_from([*NODES, *NODES, '"1"']),
    ),
    max_size=14,
    unique=True,
)


def relabel(quads: list[Quad], labels: dict[str, str]) -> set[Quad]:
    return {(g, labels.get(s, s), p, labels.get(o, o)) for g, s, p, o in quads}


def renamed(quads: list[Quad], seed: int) -> list[Quad]:
    """The same document with other names, in another order."""
    choice = random.Random(seed)
    names = [f"_:m{i}" for i in range(len(NODES))]
    choice.shuffle(names)
    other = dict(zip(NODES, names, strict=True))
    quads = [(g, other.get(s, s), p, other.get(o, o)) for g, s, p, o in quads]
    choice.shuffle(quads)
    return quads


def dataset(quads: set[Quad] | list[Quad]) -> pyoxigraph.Dataset:
    text = "".join(f"{s} {p} {o} {g} .\n" for g, s, p, o in quads)
    canonical = pyoxigraph.Dataset(pyoxigraph.parse(text.encode(), pyoxigraph.RdfFormat.N_QUADS))
    canonical.canonicalize(pyoxigraph.CanonicalizationAlgorithm.RDFC_1_0)
    return canonical


def points_into_a_cycle(quads: list[Quad]) -> bool:
    """Whether a blank node points to a node of a cycle that it is not in."""
    edges = {(s, o) for _, s, _, o in quads if s.startswith("_:") and o.startswith("_:")}
    reach = set(edges)
    while more := {(a, d) for a, b in reach for c, d in edges if b == c} - reach:
        reach |= more
    return any((o, o) in reach and (o, s) not in reach for s, o in edges)


@settings(max_examples=100, deadline=None)
@given(quads=QUADS, seed=st.integers(0, 99))
def test_labels_do_not_depend_on_names_or_order(quads: list[Quad], seed: int) -> None:
    # Which of two equivalent nodes of a cycle a node outside points to depends on their order.
    assume(not points_into_a_cycle(quads))
    other = renamed(quads, seed)
    assert relabel(quads, content_labels(quads, "s")) == relabel(other, content_labels(other, "s"))


@settings(max_examples=100, deadline=None)
@given(quads=QUADS)
def test_a_document_without_equal_content_stays_the_same_graph(quads: list[Quad]) -> None:
    labels = content_labels(quads, "s")
    if len(set(labels.values())) == len(labels):
        assert dataset(relabel(quads, labels)) == dataset(quads)


@settings(max_examples=100, deadline=None)
@given(quads=QUADS)
def test_relabelling_twice_merges_nothing_more(quads: list[Quad]) -> None:
    """The first time merges all nodes with equal content, and no others."""
    once = sorted(relabel(quads, content_labels(quads, "s")))
    labels = content_labels(once, "s")
    assert len(set(labels.values())) == len(labels)


@settings(deadline=None)
@given(quads=QUADS, more=QUADS)
def test_content_that_stays_keeps_its_labels(quads: list[Quad], more: list[Quad]) -> None:
    """Other parts of the document, and what points to a node, are not its content."""
    # Which of two equivalent nodes of a cycle has which label depends on what points to them.
    assume(not points_into_a_cycle(quads))
    apart = [(g, s.replace("_:n", "_:x"), p, o) for g, s, p, o in more]
    content = [quad for quad in quads if quad[1].startswith("_:")]
    before, after = content_labels(quads, "s"), content_labels(quads + apart, "s")
    assert relabel(content, after) == relabel(content, before)


@given(quads=QUADS)
def test_documents_of_two_scopes_share_no_label(quads: list[Quad]) -> None:
    one, two = content_labels(quads, "s"), content_labels(quads, "t")
    assert set(one.values()).isdisjoint(two.values())


@given(quads=QUADS)
def test_labels_are_labels_of_n_triples(quads: list[Quad]) -> None:
    labels = [*content_labels(quads, "s").values(), scoped_label("s", "_:x")]
    assert all(re.fullmatch("_:b[0-9a-f]{32}", label) for label in labels)


def test_equal_content_is_one_node_and_different_content_is_not() -> None:
    quads = [
        ("", "_:a", "<a:p>", "_:b"), ("", "_:b", "<a:q>", '"1"'),
        ("", "_:c", "<a:p>", "_:d"), ("", "_:d", "<a:q>", '"1"'),
        ("", "_:e", "<a:p>", "_:f"), ("", "_:f", "<a:q>", '"2"'),
    ]  # fmt: skip
    labels = content_labels(quads, "s")
    assert labels["_:a"] == labels["_:c"]
    assert labels["_:b"] == labels["_:d"]
    assert len(set(labels.values())) == 4


@pytest.mark.parametrize("size", [2, 3, 10, 200])
def test_automorphic_nodes_of_a_cycle_stay_apart(size: int) -> None:
    quads = [("", f"_:{i}", "<a:p>", f"_:{(i + 1) % size}") for i in range(size)]
    labels = content_labels(quads, "s")
    assert len(set(labels.values())) == size
    assert dataset(relabel(quads, labels)) == dataset(quads)


def test_cycles_of_different_length_share_no_label() -> None:
    ring = [("", f"_:{i}", "<a:p>", f"_:{(i + 1) % 3}") for i in range(3)]
    pair = [("", "_:x", "<a:p>", "_:y"), ("", "_:y", "<a:p>", "_:x")]
    labels = content_labels([*ring, *pair], "s")
    assert len(set(labels.values())) == 5


def test_nodes_that_point_to_a_cycle_keep_their_content() -> None:
    quads = [
        ("", "_:a", "<a:p>", "_:b"), ("", "_:b", "<a:p>", "_:a"), ("", "_:b", "<a:q>", '"1"'),
        ("", "_:x", "<a:p>", "_:a"), ("", "_:y", "<a:p>", "_:b"),
    ]  # fmt: skip
    assert len(set(content_labels(quads, "s").values())) == 4


def test_a_list_of_fifty_thousand_nodes_is_labelled() -> None:
    quads = [("", f"_:{i}", "<a:next>", f"_:{i + 1}") for i in range(50_000)]
    assert len(set(content_labels(quads, "s").values())) == 50_001


def test_an_unchanged_document_gives_the_same_quads_again(parse_text: ParseText) -> None:
    text = "<a:s> <a:p> [ <a:q> ( 1 2 _:x ) ] . _:x <a:r> _:y . _:y <a:r> _:x ."
    first, again = (parse_text(text, format="turtle", role="snapshot").quads for _ in range(2))
    assert sorted(first) == sorted(again)


def test_a_snapshot_in_n_quads_is_labelled_by_content(parse_text: ParseText) -> None:
    one, two = (
        parse_text(text, format="n-quads", role="snapshot").quads
        for text in ("_:a <a:p> _:b .\n_:b <a:q> 1 .\n_:b <a:q> <a:o> .\n<a:s> <a:p> <a:o> .",
                     "<a:s> <a:p> <a:o> .\n_:z <a:q> <a:o> .\n_:y <a:p> _:z .")
    )  # fmt: skip
    assert sorted(one) == sorted(two)
