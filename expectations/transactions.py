"""Expectations of the transactions of a range of epochs."""

from __future__ import annotations

from weir.expectations.suite import Expectation, Suite

TRANSACTIONS_SUITE = Suite(
    name="transactions",
    # `epoch_before`, `version_before`: of the previous transaction; `at_position`: how many
    # transactions have the position; `found_inserted`, `found_deleted`: by the rows of `quads`.
    columns=(
        "epoch",
        "source",
        "position",
        "inserted",
        "deleted",
        "rejected",
        "quads_version",
        "epoch_before",
        "version_before",
        "at_position",
        "found_inserted",
        "found_deleted",
    ),
    shown=("epoch", "source", "position", "inserted", "deleted", "found_inserted", "found_deleted"),
    expectations=(
        Expectation(
            "epochs_have_no_gap", "Epochs are 1, 2, 3, ... each once.", "epoch = epoch_before + 1"
        ),
        Expectation(
            "position_is_used_once",
            "Every position of a source is one transaction; without one, nothing changes.",
            "source <> '' AND ((position IS NOT NULL AND at_position = 1)"
            " OR (position IS NULL AND inserted = 0 AND deleted = 0 AND rejected = 0))",
        ),
        Expectation(
            "counts_are_not_negative",
            "The numbers of quads and rejected lines are not negative.",
            "inserted >= 0 AND deleted >= 0 AND rejected >= 0",
        ),
        Expectation(
            "counts_agree_with_quads",
            "`quads` has as many rows of the epoch as the transaction says.",
            "inserted = found_inserted AND deleted = found_deleted",
        ),
        Expectation(
            "versions_follow_epochs",
            "A later epoch is not in an earlier version of `quads`.",
            "version_before IS NULL OR quads_version >= version_before",
        ),
    ),
)
