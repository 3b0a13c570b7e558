"""Where the whole graph is read instead of the neighbourhood of the changes."""

from __future__ import annotations

import pytest

from weir.engine.thresholds import Thresholds, reason_for_whole
from weir.settings import Limits


def thresholds(quads: int, **limits: float) -> Thresholds:
    """Those of the settings for a graph of so many quads, or other ones."""
    defaults = Limits()
    return Thresholds(
        quads=quads,
        bulk_share=limits.get("bulk_share", defaults.bulk_share),
        bulk_quads=int(limits.get("bulk_quads", defaults.bulk_quads)),
        neighbourhood_rows=defaults.neighbourhood_rows,
        small_rows=defaults.driver_rows,
    )


@pytest.mark.parametrize(
    ("changes", "quads", "whole"),
    [
        (3_000, 100_000, False),
        (3_001, 100_000, True),
        (1, 99_999, True),
        (0, 99_999, True),
        (300_000, 10_000_000, False),
        (300_001, 10_000_000, True),
    ],
)
def test_more_than_three_hundredths_of_the_quads_or_a_small_graph_is_read_wholly(
    changes: int, quads: int, whole: bool
) -> None:
    assert (reason_for_whole(changes, thresholds(quads)) is not None) is whole


def test_without_a_least_size_only_the_share_decides() -> None:
    assert reason_for_whole(0, thresholds(0, bulk_quads=0)) is None
    assert reason_for_whole(1, thresholds(0, bulk_quads=0)) is not None
    assert reason_for_whole(7, thresholds(7, bulk_quads=0, bulk_share=1)) is None


def test_the_reason_names_the_setting_that_decided() -> None:
    small = "the 5 quads of the graph are fewer than bulk_quads = 100000"
    assert reason_for_whole(1, thresholds(5)) == small
    many = "6,001 changes are over bulk_share = 0.03 of the 200,000 quads of the graph"
    assert reason_for_whole(6_001, thresholds(200_000)) == many
