"""Instantiate: the triples of CONSTRUCT."""

from __future__ import annotations

from tests.support.notation import deltas
from weir.plan.operators import Instantiate


def test_a_triple_holds_while_any_solution_makes_it() -> None:
    query = "CONSTRUCT { ?a :of :it } { ?s :p ?a }"
    epochs = ("+x p b", "+y p b", "-x p b", "-y p b")
    changes = deltas(query, *epochs, node=Instantiate)
    assert changes == [["+b of it"], [], [], ["-b of it"]]


def test_every_triple_of_the_template_is_made() -> None:
    query = "CONSTRUCT { ?s :q ?a . ?a :r ?s } { ?s :p ?a }"
    changes = deltas(query, "+x p y", "-x p y", node=Instantiate)
    assert changes == [["+x q y", "+y r x"], ["-x q y", "-y r x"]]


def test_invalid_triples_are_left_out() -> None:
    """A literal subject, a predicate that is not an IRI, an unbound object."""
    query = (
        "CONSTRUCT { ?a :q 1 . ?s ?a 2 . ?s :q ?b . ?s :q 3 } { ?s :p ?a OPTIONAL { ?s :r ?b } }"
    )
    assert deltas(query, "+x p 7", node=Instantiate) == [["+x q 3"]]


def test_a_blank_node_of_the_template_is_one_for_each_solution() -> None:
    query = "CONSTRUCT { ?s :q _:n . _:n :r ?a } { ?s :p ?a }"
    first, second = deltas(query, "+x p 1; +y p 1", "-x p 1", node=Instantiate)
    labels = {row.split()[2] for row in first if " q " in row}
    assert len(labels) == 2
    gone = {row.split()[2] for row in second if " q " in row}
    assert gone < labels
