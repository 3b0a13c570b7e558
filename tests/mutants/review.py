"""The mutants of tests of queries, and of events of lineage."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

_TOGETHER = ("tests/review/test_given_epochs.py",)
_EVENTS = ("tests/artifacts/test_openlineage.py",)
REVIEW_MUTANTS = (
    Mutant(
        "the answer over a graph of many has what later graphs add",
        "review/given_data",
        'of_answer &= pc.field("epoch") <= epoch',
        'of_answer &= pc.field("epoch") > 0',
        tests=_TOGETHER,
    ),
    Mutant(
        "the first graph of many has the state at the newest",
        "review/computed",
        "if every_epoch or definition.has_full_history:",
        "if definition.has_full_history:",
        tests=_TOGETHER,
    ),
    Mutant(
        "a graph without quads is not taken among many",
        "review/given_epochs",
        '"allow_empty": True,',
        '"allow_empty": False,',
        tests=_TOGETHER,
    ),
    Mutant(
        "a facet has a key that is misspelt",
        "lineage/facets",
        "datasetVersion=str(number)",
        "datasetVersions=str(number)",
        tests=_EVENTS,
    ),
    Mutant(
        "a facet has another version than its schema",
        "lineage/facets",
        "1-0-2/OutputStatisticsOutputDatasetFacet",
        "1-0-0/OutputStatisticsOutputDatasetFacet",
        tests=_EVENTS,
    ),
)
