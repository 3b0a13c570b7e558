"""Expectations of the pages of traversals: what each round says of them."""

from __future__ import annotations

from weir.expectations.suite import Expectation, Suite

DOCUMENTS_SUITE = Suite(
    name="documents",
    # One row per page of a round. `times`: its rows; `found_digest`: of the content in the row,
    # null without one; `number_of_aliases`: IRIs that lead to it; `requests`: requests of the
    # evaluation with its id; `has_difference`: whether quads appear or vanish by it.
    columns=(
        "remote",
        "round",
        "iri",
        "outcome",
        "times",
        "is_member",
        "depth",
        "number_of_aliases",
        "has_links",
        "content_round",
        "digest",
        "found_digest",
        "answers",
        "changes",
        "requests",
        "fault",
        "has_difference",
    ),
    shown=("remote", "round", "iri", "outcome", "is_member", "content_round", "digest", "requests"),
    expectations=(
        Expectation(
            "one_row_per_page",
            "A round says of a page once what is known of it.",
            "times = 1",
        ),
        Expectation(
            "content_agrees_with_its_digest",
            "A page has its content in the round that it names, and the digest is that of it.",
            "CASE WHEN found_digest IS NOT NULL THEN content_round = round"
            " AND digest = found_digest"
            " ELSE content_round IS NULL OR content_round < round END",
        ),
        Expectation(
            "documents_are_reached",
            "A document of the dataset has content, a depth, and an IRI that leads to it.",
            "NOT is_member OR (has_links AND digest IS NOT NULL AND content_round IS NOT NULL"
            " AND depth >= 0 AND number_of_aliases > 0)",
        ),
        Expectation(
            "outcomes_have_a_request",
            "A page that was asked for has its request in the log; another one has none.",
            "CASE WHEN outcome = 'known' THEN requests = 0 ELSE requests = 1 END",
        ),
        Expectation(
            "faults_say_why",
            "Where no answer can be used, the outcome is the fault.",
            "outcome = 'known' OR fault IS NULL OR fault = outcome",
        ),
        Expectation(
            "answers_are_counted",
            "Changes are answers.",
            "changes >= 0 AND answers >= changes",
        ),
        Expectation(
            "only_documents_change_the_graph",
            "Quads appear or vanish by pages that are or were documents: they have had an answer.",
            "NOT has_difference OR answers > 0",
        ),
    ),
)
