"""Check the rounds of remotes that are new, and how fresh every replica is now; no Spark.

The rounds of a remote are checked once: they do not change. How far they were checked is remembered
by a row of the ledger about the remote, so a check costs as much as there is new. How fresh a
replica is depends on the time, so that is checked by every run, whether it was refreshed or not. A
failed check makes the run fail; it holds no answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from weir.compute.connection import connect
from weir.errors import QualityError
from weir.expectations.freshness import CURRENT_FRESHNESS_SUITE
from weir.expectations.run import Check, run_checks
from weir.expectations.suite import QualityResult
from weir.lake.counted import counted
from weir.lake.delta.bindings import Bindings
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.ledger.runs import FAILED, SUCCEEDED
from weir.lake.tables import QUALITY, SERVICES
from weir.project import Project
from weir.refresh.current import declared, states_of
from weir.remotes.checks.frames import current_frame, frames
from weir.remotes.checks.rounds import (
    JOB,
    CheckedRounds,
    NewRounds,
    RoundsOf,
    checked_rounds,
    new_rounds,
    remembered,
    runs_that_died,
    tables_of,
)
from weir.remotes.current import rows_of
from weir.remotes.declarations import Remote
from weir.remotes.freshness import RemoteState
from weir.settings import Settings
from weir.stage import Progress, claimed, silent
from weir.traversals.checked import rounds_of
from weir.traversals.declarations import Traversal
from weir.validate.quality_results import quality_rows


@dataclass(frozen=True, slots=True)
class FreshnessResult:
    """What was checked; nothing if nothing is declared."""

    states: tuple[RemoteState, ...] = ()
    results: tuple[QualityResult, ...] = ()


def check_freshness(
    project: Project,
    run_id: str,
    progress: Progress = silent,
    *,
    now: datetime | None = None,
) -> FreshnessResult:
    """Check the new rounds of every declared remote and traversal, and how fresh it is.

    Args:
        project: whose remotes are checked.
        run_id: of this run; a retry of a task has that of its first attempt.
        progress: receives lines.
        now: the time at which freshness is checked, by default the clock's.

    Raises:
        BusyError: another run checks.
        ConfigurationError: remotes.yml or traversals.yml is wrong, or there is no folder of
            queries.
        QualityError: a check failed, or a replica is too old.
    """
    settings = project.settings
    owners = declared(settings)
    if not owners:
        return FreshnessResult()
    lake = project.open_lake()
    with claimed(lake, JOB, run_id, settings.limits.lease_seconds) as run:
        at = now or datetime.now(UTC)
        progress(f"checking what is new of {counted(len(owners), 'remote')}")
        before = checked_rounds(lake, run_id)
        rounds = [
            new_rounds(lake, _rounds_of(owner), before.get(owner.name, CheckedRounds()))
            for owner in owners
        ]
        states = states_of(
            settings, lake, [(own, new.newest) for own, new in zip(owners, rounds, strict=True)], at
        )
        results = _checked(settings, lake, rounds, states)
        number = sum(new.number for new in rounds)
        progress(f"checked {counted(number, 'round')} of {counted(len(owners), 'remote')}")
        extra = {new.of.remote.name: remembered(new.before, new.after) for new in rounds}
        metadata = Metadata(run_id, JOB, watermark=0, extra=extra)
        rows = quality_rows(run_id, datetime.now(UTC), results)
        version = write(lake, QUALITY, rows, metadata)
        run.totals["rows_in"] = number
        failures = {state.remote.name: _failures(results, state) for state in states}
        for new in rounds:
            failed = failures[new.of.remote.name]
            run.report(
                new.of.remote.name,
                status=FAILED if failed else SUCCEEDED,
                reason=failed or None,
                rows_in=new.number,
                table_version=version,
                commit_metadata=metadata.to_json(),
            )
        _raise_for(settings, states, failures)
    return FreshnessResult(tuple(states), results)


def _rounds_of(owner: Remote | Traversal) -> RoundsOf:
    return rounds_of(owner) if isinstance(owner, Traversal) else RoundsOf.of(owner)


def _checked(
    settings: Settings, lake: Lake, rounds: Sequence[NewRounds], states: Sequence[RemoteState]
) -> tuple[QualityResult, ...]:
    """The results of all suites over what is new, and over the states."""
    names = tuple(state.remote.name for state in states)
    tables = tables_of(rounds) | {
        "services": rows_of(lake, SERVICES),
        "dead_runs": runs_that_died(lake, rounds),
    }
    with connect(settings) as connection:
        made = frames(Bindings(connection), tables)
    made.append((CURRENT_FRESHNESS_SUITE, current_frame(states)))
    return run_checks([Check((suite,), rows, names) for suite, rows in made])


def _failures(results: Sequence[QualityResult], state: RemoteState) -> str:
    """What is wrong with a remote, in one sentence: what did not hold, else its state."""
    failed = "; ".join(
        result.failure
        for result in results
        if result.scope == state.remote.name and not result.success
    )
    return failed or (state.reason if state.state == "error" else "")


def _raise_for(
    settings: Settings, states: Sequence[RemoteState], failures: Mapping[str, str]
) -> None:
    failed = [f"{name}: {what}" for name, what in failures.items() if what]
    if not failed:
        return
    errors = (state for state in states if state.state == "error")
    reasons = [f"{state.remote.name}: {state.reason}." for state in errors]
    raise QualityError(
        f"checks of remotes failed, which hold no answer: {'; '.join(failed)}.",
        settings.lake,
        " ".join(
            [
                *reasons,
                "`weir freshness` shows every remote;"
                ' `weir sql "SELECT * FROM quality WHERE NOT success"` has examples.',
            ]
        ),
    )
