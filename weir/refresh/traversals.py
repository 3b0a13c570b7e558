"""Refresh of traversals: follow links from their seeds, each within its budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from weir.errors import WeirError
from weir.lake.counted import counted
from weir.lake.instants import microseconds, time_at
from weir.project import Project
from weir.refresh.seeds import matches_for, seeds_of
from weir.remotes.freshness_log import complete_freshness, record_freshness, worst_row
from weir.remotes.inbox import JOB
from weir.remotes.request_log import EvaluationLog
from weir.remotes.schedule import evaluation_at, following
from weir.stage import Progress, claimed
from weir.traversals.declarations import Declared
from weir.traversals.evaluation import TraversalEvaluation
from weir.traversals.inbox import DocumentMark, document_inbox
from weir.traversals.reading import ReadingOptions
from weir.traversals.rules import Rules

if TYPE_CHECKING:
    from weir.refresh.stage import Surroundings


@dataclass(frozen=True, slots=True)
class RefreshedTraversal:
    """What came of a traversal.

    Attributes:
        traversal: its name.
        mark: its newest round; None before the first one.
        is_new: whether this run made it.
        next_at: when it is evaluated next.
        outcomes: of the pages that the evaluation asked for, by outcome, their number.
        error: why it was not evaluated.
    """

    traversal: str
    mark: DocumentMark | None
    is_new: bool
    next_at: datetime | None = None
    outcomes: tuple[tuple[str, int], ...] = ()
    error: WeirError | None = None

    @property
    def name(self) -> str:
        """Its name."""
        return self.traversal

    @property
    def worst(self) -> Mapping[str, Any] | None:
        """The row of `freshness` whose state is the worst; None before the first evaluation."""
        return worst_row(self.mark.rows if self.mark else ())

    @property
    def asked(self) -> int:
        """How many pages the evaluation asked for."""
        return sum(number for _, number in self.outcomes)

    @property
    def row(self) -> dict[str, Any]:
        """What is shown of it; its keys are columns."""
        mark = self.mark
        outcomes = dict(self.outcomes)
        outcome = "failed" if self.error else "evaluated" if self.is_new else "not due"
        return {
            "traversal": self.traversal,
            "outcome": outcome,
            "evaluation": None if mark is None else time_at(mark.evaluation),
            "round": None if mark is None else mark.round,
            "documents": None if mark is None else mark.documents,
            "asked": self.asked if self.is_new else None,
            **{name: outcomes.get(name, 0) if self.is_new else None for name in _SHOWN},
            "stop": None if mark is None else mark.stop,
            "not_fetched": None if mark is None else sum(mark.not_fetched.values()),
            "next_at": self.next_at,
        }


_SHOWN = ("new", "changed", "gone", "failed")


def refresh_traversal(
    project: Project,
    run_id: str,
    progress: Progress,
    declared: Declared,
    around: Surroundings,
) -> RefreshedTraversal:
    """Evaluate a traversal if it is due.

    Raises:
        BusyError: another run evaluates it.
        ConfigurationError: it has no seed, or its connection or a query is not there.
    """
    lake, settings, own = project.open_lake(), project.settings, declared.traversal
    with claimed(lake, JOB, run_id, settings.limits.lease_seconds, of=own.name) as run:
        last = document_inbox(own.name).last(lake)
        mark = last.mark if last else None
        if mark is not None and mark.is_last:
            # A run that was killed may have left the evaluation without its rows.
            complete_freshness(lake, own.name, mark, run_id)
        evaluation = evaluation_at(own, mark, around.clock.now())
        next_at = following(own, evaluation)
        if mark is not None and mark.is_last and mark.evaluation == microseconds(evaluation):
            progress(f"{own.name}: evaluated for {evaluation:%H:%M:%S}, next {next_at:%H:%M:%S}")
            return RefreshedTraversal(own.name, mark, False, next_at)
        matches = matches_for(project, declared)
        rules, seeds = declared.rules(matches), seeds_of(project, lake, declared, matches)
        if seeds is None:
            progress(f"{own.name}: its seeds wait for the first answer of {own.seed_query}")
            return RefreshedTraversal(own.name, mark, False)
        version = mark.requests_version if mark and mark.is_last else -1
        log = EvaluationLog.since(lake, own.name, evaluation, run_id, around.clock.now, version)
        progress(f"{own.name}: following links from {counted(len(seeds), 'seed')}")
        reading = _reading(declared, rules)
        with around.following_links(own, reading, seeds, settings.cache) as fetch:
            made = TraversalEvaluation(
                declared, rules, seeds, lake, log, fetch, around.clock.now, progress
            )
            mark = made.run()
            record_freshness(lake, own.name, mark, run_id)
        outcomes = Counter(made.asked.values())
        run.totals |= {
            "rows_in": outcomes.total(),
            "rows_out": sum(outcomes[name] for name in ("new", "changed", "moved", "gone")),
        }
        refreshed = RefreshedTraversal(
            own.name, mark, True, next_at, tuple(sorted(outcomes.items()))
        )
        progress(_summary(refreshed))
        return refreshed


def _reading(declared: Declared, rules: Rules) -> ReadingOptions:
    traversal = declared.traversal
    return ReadingOptions(
        traversal.name,
        rules,
        traversal.statements == "authoritative",
        frozenset(f"<{predicate}>" for predicate in traversal.ignore),
        declared.hints(),
        "html" in traversal.formats,
        {iri: str(file) for iri, file in traversal.contexts.items()},
    )


def _summary(refreshed: RefreshedTraversal) -> str:
    mark = refreshed.mark
    assert mark is not None, "it was evaluated"
    counts = ", ".join(f"{number:,} {word}" for word, number in refreshed.outcomes)
    left = sum(mark.not_fetched.values())
    more = f"; {left:,} not fetched" if left else ""
    return f"{refreshed.traversal}: {counted(mark.documents, 'document')} ({counts}){more}"
