"""Check the rounds of remotes that are new, and how fresh every replica is now; no Spark.

The rounds of a remote are checked once: they do not change. How far they were checked is remembered
by a row of the ledger about the remote, so a check costs as much as there is new. How fresh a
replica is depends on the time, so that is checked by every run, whether it was refreshed or not. A
failed check makes the run fail; it holds no answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import pyarrow as pa

from weir.compute.connection import connect
from weir.errors import QualityError
from weir.expectations.freshness import CURRENT_FRESHNESS_SUITE
from weir.expectations.run import Check, run_checks
from weir.expectations.suite import QualityResult
from weir.freshness.checked_rounds import JOB, CheckedRounds, checked_rounds, remembered
from weir.freshness.current import asking_names
from weir.freshness.frames import current_frame, frames
from weir.freshness.new_rounds import RemoteRounds, new_rounds, runs_that_died, tables_of
from weir.freshness.reading import services_of
from weir.freshness.remote_state import RemoteState, remote_state
from weir.freshness.written_page import write_page
from weir.lake.counted import counted
from weir.lake.delta.bindings import Bindings
from weir.lake.delta.commit import arrow_schema, write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.ledger.runs import FAILED, SUCCEEDED
from weir.lake.tables import QUALITY, SERVICES
from weir.project import Project
from weir.remotes.declarations import Remote, load_remotes
from weir.remotes.renamed import why_not_stored
from weir.settings import Settings
from weir.stage import Progress, claimed, silent
from weir.validate.quality_results import quality_rows


@dataclass(frozen=True, slots=True)
class FreshnessResult:
    """What was checked; nothing if no remote is declared."""

    states: tuple[RemoteState, ...] = ()
    results: tuple[QualityResult, ...] = ()


def check_freshness(
    project: Project,
    run_id: str,
    progress: Progress = silent,
    *,
    now: datetime | None = None,
) -> FreshnessResult:
    """Check the new rounds of every declared remote, and its freshness.

    Args:
        project: whose remotes are checked.
        run_id: of this run; a retry of a task has that of its first attempt.
        progress: receives lines.
        now: the time at which freshness is checked, by default the clock's.

    Raises:
        BusyError: another run checks.
        ConfigurationError: remotes.yml is wrong, or there is no folder of queries.
        QualityError: a check failed, or a replica is too old.
    """
    settings = project.settings
    remotes = [*load_remotes(settings.remotes).values()]
    if not remotes:
        return FreshnessResult()
    lake = project.open_lake()
    with claimed(lake, JOB, run_id, settings.limits.lease_seconds) as run:
        at = now or datetime.now(UTC)
        progress(f"checking what is new of {counted(len(remotes), 'remote')}")
        checked = _Checked.of(settings, lake, run_id, remotes, at)
        rounds = sum(each.after.round - each.before.round for each in checked.rounds)
        progress(f"checked {counted(rounds, 'round')} of {counted(len(remotes), 'remote')}")
        extra = {each.remote.name: remembered(each.before, each.after) for each in checked.rounds}
        metadata = Metadata(run_id, JOB, watermark=0, extra=extra)
        rows = quality_rows(run_id, datetime.now(UTC), checked.results)
        version = write(lake, QUALITY, rows, metadata)
        run.totals["rows_in"] = rounds
        for each, state in zip(checked.rounds, checked.states, strict=True):
            name = each.remote.name
            failures = _failures(checked.results, state)
            run.report(
                name,
                status=FAILED if failures else SUCCEEDED,
                reason=failures or None,
                rows_in=each.after.round - each.before.round,
                table_version=version,
                commit_metadata=metadata.to_json(),
            )
        write_page(settings, checked.states, at)
        _raise_for(settings, checked)
    return FreshnessResult(checked.states, checked.results)


@dataclass(frozen=True, slots=True)
class _Checked:
    """What was found of all remotes."""

    rounds: tuple[RemoteRounds, ...]
    states: tuple[RemoteState, ...]
    results: tuple[QualityResult, ...]

    @classmethod
    def of(
        cls,
        settings: Settings,
        lake: Lake,
        run_id: str,
        remotes: Sequence[Remote],
        now: datetime,
    ) -> _Checked:
        """Read and check what is new."""
        before, services = checked_rounds(lake, run_id), services_of(lake)
        asking = asking_names(settings)
        rounds = tuple(
            new_rounds(lake, each, before.get(each.name, CheckedRounds())) for each in remotes
        )
        states = tuple(
            remote_state(
                each.remote,
                each.newest,
                services,
                asking,
                why_not_stored(lake, each.remote, services),
                now,
            )
            for each in rounds
        )
        tables = tables_of(rounds) | {
            "services": pa.Table.from_pylist(services, schema=arrow_schema(SERVICES)),
            "dead_runs": runs_that_died(lake, rounds),
        }
        names = tuple(each.name for each in remotes)
        with connect(settings) as connection:
            made = frames(Bindings(connection), tables)
        checks = [Check((suite,), rows, names) for suite, rows in made]
        checks.append(Check((CURRENT_FRESHNESS_SUITE,), current_frame(states), names))
        return cls(rounds, states, run_checks(checks))


def _failures(results: Sequence[QualityResult], state: RemoteState) -> str:
    """What is wrong with a remote, in one sentence: what did not hold, else its state."""
    failed = "; ".join(
        each.failure for each in results if each.scope == state.remote.name and not each.success
    )
    return failed or (state.reason if state.state == "error" else "")


def _raise_for(settings: Settings, checked: _Checked) -> None:
    failures = {state.remote.name: _failures(checked.results, state) for state in checked.states}
    failed = [f"{name}: {what}" for name, what in failures.items() if what]
    if not failed:
        return
    errors = (state for state in checked.states if state.state == "error")
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
