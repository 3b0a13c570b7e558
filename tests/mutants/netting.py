"""The mutants of how changes are netted, and of which files a filter on small tables skips."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

_READS = ("tests/lake/test_parquet_files.py",)
NETTING_MUTANTS = (
    Mutant(
        "a quad of both versions changes",
        "ingest/netting",
        'where=[column("oldest").eq(column("newest"))]',
        "where=[]",
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
