"""Labels of blank nodes that are counted: laws about names, orders, versions and scopes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rdf.conftest import Parsed
from tests.support.laws import Seeds
from tests.support.rdf_suites import isomorphic, quads_of
from weir.rdf.blank_nodes import Quad
from weir.rdf.counted_labels import counted_labels

NODES = [f"_:n{i}" for i in range(7)]
# Few values, so that equal content, chains, cycles and automorphic nodes are common.
QUADS = st.lists(
    st.tuples(
        st.sampled_from(["", "", "", "<a:g>", *NODES[:3]]),
        st.sampled_from([*NODES, "<a:s>", "<a:t>"]),
        st.sampled_from(["<a:p>", "<a:p>", "<a:q>"]),
        st.sampled_from([*NODES, *NODES, '"1"']),
    ),
    max_size=14,
    unique=True,
)


def relabelled(quads: Iterable[Quad], scope: str = "s") -> set[Quad]:
    quads = [*quads]
    labels = counted_labels(quads, scope)
    return {(labels.get(g, g), labels.get(s, s), p, labels.get(o, o)) for g, s, p, o in quads}


def renamed(quads: Iterable[Quad], seed: int) -> list[Quad]:
    """The same document with other names, in another order."""
    choice = random.Random(seed)
    names = sorted({term for quad in quads for term in quad if term.startswith("_:")})
    other = dict(zip(names, choice.sample(range(1000), len(names)), strict=True))

    def new(term: str) -> str:
        return f"_:m{other[term]}" if term in other else term

    quads = [(new(g), new(s), p, new(o)) for g, s, p, o in quads]
    choice.shuffle(quads)
    return quads


@settings(max_examples=50, deadline=None)
@given(quads=QUADS, seed=st.integers(0, 99))
def test_labels_do_not_depend_on_names_or_order(quads: list[Quad], seed: int) -> None:
    assert relabelled(quads) == relabelled(renamed(quads, seed))


@settings(max_examples=50, deadline=None)
@given(quads=QUADS)
def test_what_is_stored_is_the_graph_that_was_read(quads: list[Quad]) -> None:
    """One label for each node: that is an isomorphism."""
    nodes = {term for quad in quads for term in quad if term.startswith("_:")}
    labels = counted_labels(quads, "s")
    assert labels.keys() == nodes
    assert len(set(labels.values())) == len(nodes)


@settings(max_examples=50, deadline=None)
@given(quads=QUADS, more=QUADS)
def test_what_has_nothing_in_common_with_a_change_keeps_its_labels(
    quads: list[Quad], more: list[Quad]
) -> None:
    # Blank graphs of equal properties are distinguished by what is in them once there are several.
    quads = [("" if g.startswith("_:") else g, s, p, o) for g, s, p, o in quads]
    apart = [("", s.replace("_:n", "_:x"), "<b:r>", o.replace("_:n", "_:x")) for _, s, _, o in more]
    before, after = counted_labels(quads, "s"), counted_labels([*quads, *apart], "s")
    assert {node: after[node] for node in before} == before


@given(quads=QUADS)
def test_documents_of_two_scopes_share_no_label(quads: list[Quad]) -> None:
    one, two = counted_labels(quads, "s"), counted_labels(quads, "t")
    assert set(one.values()).isdisjoint(two.values())


def random_document(seed: int) -> list[Quad]:
    """A document of up to 60 quads: trees, lists, cycles, shared nodes, blank graphs."""
    rng = random.Random(f"blank nodes {seed}")
    nodes = [f"_:n{i}" for i in range(rng.choice((2, 5, 12, 30)))]
    graphs = ["", "", "", "<a:g>", *rng.sample(nodes, rng.choice((0, 0, 2)))]
    # Of some shapes, nodes point to later ones only: trees and lists.
    forward = rng.random() < 0.6
    quads = []
    for _ in range(rng.randint(1, rng.choice((6, 20, 60)))):
        subject = rng.randrange(len(nodes))
        later = nodes[subject + 1 :] if forward else nodes
        quads.append(
            (
                rng.choice(graphs),
                rng.choice((nodes[subject],) * 4 + ("<a:s>", "<a:t>")),
                rng.choice(("<a:p>", "<a:p>", "<a:q>")),
                rng.choice([*later[:3], *later, '"1"', '"1"', '"2"', "<a:s>"]),
            )
        )
    return [*dict.fromkeys(quads)]


@pytest.mark.law("labels of blank nodes")
@pytest.mark.filterwarnings("ignore:Dataset:DeprecationWarning")
def test_random_documents_are_stored_as_they_are_with_labels_of_their_own(
    seeds: Seeds, parse_text: Callable[..., Parsed]
) -> None:
    def broken_laws(seed: int) -> Iterator[str]:
        quads = random_document(seed)
        texts = [
            "".join(f"{s} {p} {o} {g} .\n" for g, s, p, o in version)
            for version in (quads, renamed(quads, seed))
        ]
        stored = [parse_text(t, format="n-quads", role="snapshot").quads for t in texts]
        if {*stored[0]} != {*stored[1]}:
            yield f"seed {seed}: other labels for other names and another order: {quads}"
        again = "".join(f"{s} {p} {o} {g} .\n" for g, s, p, o in stored[0])
        if not isomorphic(quads_of(again), quads_of(texts[0])):
            yield f"seed {seed}: another graph: {quads}"

    seeds.check(broken_laws)


@pytest.mark.parametrize("seed", [3583, 3795, 6013, 15809, 20257, 23447, 26493])
def test_a_document_whose_labels_once_depended_on_its_order_has_the_same_in_any(seed: int) -> None:
    quads = random_document(seed)
    stored = relabelled(quads)
    assert all(relabelled(renamed(quads, other)) == stored for other in (seed, *range(20)))


def readings(text: str) -> list[Quad]:
    """Subjects with readings of a value each: `a:1 a:1 b:5`."""
    quads = []
    for number, reading in enumerate(text.split()):
        subject, value = reading.split(":")
        quads += [("", f"<{subject}>", "<p>", f"_:r{number}")]
        quads += [("", f"_:r{number}", "<v>", f'"{value}"')]
    return quads


@pytest.mark.parametrize(
    ("before", "after", "gone", "new"),
    [
        ("a:5 a:5 b:5", "b:5 a:5 a:5", 0, 0),
        ("a:5 a:5 b:5", "a:5 a:5 b:5 c:5", 0, 2),
        ("a:5 a:5 b:5", "a:5 a:5 a:5 b:5", 0, 2),
        ("a:5 a:5 b:5", "a:5 b:5", 2, 0),
        ("a:5 a:5 b:5", "a:5 a:6 b:5", 2, 2),
        ("b:5", "a:5 b:5", 0, 2),
    ],
)
def test_a_change_of_one_of_several_equal_nodes_changes_the_quads_of_one(
    before: str, after: str, gone: int, new: int
) -> None:
    old, quads = relabelled(readings(before)), relabelled(readings(after))
    assert (len(old - quads), len(quads - old)) == (gone, new)


def test_nodes_with_one_and_with_two_equal_parts_are_no_equal_nodes() -> None:
    quads = [("", "_:a", "<p>", "_:x"), ("", "_:b", "<p>", "_:y"), ("", "_:b", "<p>", "_:z")]
    assert all(relabelled(quads) == relabelled(renamed(quads, seed)) for seed in range(20))


def of_list(subject: str, values: Iterable[object]) -> list[Quad]:
    """A list of RDF."""
    quads, source, link = [], subject, "<p>"
    for number, value in enumerate(values):
        cell = f"_:{subject[1:-1]}{number}"
        quads += [("", source, link, cell), ("", cell, "<first>", f'"{value}"')]
        source, link = cell, "<rest>"
    return [*quads, ("", source, link, "<nil>")]


def test_an_item_that_is_put_before_a_list_changes_none_of_its_cells() -> None:
    old = relabelled([*of_list("<a>", range(50)), *of_list("<b>", range(50))])
    new = relabelled([*of_list("<a>", [99, *range(50)]), *of_list("<b>", range(50))])
    # The head of the list, what points to it, and two triples of the new cell.
    assert (len(old - new), len(new - old)) == (1, 3)


def test_one_more_pointer_to_a_node_is_one_more_quad_unless_it_is_the_first() -> None:
    quads = [("", f"<b{i}>", "<p>", "_:x") for i in range(10)] + [("", "_:x", "<v>", '"5"')]
    old = relabelled(quads)
    later, first = (relabelled([*quads, ("", s, "<p>", "_:x")]) for s in ("<c>", "<a>"))
    assert (old - later, len(later - old)) == (set(), 1)
    assert (len(old - first), len(first - old)) == (11, 12)


def test_a_triple_in_a_blank_graph_is_one_change_where_something_is_said_of_the_graph() -> None:
    graphs = [
        quad
        for name in ("g", "h")
        for quad in (
            ("", f"_:{name}", "<about>", f"<{name}>"),
            (f"_:{name}", "<s>", "<p>", '"1"'),
            (f"_:{name}", "<s>", "<p>", "_:x"),
        )
    ]
    old, new = relabelled(graphs), relabelled([*graphs, ("_:g", "<s>", "<p>", '"2"')])
    assert (old - new, len(new - old)) == (set(), 1)


@pytest.mark.parametrize("value", range(10))
def test_blank_graphs_of_which_nothing_is_said_are_distinguished_by_what_is_in_them(
    value: int,
) -> None:
    # The new one would come before or between the others if they were numbered.
    quads = [(f"_:g{i}", "<s>", "<p>", f'"{i}"') for i in range(5)]
    old, new = relabelled(quads), relabelled([*quads, ("_:h", "<s>", "<q>", f'"{value}"')])
    assert (old - new, len(new - old)) == (set(), 1)


def undirected(*rings: str) -> list[Quad]:
    """Rings of nodes, a letter each, whose edges go both ways."""
    pairs = [pair for ring in rings for pair in zip(ring, ring[1:] + ring[0], strict=True)]
    return [
        ("", f"_:{source}", "<p>", f"_:{target}")
        for one, other in pairs
        for source, target in ((one, other), (other, one))
    ]


ALIKE: dict[str, list[Quad]] = {
    "blank graphs of different content": [
        ("_:g", "<s>", "<p>", '"1"'), ("_:h", "<s>", "<p>", '"2"'), ("_:i", "<s>", "<p>", '"3"'),
    ],
    "a blank graph and a node of the same properties": [
        ("", "_:n", "<p>", "<b>"), ("", "_:g", "<p>", "<b>"), ("_:g", "<a>", "<p>", '"x"'),
    ],
    "equal cycles of nodes that differ": [
        quad
        for x in "abc"
        for quad in (
            ("", f"_:{x}1", "<p>", f"_:{x}2"), ("", f"_:{x}2", "<p>", f"_:{x}1"),
            ("", f"_:{x}1", "<v>", '"1"'), ("", f"_:{x}2", "<v>", '"2"'),
        )
    ],
    "nodes in rings of other lengths, which have equal neighbours": [
        *undirected("abcdef", "ghi", "jkl"),
        *(("", "_:hub", "<p>", f"_:{x}") for x in "abcdefghijkl"),
        *(("", f"_:{x}", "<p>", "_:hub") for x in "abcdefghijkl"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("quads", ALIKE.values(), ids=ALIKE)
def test_nodes_that_are_alike_have_the_same_labels_in_any_order(quads: list[Quad]) -> None:
    stored = relabelled(quads)
    assert all(relabelled(renamed(quads, seed)) == stored for seed in range(30))


def shape_of(name: str, size: int) -> list[Quad]:
    match name:
        case "list":
            return of_list("<a>", range(size))
        case "equal items of a blank root":
            items = [quad for i in range(size) for quad in of_list(f"<_:i{i}>", [1])]
            return [
                ("", s.strip("<>"), p, o) if s.startswith("<_:") else (g, s, p, o)
                for g, s, p, o in items
            ] + [("", "_:root", "<item>", f"_:i{i}") for i in range(size)]
        case "equal pairs that share a node":
            return [
                quad
                for i in range(size)
                for quad in (
                    ("", f"_:a{i}", "<p>", f"_:c{i}"),
                    ("", f"_:b{i}", "<p>", f"_:c{i}"),
                    ("", f"_:c{i}", "<p>", "_:d"),
                )
            ]
        case _:
            return [("", f"_:{i}", "<p>", f"_:{(i + 1) % size}") for i in range(size)]


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("list", 50_000),
        ("equal items of a blank root", 10_000),
        ("equal pairs that share a node", 2_000),
        ("ring", 3_000),
    ],
)
def test_large_shapes_get_a_label_for_each_node(name: str, size: int) -> None:
    quads = shape_of(name, size)
    labels = counted_labels(quads, "s")
    assert len(set(labels.values())) == len(labels)
