"""What must hold for the new rows of a query's embedding table."""

from __future__ import annotations

from expectations.suite import Expectation, Suite
from expectations.terms import is_term

ROW = ("scope", "node", "terms")
"""What makes rows of the checked frame the same mapping; `terms` is the array of v0, v1, ..."""

PER_ROW = f"PARTITION BY {', '.join(ROW)}"

EMBEDDINGS_SUITE = Suite(
    name="embeddings",
    # `held_before`: multiplicity of the row at `from_epoch`.
    columns=(
        "node",
        "terms",
        "epoch",
        "weight",
        "held_before",
        "from_epoch",
        "to_epoch",
        "is_total",
    ),
    shown=("node", "terms", "epoch", "weight", "held_before"),
    derived=(
        ("at_epoch", f"count(*) OVER ({PER_ROW}, epoch)"),
        ("multiplicity", f"held_before + sum(weight) OVER ({PER_ROW} ORDER BY epoch)"),
    ),
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
            f"forall(terms, term -> term IS NULL OR {is_term('term')})",
        ),
        Expectation(
            "multiplicity_is_not_negative",
            "Nothing vanishes that was not there.",
            "multiplicity >= 0",
        ),
    ),
    rows="NOT is_total",
)
