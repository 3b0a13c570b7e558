"""Expectations of the new rows of a query's embedding table."""

from __future__ import annotations

from weir.expectations.suite import Expectation, Suite

EMBEDDINGS_SUITE = Suite(
    name="embeddings",
    # `at_epoch`: how often the row changes at the epoch; `multiplicity`: after the change.
    columns=(
        "node",
        "terms",
        "epoch",
        "weight",
        "at_epoch",
        "multiplicity",
        "from_epoch",
        "to_epoch",
        "is_total",
    ),
    shown=("node", "terms", "epoch", "weight", "multiplicity"),
    expectations=(
        Expectation("weight_is_not_zero", "A change has a weight other than 0.", "weight <> 0"),
        Expectation(
            "one_change_per_row_and_epoch",
            "A row changes at most once per epoch.",
            "at_epoch = 1",
        ),
        Expectation(
            "epoch_is_in_the_range",
            "The epoch is one of those checked.",
            "epoch > from_epoch AND epoch <= to_epoch",
        ),
        Expectation(
            "values_are_terms",
            "Every value is an RDF term in N-Triples form, or unbound.",
            "size(filter(terms, term -> term IS NOT NULL AND NOT is_term(term))) = 0",
        ),
        Expectation(
            "multiplicity_is_not_negative",
            "No row vanishes more often than it appeared.",
            "multiplicity >= 0",
        ),
    ),
    rows="NOT is_total",
)
