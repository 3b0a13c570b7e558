"""What is to be checked, and why something may not be published: what all stages ask.

An answer that is published is checked, too, if the checks that a project writes are other ones than
those of its verdict. If it fails, it stays as it is, and nothing more is published of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from weir.progress.backlog import Backlog
from weir.progress.completion import Completion
from weir.progress.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Held:
    """Why rows may not be published.

    Attributes:
        reason: in words.
        has_failed: whether a check failed; if not, the rows, or the graph that they come from, were
            not checked yet, which the next run does.
    """

    reason: str
    has_failed: bool


def needs_checks(completion: Completion, work: Backlog, checks: Mapping[str, str]) -> bool:
    """Whether an answer has not passed the checks that there are now.

    Args:
        completion: of the lake.
        work: what a definition has to publish, or the answer that it has published.
        checks: the fingerprints of the checks that the project writes, of answers that have any.
    """
    verdict = _verdict(completion, work)
    if verdict is None:
        return work.has_rows or work.query in checks
    return not verdict.success or verdict.checks != checks.get(work.query)


def why_held(completion: Completion, work: Backlog, checks: Mapping[str, str]) -> Held | None:
    """Why nothing of an answer may be published; None if it may. Arguments as of `needs_checks`."""
    held = _by_verdicts(completion, work)
    if held is None and needs_checks(completion, work, checks):
        what = "its rows have" if work.has_rows else "it has"
        by = "" if _verdict(completion, work) is None else " by the checks that there are now"
        return Held(f"{what} not been checked{by} yet", False)
    return held


def held_reasons(completion: Completion, answers: Iterable[Backlog]) -> dict[str, str]:
    """By query: which checks of its answer, or of the graph that it comes from, failed."""
    held = {work.query: _by_verdicts(completion, work) for work in answers}
    return {query: why.reason for query, why in held.items() if why is not None and why.has_failed}


def _by_verdicts(completion: Completion, work: Backlog) -> Held | None:
    verdict = _verdict(completion, work)
    if verdict is not None and not verdict.success:
        return Held(verdict.reason, True)
    graph_to, failure = completion.graph_validated_to, completion.graph_failure
    if graph_to < work.to_epoch:
        reason = f"the checks of the graph have not succeeded after epoch {graph_to}"
        return Held(reason if failure is None else f"{reason}: {failure}", failure is not None)
    return None


def _verdict(completion: Completion, work: Backlog) -> Verdict | None:
    """The result of the checks of exactly these rows; None if they were not checked.

    Of an answer without new rows, it is the last one.
    """
    verdict = completion.verdicts.get(work.query)
    return verdict if verdict is not None and verdict.is_about(work) else None
