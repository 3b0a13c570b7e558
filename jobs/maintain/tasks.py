"""What is to be done for each registered query, decided from watermarks and fingerprints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from jobs.catalog.maintained import Maintained
from jobs.plan.plan import Plan
from jobs.progress.verdicts import Verdict, verdicts
from jobs.progress.watermarks import Mark, mark, untouched
from lake.consolidated import consolidated_until
from lake.lake import Lake
from lake.tables import QUADS, TRIPLES, embeddings

JOB: Literal["maintain"] = "maintain"
MAX_ROWS_CHECK = frozenset({"row_count_is_within_max_rows", "the_answer_is_not_too_large"})
"""The check of the limit `max_rows`, not of the stored state: its name, and that in old ledgers."""
Mode = Literal["initial", "incremental", "full", "migrated", "rebased", "untouched"]


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be done for one query.

    `collapsed` takes the state at the newest epoch as one delta; `after` is where the query stands.
    """

    query: Maintained
    plan: Plan
    mode: Mode
    reason: str
    after: int
    collapsed: bool
    mark: Mark | None

    @property
    def from_nothing(self) -> bool:
        """Whether no stored state is used."""
        return self.collapsed or self.after == 0


def tasks_behind(lake: Lake, queries: Iterable[Maintained], last: int) -> list[Task]:
    """What is to be done for the queries that are behind."""
    skipped, judged = untouched(lake, JOB), verdicts(lake)
    states_until = max(consolidated_until(lake, log.name) for log in (QUADS, TRIPLES))
    tasks = []
    for query in queries:
        plan = query.plan
        table = embeddings(query.name, plan.width).name
        found = mark(lake, table, JOB, skipped.get(query.name, ()))
        task = _task(query, plan, found, judged.get(query.name), states_until)
        if task.after < last or (task.mode in {"migrated", "rebased"} and last > 0):
            tasks.append(task)
    return tasks


def _task(
    query: Maintained,
    plan: Plan,
    found: Mark | None,
    verdict: Verdict | None,
    states_until: int,
) -> Task:
    if found is None:
        if query.history == "full":
            reason = "new, with its full history"
            if states_until:
                reason += f" from epoch {states_until} on: the logs tell no changes before it"
            return Task(query, plan, "initial", reason, 0, False, None)
        return Task(query, plan, "initial", "new", 0, True, None)
    if found.metadata.fingerprint != query.fingerprint:
        reason = "the query was edited since epoch " + str(found.watermark)
        return Task(query, plan, "migrated", reason, found.watermark, True, found)
    if verdict is not None and _is_broken(found, verdict):
        reason = f"the stored state failed its check: {verdict.reason}"
        return Task(query, plan, "rebased", reason, found.watermark, True, found)
    if found.watermark < states_until:
        reason = f"the logs tell no changes before epoch {states_until} any more"
        return Task(query, plan, "rebased", reason, found.watermark, True, found)
    return Task(query, plan, "incremental", _whole_reads(plan), found.watermark, False, found)


def _whole_reads(plan: Plan) -> str:
    """What a run has to record of a plan whose cost does not follow the changes alone."""
    nodes = ", ".join(plan.ids[node] for node in plan.whole_reads)
    return f"looks at all stored rows below {nodes} (`weir explain`)" if nodes else ""


def _is_broken(found: Mark, verdict: Verdict) -> bool:
    """Whether a check of the newest commit says that the stored state is wrong.

    An answer that is only larger than its limit is right; and a state that was made anew and fails
    again would fail for ever.
    """
    is_about_this = verdict.version == found.version and not verdict.success
    failed = {part.split(" ")[0] for part in verdict.reason.split("; ")}
    return is_about_this and found.metadata.mode != "rebased" and not failed <= MAX_ROWS_CHECK


def groups(tasks: Iterable[Task]) -> list[list[Task]]:
    """Tasks that read the same range share a neighbourhood."""
    groups: dict[tuple[int, bool], list[Task]] = {}
    for task in tasks:
        groups.setdefault((0 if task.collapsed else task.after, task.collapsed), []).append(task)
    return list(groups.values())
