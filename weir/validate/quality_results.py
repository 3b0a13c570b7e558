"""Writes the results of a validation to `quality` and to an HTML page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from weir.expectations.suite import QualityResult
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import QUALITY
from weir.pages.page import render
from weir.text.cells import cell_text
from weir.validate.validation import Validation

PAGE = "reports/quality.html"
"""The path of the page of the last results, below the lake's folder."""


def record_results(
    lake: Lake,
    run_id: str,
    validations: Sequence[Validation],
    job: str = "validate",
    page: str | None = PAGE,
) -> None:
    """Write results to `quality`, and to a page if the lake is a folder.

    Args:
        lake: has the table.
        run_id: of the run.
        validations: the results.
        job: the job of the run.
        page: the path of the page below the lake's folder; None for none.
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
    if page is not None:
        results = [result for validation in validations for result in validation.results]
        lake.storage.write(page, _quality_page(run_id, now, results))


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
            "observed": json.dumps({"sentence": result.sentence, "examples": result.examples}),
            "unexpected_rows": result.unexpected_rows,
            "recorded_at": at,
        }
        for result in results
    ]


def _quality_page(run_id: str, at: datetime, results: Sequence[QualityResult]) -> str:
    """The page: one table per suite and scope with each check, its result and unexpected rows."""
    failed = sum(not result.success for result in results)
    verdict = f"{failed} of {len(results)} failed" if failed else f"all {len(results)} passed"
    suites: dict[str, list[QualityResult]] = {}
    # Failed checks come first.
    for result in sorted(results, key=lambda result: result.success):
        name = f"{result.suite}: {result.scope}" if result.scope else result.suite
        suites.setdefault(name, []).append(result)
    return render(
        "quality.html",
        title=f"Data quality: {verdict}",
        subtitle=f"Run {run_id}, {cell_text(at)} UTC",
        suites=suites,
    )
