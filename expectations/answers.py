"""Expectations of the answer of a query before it is published."""

from __future__ import annotations

from weir.expectations.suite import Expectation, Suite

MAX_ROWS = "row_count_is_within_max_rows"
"""The check of a query's `max_rows`; the stored state may be right if it fails."""

MIN_ROWS = "row_count_is_at_least_min_rows"
MAX_CHANGE = "deleted_share_is_within_max_change"
GUARDS = frozenset({MIN_ROWS, MAX_CHANGE})
"""The checks whose failure a user may accept: the answer is unexpected, but may be right."""
LIMITS = frozenset({MAX_ROWS, *GUARDS})
"""The checks whose failure does not mean that the stored state is wrong."""
SMALL_ANSWER = 100
"""If at most so many rows are published, any number of them may be deleted."""

ANSWERS_SUITE = Suite(
    name="answers",
    # Besides the changes the frame has one row per query with `is_total`, weight 0 and epoch
    # `to_epoch`. It represents the whole answer, so that an answer without rows is checked too.
    # `rows_at`: rows of the answer after the epoch, for the total and for every change of an ASK.
    # `rows_published`: rows that are published; `rows_deleted`: those that the answer lacks now.
    columns=(
        "terms",
        "epoch",
        "weight",
        "multiplicity",
        "form",
        "is_set",
        "max_rows",
        "min_rows",
        "max_change",
        "rows_at",
        "rows_published",
        "rows_deleted",
        "is_total",
    ),
    shown=(
        *("terms", "epoch", "weight", "multiplicity", "rows_at", "rows_published", "rows_deleted"),
        *("max_rows", "min_rows", "max_change"),
    ),
    expectations=(
        Expectation(
            "a_set_has_each_row_once",
            "The answers of SELECT DISTINCT, ASK and CONSTRUCT have each row at most once.",
            "is_total OR NOT is_set OR multiplicity <= 1",
        ),
        Expectation(
            "ask_has_one_row",
            "An ASK query has one row at every epoch, true or false.",
            "form <> 'ask' OR (rows_at = 1 AND (is_total OR (size(terms) = 1 AND"
            " try_element_at(terms, 1) IN"
            " ('\"true\"^^<http://www.w3.org/2001/XMLSchema#boolean>',"
            " '\"false\"^^<http://www.w3.org/2001/XMLSchema#boolean>'))))",
        ),
        Expectation(
            "construct_has_triples",
            "The rows of a CONSTRUCT query are triples: resource, IRI, term.",
            "is_total OR form <> 'construct' OR (size(terms) = 3 AND"
            " is_resource(try_element_at(terms, 1)) AND is_iri(try_element_at(terms, 2))"
            " AND is_term(try_element_at(terms, 3)))",
        ),
        Expectation(
            "row_count_is_not_negative",
            "The number of rows is never negative.",
            "NOT is_total OR rows_at >= 0",
        ),
        Expectation(
            MAX_ROWS,
            "The answer has at most `max_rows` rows.",
            "NOT is_total OR max_rows IS NULL OR rows_at <= max_rows",
            detail="{rows_at} rows, max_rows is {max_rows}",
        ),
        Expectation(
            MIN_ROWS,
            "The answer has at least `min_rows` rows.",
            "NOT is_total OR min_rows IS NULL OR rows_at >= min_rows",
            detail="{rows_at} rows, min_rows is {min_rows}",
        ),
        Expectation(
            MAX_CHANGE,
            f"Of more than {SMALL_ANSWER} published rows, no larger share than `max_change` is"
            " deleted at once.",
            f"NOT is_total OR max_change IS NULL OR rows_published <= {SMALL_ANSWER} OR"
            " rows_deleted <= max_change * rows_published",
            detail="{rows_deleted} of {rows_published} published rows deleted, max_change is"
            " {max_change}",
        ),
    ),
)
