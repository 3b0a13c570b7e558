"""Expectations of the quads of a range of epochs."""

from __future__ import annotations

from weir.expectations.suite import Expectation, Suite

QUAD = ("graph", "subject", "predicate", "object")

QUADS_SUITE = Suite(
    name="quads",
    # `at_epoch`: how often the quad changes at the epoch; `weight_before`: of the previous change.
    columns=(*QUAD, "epoch", "weight", "at_epoch", "weight_before", "from_epoch", "to_epoch"),
    shown=(*QUAD, "epoch", "weight"),
    expectations=(
        Expectation(
            "graph_is_a_resource_or_the_default_graph",
            "The graph is an IRI or a blank node, or empty for the default graph.",
            "graph = '' OR is_resource(graph)",
        ),
        Expectation(
            "subject_is_a_resource",
            "The subject is an IRI or a blank node in N-Triples form.",
            "is_resource(subject)",
        ),
        Expectation(
            "predicate_is_an_iri", "The predicate is an IRI in N-Triples form.", "is_iri(predicate)"
        ),
        Expectation(
            "object_is_a_term", "The object is an RDF term in N-Triples form.", "is_term(object)"
        ),
        Expectation("weight_is_a_sign", "The weight is +1 or -1.", "weight IN (1, -1)"),
        Expectation(
            "epoch_is_in_the_range",
            "The epoch is one of those checked.",
            "epoch > from_epoch AND epoch <= to_epoch",
        ),
        Expectation(
            "one_change_per_epoch", "A quad changes at most once per epoch.", "at_epoch = 1"
        ),
        Expectation(
            "assertions_and_retractions_alternate",
            "No quad is asserted while it is in the graph, or retracted while it is not.",
            "weight_before IS NULL OR weight_before <> weight",
        ),
    ),
)
