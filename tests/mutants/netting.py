"""The mutants of how changes are netted, and of which files a filter on small tables skips."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

_VERSIONS = ("tests/ingest/test_snapshots.py",)
_READS = ("tests/lake/test_parquet_files.py",)
NETTING_MUTANTS = (
    Mutant(
        "a quad of both versions appears again",
        "ingest/netting",
        'alias(sum_of(earlier) > number(0), "before")',
        'alias(exp.false(), "before")',
    ),
    Mutant(
        "a quad that vanished is taken to be there",
        "ingest/netting",
        'alias(sum_of(earlier) > number(0), "before")',
        'alias(exp.Min(this=column("version")).eq(number(0)), "before")',
    ),
    Mutant(
        "two graphs are taken to be one",
        "ingest/graph_target",
        "len(engine.rows(one_or_more)) < 2",
        "len(engine.rows(one_or_more)) < 3",
        tests=_VERSIONS,
    ),
    Mutant(
        "changes are not netted that come with versions",
        "ingest/graph_target",
        "if states and not plain:",
        "if states:",
        tests=_VERSIONS,
    ),
    Mutant(
        "what held before a batch of one epoch is not known",
        "ingest/netting",
        'before = column("held") if is_one_epoch',
        "before = exp.false() if is_one_epoch",
    ),
    Mutant(
        "some epochs are taken to be one",
        "ingest/netting",
        "if len(different) == 1",
        "if different",
    ),
    Mutant(
        "what another graph had before appears again",
        "engine/sweep",
        'alias(sum_of(earlier), "before")',
        'alias(small_number(0), "before")',
    ),
    Mutant(
        "a filter skips the file whose greatest number it names",
        "delta/datasets",
        "field <= most",
        "field < most",
        package="lake",
        tests=_READS,
    ),
    Mutant(
        "a filter skips no file",
        "delta/datasets",
        "if name in schema.names and",
        "if False and",
        package="lake",
        tests=_READS,
    ),
)
