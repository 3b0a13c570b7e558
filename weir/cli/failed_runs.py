"""What `weir status` prints about a run that failed."""

from __future__ import annotations

from datetime import datetime

from weir.progress.completion import FailedRun


def failed_run_text(run: FailedRun) -> str:
    """A failed run in a sentence: what failed, when, why and what to do."""
    reason = " ".join(str(run.reason).split())
    return f"the last run of {run.job} failed at {_time(run.at)}: {reason}"


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"
