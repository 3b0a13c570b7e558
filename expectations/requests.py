"""Expectations of the requests to remotes."""

from __future__ import annotations

from weir.expectations.suite import Expectation, Suite

REQUESTS_SUITE = Suite(
    name="requests",
    # One row per request. `reserved`, `settled`: its rows of each phase; `spent_*`: by all requests
    # of the evaluation, as settled, else as reserved; `*_budget`: what the evaluation may spend.
    # `gap`: seconds since the previous request to the remote. `waited`: seconds after the time
    # until which the remote had asked for no request. Both are null if there is no such time, if
    # the request was not sent, or if the remote's URL or connection was edited meanwhile.
    # `is_over`: whether the evaluation has ended; `is_abandoned`: whether the run that made the
    # request died; `is_declared`: whether it went to the host that is declared for the remote.
    columns=(
        "remote",
        "evaluation",
        "request_id",
        "reserved",
        "settled",
        "host",
        "url",
        "spent_requests",
        "spent_keys",
        "spent_bytes",
        "spent_seconds",
        "requests_budget",
        "keys_budget",
        "bytes_budget",
        "seconds_budget",
        "gap",
        "pause",
        "waited",
        "is_over",
        "is_abandoned",
        "is_declared",
        "is_new",
    ),
    shown=(
        "remote",
        "evaluation",
        "request_id",
        "reserved",
        "settled",
        "host",
        "spent_requests",
        "spent_keys",
        "spent_bytes",
        "spent_seconds",
        "gap",
        "waited",
    ),
    # The newest request of the earlier check is in the frame for its time only.
    rows="is_new",
    expectations=(
        Expectation(
            "budget_is_kept",
            "An evaluation spends at most its budget of requests, keys, bytes and seconds.",
            "spent_requests <= requests_budget AND spent_keys <= keys_budget"
            # Rounding: the sum of parts of seconds may exceed the whole in the last digits.
            " AND spent_bytes <= bytes_budget AND spent_seconds <= seconds_budget + 1e-6",
        ),
        Expectation(
            "every_request_is_settled_or_abandoned",
            "Every request is reserved once, and settled once unless its run died.",
            "reserved = 1 AND (settled = 1 OR (settled = 0 AND (NOT is_over OR is_abandoned)))",
        ),
        Expectation(
            "only_declared_hosts",
            "Requests go to the host that is declared for their remote.",
            "is_declared",
        ),
        Expectation(
            "politeness_is_kept",
            "Requests to a remote are at least `pause` apart, and none is sent while it has asked"
            " for none.",
            # The times are of a wall clock, which may be corrected meanwhile.
            "(gap IS NULL OR gap >= pause - 0.01) AND (waited IS NULL OR waited >= -0.01)",
        ),
        Expectation(
            "urls_have_no_secret",
            "No recorded address has a user, a password, a query or a fragment.",
            r"url IS NULL OR url RLIKE '\\Ahttps?://[^/?#@ ]+(/[^?# ]*)?\\z'",
        ),
    ),
)
