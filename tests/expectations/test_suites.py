"""Every suite accepts valid rows and rejects each kind of invalid row by the expected check.

All cases of a suite are rows of one frame, one scope per case: one run checks them all. Each case
is checked in memory and on Spark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

from tests.expectations.conftest import Held
from tests.support.generators.suite_rows import table
from weir.expectations.answers import ANSWERS_SUITE
from weir.expectations.embeddings import EMBEDDINGS_SUITE
from weir.expectations.quads import QUADS_SUITE
from weir.expectations.run import Check, run_checks
from weir.expectations.streams import STREAMS_SUITE
from weir.expectations.suite import QualityResult, Suite
from weir.expectations.transactions import TRANSACTIONS_SUITE

Row = Mapping[str, Any]
TRUE = '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'


def cases_of(suite: Suite, cases: Mapping[str, Sequence[Row]]) -> pa.Table:
    """The rows of all cases, with the name of the case as scope."""
    return table([suite], [{**row, "scope": case} for case, rows in cases.items() for row in rows])


def failures(results: Sequence[QualityResult]) -> dict[str, set[str]]:
    """Scope -> the expectations that failed."""
    failed: dict[str, set[str]] = {result.scope: set() for result in results}
    for result in results:
        if not result.success:
            failed[result.scope].add(result.expectation)
    return failed


def check(
    held: Held,
    suite: Suite,
    accepted: Mapping[str, Sequence[Row]],
    rejected: Mapping[str, tuple[str, Sequence[Row]]],
) -> None:
    """Check that every case fails exactly the expectations that it should.

    Args:
        rejected: case -> (the one expectation that fails, rows); a case for each expectation.
    """
    cases = {**accepted, **{case: rows for case, (_, rows) in rejected.items()}}
    failed = failures(run_checks([Check((suite,), held(cases_of(suite, cases)), tuple(cases))]))
    expected = {case: set[str]() for case in accepted} | {
        case: {expectation} for case, (expectation, _) in rejected.items()
    }
    assert failed == expected
    assert {expectation for expectation, _ in rejected.values()} == {
        e.name for e in suite.expectations
    }


def quad(**changes: Any) -> Row:
    return {
        "graph": "",
        "subject": "<http://a/s>",
        "predicate": "<http://a/p>",
        "object": '"o"@en',
        "epoch": 5,
        "weight": 1,
        "at_epoch": 1,
        "weight_before": None,
        "from_epoch": 4,
        "to_epoch": 6,
    } | changes


def test_valid_quads_are_accepted_and_invalid_ones_fail_their_expectation(held: Held) -> None:
    terms = [
        "<http://a/é>",
        r"<http://a/\u00e9>",
        "_:b0",
        "_:b0.1-x",
        '""',
        r'"a \"quote\" \\ and \n and \u00e9"',
        '"tab\tand é"',
        '"x"@de-CH-1996',
        '"1"^^<http://www.w3.org/2001/XMLSchema#integer>',
        '"' + r"\n" * 200_000 + '"',
        "_:" + "b." * 200_000 + "b",
    ]
    invalid_terms = [
        "x",
        "",
        "<a b>",
        "<a",
        "_:",
        "_:b.",
        '"a"b"',
        '"a\nb"',
        r'"a\x"',
        r'"a\"',
        '"a"@',
        '"a"^^x',
        '"a"@en^^<http://a/d>',
        "<http://a/s>\n",
        None,
    ]
    check(
        held,
        QUADS_SUITE,
        accepted={
            "one quad": [quad()],
            "asserted, retracted": [quad(), quad(epoch=6, weight=-1, weight_before=1)],
            "retracted, asserted": [quad(weight=-1), quad(epoch=6, weight_before=-1)],
            "in two graphs": [quad(), quad(graph="<http://a/g>")],
            "no rows": [],
            **{f"term {n}": [quad(object=term)] for n, term in enumerate(terms)},
            "blank subject": [quad(subject="_:b")],
            "blank graph": [quad(graph="_:b")],
        },
        rejected={
            **{
                f"invalid term {n}": ("object_is_a_term", [quad(object=term)])
                for n, term in enumerate(invalid_terms)
            },
            "literal graph": ("graph_is_a_resource_or_the_default_graph", [quad(graph='"g"')]),
            "no graph": ("graph_is_a_resource_or_the_default_graph", [quad(graph=None)]),
            "literal subject": ("subject_is_a_resource", [quad(subject='"s"')]),
            "blank predicate": ("predicate_is_an_iri", [quad(predicate="_:p")]),
            "weight 2": ("weight_is_a_sign", [quad(weight=2)]),
            "no weight": ("weight_is_a_sign", [quad(weight=None)]),
            "epoch before": ("epoch_is_in_the_range", [quad(epoch=4)]),
            "epoch after": ("epoch_is_in_the_range", [quad(epoch=7)]),
            "both in one epoch": (
                "one_change_per_epoch",
                [quad(at_epoch=2), quad(weight=-1, at_epoch=2, weight_before=1)],
            ),
            "asserted twice": (
                "assertions_and_retractions_alternate",
                [quad(), quad(epoch=6, weight_before=1)],
            ),
            "retracted twice": (
                "assertions_and_retractions_alternate",
                [quad(weight=-1), quad(epoch=6, weight=-1, weight_before=-1)],
            ),
        },
    )


def transaction(epoch: int, **changes: Any) -> Row:
    return {
        "epoch": epoch,
        "source": "s",
        "position": f"{epoch}.rdfp",
        "inserted": 2,
        "deleted": 1,
        "rejected": 0,
        "quads_version": epoch,
        "epoch_before": epoch - 1,
        "version_before": epoch - 1,
        "at_position": 1,
        "found_inserted": 2,
        "found_deleted": 1,
    } | changes


NOTHING = dict.fromkeys(("inserted", "deleted", "found_inserted", "found_deleted"), 0)


def test_valid_transactions_are_accepted_and_invalid_ones_fail_their_expectation(
    held: Held,
) -> None:
    check(
        held,
        TRANSACTIONS_SUITE,
        accepted={
            "two": [transaction(2), transaction(3)],
            "none": [],
            "the first": [transaction(1, version_before=None)],
            "one commit for two": [transaction(3, version_before=3)],
            "no change": [transaction(2, inserted=0, found_inserted=0)],
            "time passed": [transaction(2, position=None, at_position=7, **NOTHING)],
        },
        rejected={
            "a gap": ("epochs_have_no_gap", [transaction(3, epoch_before=1)]),
            "twice": ("epochs_have_no_gap", [transaction(2, epoch_before=2)]),
            "position again": ("position_is_used_once", [transaction(2, at_position=2)]),
            "no position": ("position_is_used_once", [transaction(2, position=None)]),
            "no source": ("position_is_used_once", [transaction(2, source="")]),
            "negative": (
                "counts_are_not_negative",
                [transaction(2, inserted=-1, found_inserted=-1)],
            ),
            "quads missing": ("counts_agree_with_quads", [transaction(2, found_inserted=1)]),
            "quads not deleted": ("counts_agree_with_quads", [transaction(2, found_deleted=0)]),
            "version decreases": ("versions_follow_epochs", [transaction(2, version_before=3)]),
        },
    )


def stream_epoch(**changes: Any) -> Row:
    return {
        "stream": "readings",
        "epoch": 3,
        "frontier": 100,
        "frontier_before": 90,
        "counted": 3,
        "late": 1,
        "early": 1,
        "recorded": 1,
        "transactions": 1,
        "found": 3,
        "first_instant": 10,
        "last_instant": 110,
        "starts": 10,
        "latest": 110,
        "max_late_share": 0.25,
    } | changes


def test_valid_stream_epochs_are_accepted_and_invalid_ones_fail_their_expectation(
    held: Held,
) -> None:
    nothing = {"counted": 0, "found": 0, "first_instant": None, "last_instant": None}
    check(
        held,
        STREAMS_SUITE,
        accepted={
            "two": [stream_epoch(), stream_epoch(epoch=4, frontier_before=100)],
            "no event yet": [
                stream_epoch(**nothing, late=0, early=0, frontier=None, frontier_before=None)
            ],
            "no event": [stream_epoch(**nothing, late=0, early=0, frontier_before=100)],
            "no bounds": [stream_epoch(starts=None, latest=None, max_late_share=None)],
            "the first": [stream_epoch(frontier_before=None)],
        },
        rejected={
            "not recorded": ("one_row_per_epoch", [stream_epoch(recorded=0)]),
            "recorded twice": ("one_row_per_epoch", [stream_epoch(recorded=2)]),
            "no epoch": ("one_row_per_epoch", [stream_epoch(transactions=0)]),
            "before the start": ("events_are_in_range", [stream_epoch(first_instant=9)]),
            "in the future": ("events_are_in_range", [stream_epoch(last_instant=111)]),
            "back": ("frontier_never_falls", [stream_epoch(frontier_before=101)]),
            "lost": ("frontier_never_falls", [stream_epoch(frontier=None)]),
            "an event more": ("counts_agree_with_events", [stream_epoch(found=4)]),
            "more early than late": ("counts_agree_with_events", [stream_epoch(early=2)]),
            "many late": ("late_share_is_within_max_late_share", [stream_epoch(late=2)]),
        },
    )


def embedding(**changes: Any) -> Row:
    return {
        "node": "answer",
        "terms": ["<http://a/s>", None],
        "epoch": 5,
        "weight": 1,
        "at_epoch": 1,
        "multiplicity": 1,
        "from_epoch": 4,
        "to_epoch": 6,
        "is_total": False,
    } | changes


def test_valid_embeddings_are_accepted_and_invalid_ones_fail_their_expectation(held: Held) -> None:
    total = embedding(weight=0, terms=None, at_epoch=None, multiplicity=None, is_total=True)
    check(
        held,
        EMBEDDINGS_SUITE,
        accepted={
            "one": [embedding()],
            "more than one": [embedding(weight=3, multiplicity=3)],
            "appears and vanishes": [embedding(), embedding(epoch=6, weight=-1, multiplicity=0)],
            "the total": [total],
        },
        rejected={
            "zero": ("weight_is_not_zero", [embedding(weight=0)]),
            "no weight": ("weight_is_not_zero", [embedding(weight=None)]),
            "twice": ("one_change_per_row_and_epoch", [embedding(at_epoch=2)]),
            "epoch before": ("epoch_is_in_the_range", [embedding(epoch=4)]),
            "epoch after": ("epoch_is_in_the_range", [embedding(epoch=7)]),
            "garbage": ("values_are_terms", [embedding(terms=["<http://a/s>", "rubbish"])]),
            "vanishes": (
                "multiplicity_is_not_negative",
                [embedding(weight=-1, multiplicity=-1)],
            ),
        },
    )


def answer(**changes: Any) -> Row:
    return {
        "terms": ["<http://a/s>"],
        "epoch": 5,
        "weight": 1,
        "multiplicity": 1,
        "form": "select",
        "is_set": False,
        "max_rows": None,
        "min_rows": None,
        "max_change": None,
        "rows_at": None,
        "rows_published": 0,
        "rows_deleted": None,
        "is_total": False,
    } | changes


def total(**changes: Any) -> Row:
    row = answer(terms=None, epoch=6, weight=0, multiplicity=None, rows_at=1, is_total=True)
    return {**row, **changes}


def test_valid_answers_are_accepted_and_invalid_ones_fail_their_expectation(held: Held) -> None:
    ask: dict[str, Any] = {"form": "ask", "is_set": True, "rows_at": 1}
    construct: dict[str, Any] = {"form": "construct", "is_set": True}
    triple = ["_:s", "<http://a/p>", '"o"']
    check(
        held,
        ANSWERS_SUITE,
        accepted={
            "a bag": [answer(multiplicity=2), total()],
            "a set": [answer(is_set=True), answer(is_set=True, weight=-1, multiplicity=0)],
            "as many as allowed": [answer(max_rows=1), total(max_rows=1)],
            "ask": [answer(**ask, terms=[TRUE]), total(**ask)],
            "a triple": [answer(**construct, terms=triple), total(**construct)],
            "no row": [total(rows_at=0)],
            "as few as allowed": [answer(min_rows=1), total(min_rows=1)],
            "half is deleted": [total(max_change=0.5, rows_published=200, rows_deleted=100)],
            "a small answer is emptied": [
                total(max_change=0.5, rows_published=100, rows_deleted=100, rows_at=0)
            ],
        },
        rejected={
            "twice in a set": ("a_set_has_each_row_once", [answer(is_set=True, multiplicity=2)]),
            "ask without row": ("ask_has_one_row", [total(**ask | {"rows_at": 0})]),
            "ask with two": ("ask_has_one_row", [total(**ask | {"rows_at": 2})]),
            "ask without row for one epoch": (
                "ask_has_one_row",
                [answer(**ask | {"rows_at": 0}, terms=[TRUE], weight=-1), total(**ask)],
            ),
            "ask with something else": ("ask_has_one_row", [answer(**ask), total(**ask)]),
            "literal subject": (
                "construct_has_triples",
                [answer(**construct, terms=['"s"', "<http://a/p>", '"o"']), total(**construct)],
            ),
            "unbound object": (
                "construct_has_triples",
                [answer(**construct, terms=["_:s", "<http://a/p>", None]), total(**construct)],
            ),
            "two values": (
                "construct_has_triples",
                [answer(**construct, terms=triple[:2]), total(**construct)],
            ),
            "fewer than 0 rows": ("row_count_is_not_negative", [total(rows_at=-1)]),
            "too many rows": ("row_count_is_within_max_rows", [total(max_rows=1, rows_at=2)]),
            "too few rows": ("row_count_is_at_least_min_rows", [total(min_rows=2, rows_at=1)]),
            "more than half is deleted": (
                "deleted_share_is_within_max_change",
                [total(max_change=0.5, rows_published=200, rows_deleted=101)],
            ),
        },
    )


def test_a_result_counts_the_unexpected_rows_and_shows_two_of_them(held: Held) -> None:
    rows = [quad(weight=2, subject=f"<http://a/{n}>") for n in range(3)]
    results = run_checks([Check((QUADS_SUITE,), held(cases_of(QUADS_SUITE, {"": rows})))])
    (result,) = (result for result in results if not result.success)
    assert (result.expectation, result.unexpected_rows) == ("weight_is_a_sign", 3)
    assert "http://a/0" in result.examples[0]
    assert "http://a/2" in result.examples[1]


def test_an_unexpected_row_of_an_unnamed_scope_is_an_error(held: Held) -> None:
    rows = held(cases_of(QUADS_SUITE, {"other": [quad(weight=2)]}))
    with pytest.raises(ValueError, match="unnamed scopes"):
        run_checks([Check((QUADS_SUITE,), rows)])


def test_a_frame_without_a_column_of_the_suite_is_refused(held: Held) -> None:
    rows = held(cases_of(QUADS_SUITE, {"": [quad()]}).drop_columns("object"))
    with pytest.raises(ValueError, match="object"):
        run_checks([Check((QUADS_SUITE,), rows)])
