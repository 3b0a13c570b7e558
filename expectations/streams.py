"""Expectations of the epochs of streams."""

from __future__ import annotations

from weir.expectations.suite import Expectation, Suite

STREAMS_SUITE = Suite(
    name="streams",
    # One row per stream and epoch. `recorded`, `transactions`: rows of `stream_epochs` and of
    # `transactions`; `counted`: number of events by `stream_epochs`; `found`, `first_instant`,
    # `last_instant`: number and bounds of the stored events; `starts`, `latest`: the bounds that
    # ingest accepts, null for no bound.
    columns=(
        "stream",
        "epoch",
        "frontier",
        "frontier_before",
        "counted",
        "late",
        "early",
        "recorded",
        "transactions",
        "found",
        "first_instant",
        "last_instant",
        "starts",
        "latest",
        "max_late_share",
    ),
    shown=(
        "stream",
        "epoch",
        "frontier",
        "counted",
        "late",
        "early",
        "found",
        "first_instant",
        "last_instant",
    ),
    expectations=(
        Expectation(
            "one_row_per_epoch",
            "Every epoch of a stream has one row in `stream_epochs`.",
            "recorded = 1 AND transactions = 1",
        ),
        Expectation(
            "events_are_in_range",
            "No event is before the start of its stream, or too far ahead of its ingest.",
            "found = 0 OR ((starts IS NULL OR first_instant >= starts)"
            " AND (latest IS NULL OR last_instant <= latest))",
        ),
        Expectation(
            "frontier_never_falls",
            "The frontier of a stream never falls.",
            "frontier_before IS NULL OR frontier >= frontier_before",
        ),
        Expectation(
            "counts_agree_with_events",
            "The stream has as many events of the epoch as its row in `stream_epochs` says.",
            "counted = found AND early >= 0 AND late >= early",
        ),
        Expectation(
            "late_share_is_within_max_late_share",
            "At most the share `max_late_share` of the events of an epoch is late.",
            "max_late_share IS NULL OR late <= max_late_share * (counted + late)",
        ),
    ),
)
