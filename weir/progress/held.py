"""Which rows are to be checked, and why others may not be published: what all stages ask."""

from __future__ import annotations

from collections.abc import Iterable
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


def needs_checks(completion: Completion, work: Backlog) -> bool:
    """Whether a definition has rows to publish that have not passed the checks."""
    verdict = _verdict(completion, work)
    return work.has_rows and not (verdict is not None and verdict.success)


def why_held(completion: Completion, work: Backlog) -> Held | None:
    """Why what a definition has to publish may not be published; None if it may."""
    verdict = _verdict(completion, work)
    if verdict is not None and not verdict.success:
        return Held(verdict.reason, True)
    graph_to, failure = completion.graph_validated_to, completion.graph_failure
    if graph_to < work.to_epoch:
        reason = f"the checks of the graph have not succeeded after epoch {graph_to}"
        return Held(reason if failure is None else f"{reason}: {failure}", failure is not None)
    if needs_checks(completion, work):
        return Held("its rows have not been checked yet", False)
    return None


def held_reasons(completion: Completion, backlog: Iterable[Backlog]) -> dict[str, str]:
    """By query: which checks of its rows, or of the graph that they come from, failed."""
    held = {work.query: why_held(completion, work) for work in backlog}
    return {query: why.reason for query, why in held.items() if why is not None and why.has_failed}


def _verdict(completion: Completion, work: Backlog) -> Verdict | None:
    """The result of the checks of exactly these rows; None if they were not checked."""
    verdict = completion.verdicts.get(work.query)
    return verdict if verdict is not None and verdict.is_about(work) else None
