"""Writes the results of a validation to `quality`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from weir.expectations.suite import QualityResult
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import QUALITY
from weir.progress.observed import Observed
from weir.validate.validation import Validation


def record_results(
    lake: Lake,
    run_id: str,
    validations: Sequence[Validation],
    job: str = "validate",
) -> None:
    """Write results to `quality`.

    Args:
        lake: has the table.
        run_id: of the run.
        validations: the results.
        job: the job of the run.
    """
    now = datetime.now(UTC)
    rows = [
        {**row, "query": result.scope or None, "from_epoch": of.from_epoch, "to_epoch": of.to_epoch}
        for of in validations
        for result, row in zip(of.results, quality_rows(run_id, now, of.results), strict=True)
    ]
    to_epoch = max(validation.to_epoch for validation in validations)
    metadata = Metadata(run_id, job, watermark=to_epoch)
    write(lake, QUALITY, rows, metadata)


def quality_rows(
    run_id: str, at: datetime, results: Sequence[QualityResult]
) -> list[dict[str, Any]]:
    """The rows of `quality`, without query and epochs."""
    return [
        {
            "run_id": run_id,
            "table": f"{result.suite}/{result.scope}" if result.scope else result.suite,
            "expectation": result.expectation,
            "success": result.success,
            "observed": Observed(result.sentence, result.examples).to_json(),
            "unexpected_rows": result.unexpected_rows,
            "recorded_at": at,
        }
        for result in results
    ]
