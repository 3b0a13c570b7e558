"""Law: DuckDB on rows in memory and Spark on the same rows give the same results."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.support.generators.suite_rows import BOOLEANS, FLOATS, NAMES, table
from weir.expectations.answers import ANSWERS_SUITE
from weir.expectations.documents import DOCUMENTS_SUITE
from weir.expectations.embeddings import EMBEDDINGS_SUITE
from weir.expectations.freshness import CURRENT_FRESHNESS_SUITE, FRESHNESS_SUITE
from weir.expectations.quads import QUADS_SUITE
from weir.expectations.replicas import REPLICAS_SUITE, ROUNDS_SUITE
from weir.expectations.requests import REQUESTS_SUITE
from weir.expectations.run import Check, run_checks
from weir.expectations.streams import STREAMS_SUITE
from weir.expectations.suite import Suite
from weir.expectations.transactions import TRANSACTIONS_SUITE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_BOOLEAN = "http://www.w3.org/2001/XMLSchema#boolean"
_WHOLE = ("<http://a/s>", "_:b0.1", '"o"@en-GB', f'"true"^^<{_BOOLEAN}>', f'"0"^^<{_BOOLEAN}>', "")
_PARTS = (*'<>"\\_:.@^{}- ', "\n", "\x00", "\x85", "\u2028", "\u00b7", "\U000effff", "\U000f0000")
_MORE_PARTS = ('"', "<http://a/", "_:", "^^<", "@en", "\\n", "\\u00e9", "\\U0001f600", "\\'")

_NUMBERS = st.none() | st.integers(-1, 3)
_TERMS = (
    st.none()
    | st.sampled_from(_WHOLE)
    | st.text(st.characters(codec="utf-8"), max_size=3)
    | st.lists(
        st.sampled_from(_PARTS) | st.sampled_from(_MORE_PARTS) | st.characters(codec="utf-8"),
        max_size=6,
    ).map("".join)
)
_OTHER_COLUMNS: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("graph", "subject", "predicate", "object"), _TERMS),
    # Examples have their digits, which the engines write in different ways if there are many.
    **dict.fromkeys(FLOATS, st.sampled_from((None, -0.5, 0.0, 0.25, 1.0))),
    **dict.fromkeys(NAMES, st.none() | st.text("a'\"\\", max_size=2)),
    **dict.fromkeys(BOOLEANS, st.none() | st.booleans()),
    "terms": st.none() | st.lists(_TERMS, max_size=4),
    "form": st.sampled_from((None, "select", "ask", "construct")),
    "status": st.sampled_from((None, "changed", "unchanged", "gone", "failed", "other")),
    **dict.fromkeys(("outcome", "fault"), st.sampled_from((None, "known", "changed", "failed"))),
    "url": st.none() | st.text("/?#@ a\n", max_size=4).map("http://a{}".format),
}


@st.composite
def rows(draw: st.DrawFn, *suites: Suite) -> list[dict[str, Any]]:
    """Rows with the columns of the suites, valid and invalid ones."""
    columns = sorted({name for suite in suites for name in suite.columns})
    # Hypothesis limits the size of a case, and draws again what exceeds it. So it draws the values
    # of a column, and the seed by which rows are made of them.
    number = 400 // len(columns)
    values = {
        name: draw(st.lists(_OTHER_COLUMNS.get(name, _NUMBERS), min_size=number, max_size=number))
        for name in columns
    }
    rng = random.Random(draw(st.integers(0, 2**32)))
    return [{name: rng.choice(values[name]) for name in columns} for _ in range(100)]


@pytest.mark.parametrize(
    "suites",
    [
        (QUADS_SUITE,),
        (TRANSACTIONS_SUITE,),
        (STREAMS_SUITE,),
        (EMBEDDINGS_SUITE, ANSWERS_SUITE),
        (REQUESTS_SUITE,),
        (REPLICAS_SUITE,),
        (ROUNDS_SUITE,),
        (DOCUMENTS_SUITE,),
        (FRESHNESS_SUITE,),
        (CURRENT_FRESHNESS_SUITE,),
    ],
    ids=lambda suites: suites[-1].name,
)
def test_rows_in_memory_and_on_spark_get_the_same_results(
    spark: SparkSession, suites: tuple[Suite, ...]
) -> None:
    # Every row has a scope of its own, which identifies what failed, so shrinking is left out.
    @settings(
        max_examples=5,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(rows(*suites))
    def law(drawn: Sequence[Mapping[str, Any]]) -> None:
        scopes = tuple(str(number) for number in range(len(drawn)))
        held = table(
            suites,
            [{**row, "scope": scope} for row, scope in zip(drawn, scopes, strict=True)],
        )
        on_spark = spark.createDataFrame(held).coalesce(1)
        results = run_checks([Check(suites, held, scopes), Check(suites, on_spark, scopes)])
        half = len(results) // 2
        assert results[:half] == results[half:]

    law()
