"""Expectations of the freshness of replicas: reports of evaluations, and ages of answers."""

from __future__ import annotations

from weir.expectations.suite import Expectation, Suite

_STATUSES = ("changed", "unchanged", "gone", "suspect", "failed", "too_large")
_UNITS = ("requests", "keys", "bytes", "seconds")

FRESHNESS_SUITE = Suite(
    name="freshness",
    # One row per remote, pattern and evaluation. `copies`: its rows of `freshness`; `found_*`: keys
    # of the round with that status; `found_*_used`: what the requests have spent.
    columns=(
        "remote",
        "pattern",
        "evaluation",
        "copies",
        "candidates",
        "never_asked",
        "elected",
        "answered",
        "not_asked",
        *_STATUSES,
        *(f"found_{status}" for status in _STATUSES),
        *(f"{unit}_used" for unit in _UNITS),
        *(f"found_{unit}_used" for unit in _UNITS),
        "oldest_seconds",
        "median_seconds",
        "p95_seconds",
        "share_fresh",
    ),
    shown=("remote", "pattern", "evaluation", "elected", "answered", "not_asked", *_STATUSES),
    expectations=(
        Expectation(
            "one_row_per_evaluation",
            "Of every pattern and evaluation there is one row.",
            "copies = 1",
        ),
        Expectation(
            "counts_add_up",
            "Elected keys were answered, failed, had too many mappings or were not asked for;"
            " answered ones changed, did not change, are gone or are not believed.",
            "elected = answered + failed + too_large + not_asked"
            " AND answered = changed + unchanged + gone + suspect"
            f" AND least({', '.join(_STATUSES)}, not_asked) >= 0",
        ),
        Expectation(
            "counts_agree_with_the_round",
            "The round has as many keys with each status as is reported.",
            " AND ".join(f"{status} = found_{status}" for status in _STATUSES),
        ),
        Expectation(
            "use_agrees_with_requests",
            "What is reported as used is what the requests of the evaluation have spent.",
            " AND ".join(f"{unit}_used = found_{unit}_used" for unit in _UNITS[:-1])
            + " AND abs(seconds_used - found_seconds_used) <= 1e-3",
        ),
        Expectation(
            "candidates_are_counted",
            "Those that were never answered are candidates, and have no age.",
            "never_asked >= 0 AND never_asked <= candidates"
            " AND (never_asked < candidates OR oldest_seconds IS NULL)",
        ),
        Expectation(
            "ages_are_in_order",
            "The median of the ages is at most their 95th percentile, and that the oldest.",
            "oldest_seconds IS NULL OR (median_seconds >= 0 AND p95_seconds >= median_seconds"
            " AND oldest_seconds >= p95_seconds)",
        ),
        Expectation(
            "share_fresh_is_a_share",
            "The share of fresh candidates is from 0 to 1.",
            "share_fresh IS NULL OR (share_fresh >= 0 AND share_fresh <= 1)",
        ),
    ),
)

CURRENT_FRESHNESS_SUITE = Suite(
    name="current_freshness",
    # One row per pattern of a declared remote, at the time of the check. `oldest_seconds`: age of
    # the oldest candidate; `waiting_seconds`: how long its keys have been known, if none was ever
    # answered; `error_after` and `min_fresh` as declared. Any of them may be null.
    columns=(
        "remote",
        "pattern",
        "oldest_seconds",
        "waiting_seconds",
        "error_after",
        "share_fresh",
        "min_fresh",
    ),
    shown=("remote", "pattern", "oldest_seconds", "waiting_seconds", "error_after", "share_fresh"),
    expectations=(
        Expectation(
            "oldest_is_young_enough",
            "No candidate's answer is older than `error_after`.",
            "error_after IS NULL OR oldest_seconds IS NULL OR oldest_seconds <= error_after",
        ),
        Expectation(
            "answered_in_time",
            "What a query needs of a remote has an answer within `error_after`.",
            "error_after IS NULL OR waiting_seconds IS NULL OR waiting_seconds <= error_after",
        ),
        Expectation(
            "enough_is_fresh",
            "At least the share `min_fresh` of the candidates was fresh at the last evaluation.",
            "min_fresh IS NULL OR share_fresh IS NULL OR share_fresh >= min_fresh",
        ),
    ),
)
