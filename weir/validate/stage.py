"""Check the rows that are not published yet: those of the graph and those of every query.

An answer that is published is checked again if the checks that the project writes of it are other
ones than before, and as long as it fails them.

A verdict is a row of the ledger (job `validate`). That of a query names the version of the
embedding table and the range of epochs that were checked, and by which checks of the project. That
of the graph is the `to_epoch` of the row about the whole run. `publish_answers` publishes only what
has a verdict with the status `succeeded`. A run that dies before it wrote the ledger has validated
nothing; the next one checks again.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from weir.compute.engine import Engine
from weir.definitions.catalog import Catalog
from weir.definitions.checks import DeclaredChecks, declared_checks
from weir.errors import ConfigurationError, QualityError, listed
from weir.ingest.sources.declared import load_sources
from weir.lake.counted import counted
from weir.lake.lake import Lake
from weir.lake.ledger.runs import FAILED, SUCCEEDED
from weir.lake.tables import QUADS
from weir.lake.upkeep.consolidated import consolidated_until
from weir.progress.backlog import Backlog
from weir.progress.completion import Completion
from weir.progress.held import needs_checks
from weir.progress.streams import stream_names
from weir.progress.verdicts import WARNED, Verdict, can_be_accepted
from weir.project import Project
from weir.settings import Settings
from weir.stage import Progress, StageResult, claimed, silent
from weir.validate.answer_rows import AnswerRules, Checked
from weir.validate.quality_results import record_results
from weir.validate.stream_rows import checked_streams
from weir.validate.validation import Validation, validate_graph, validate_queries
from weir.validate.value_types import type_results

if TYPE_CHECKING:  # most projects have no checks of their own
    from weir.validate.own_checks import CheckedAnswer

JOB: Literal["validate"] = "validate"


@dataclass(frozen=True, slots=True)
class ValidateResult(StageResult):
    """The results of the checks; empty if there was nothing to check.

    Attributes:
        validations: of the graph and of answers.
        not_accepted: answers that were to be accepted and are still held.
    """

    validations: tuple[Validation, ...] = ()
    not_accepted: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """How many checks passed and failed."""
        if not self.validations:
            return "nothing to check"
        results = [result for validation in self.validations for result in validation.results]
        passed = sum(result.success for result in results)
        failed = sum(not result.may_pass for result in results)
        warned = len(results) - passed - failed
        parts = [f"{counted(passed, 'check')} passed"]
        parts += [f"{failed:,} failed"] if failed else []
        parts += [f"{warned:,} warned"] if warned else []
        return ", ".join(parts)

    @property
    def warnings(self) -> Sequence[str]:
        """Which answers are still held though they were to be accepted, and why."""
        return [
            f"{name} is not accepted: only what its guards or limits of changes hold can be, and"
            " only with the figures with which it was held"
            for name in self.not_accepted
        ]

    @property
    def did_something(self) -> bool:
        """Whether a check passed."""
        return any(validation.success for validation in self.validations)


def validate_answers(
    project: Project,
    run_id: str,
    progress: Progress = silent,
    accept: Collection[str] = (),
) -> ValidateResult:
    """Run the suites on the graph's new epochs and on every query's unpublished rows.

    Args:
        project: whose rows are checked.
        run_id: of the run.
        progress: receives a line per step.
        accept: queries whose answer may be beyond its guards, if it is held for that reason with
            the same figures.

    Raises:
        BusyError: another run validates.
        QualityError: a check failed; the verdicts of all others are recorded.
        ConfigurationError: a file of checks is wrong, and not known to be about an answer; all
            others were checked.
    """
    lake, settings = project.open_lake(), project.settings
    catalog = Catalog.of(settings)
    declared = declared_checks(settings.expectations, catalog)
    before = Completion.read(lake)
    if not (
        before.graph_validated_to < before.head
        or declared.of_nothing
        or _not_validated(before, catalog, declared)
    ):
        return ValidateResult()
    started = time.monotonic()
    with claimed(lake, JOB, run_id, settings.limits.lease_seconds) as run:
        completion = Completion.read(lake)
        graph_from, graph_to = completion.graph_validated_to, completion.head
        # The changes of consolidated epochs are gone and cannot be checked.
        graph_from = max(graph_from, consolidated_until(lake, QUADS.name))
        work = _not_validated(completion, catalog, declared)
        run.totals |= {"from_epoch": graph_from, "to_epoch": graph_from}
        if not work and graph_from >= graph_to:
            _raise_for(ValidateResult(), (), declared)
            return ValidateResult()
        with project.engine(JOB) as engine, ThreadPoolExecutor(1) as beside:
            of_graph: list[Future[Validation]] = []
            if graph_to > graph_from:
                progress(f"checking the graph, epochs {graph_from + 1}..{graph_to}")
                shares = _max_late_shares(settings, lake)
                streams = checked_streams(lake, graph_from, graph_to, shares)
                check = beside.submit(validate_graph, engine, graph_from, graph_to, streams)
                of_graph.append(check)
            if work:
                progress(f"checking {counted(len(work), 'answer')}")
            answers = validate_queries(engine, work, settings.limits.parallel_queries)
            checked = {item.query: (catalog.member(item.query), item) for item, _ in work}
            fit = type_results(engine, completion, checked, settings.limits)
            items = [item for item, _ in work]
            own = _own_results(engine, completion, catalog, declared, items)
            graph = [check.result() for check in of_graph]
        answers = [
            validation.with_results(
                [
                    fit.get(validation.scope),
                    *(own[validation.scope].results if validation.scope in own else ()),
                ]
            )
            for validation in answers
        ]
        result = ValidateResult((*graph, *answers))
        record_results(lake, run_id, result.validations)
        if all(validation.success for validation in graph):
            run.totals["to_epoch"] = max(graph_from, graph_to)
        accepted = {
            validation.scope
            for validation in answers
            if validation.scope in accept
            and _is_as_held(validation, completion.verdicts.get(validation.scope))
        }
        for (item, _), validation in zip(work, answers, strict=True):
            is_accepted = item.query in accepted
            if validation.warnings:
                progress(f"{item.query}: warning: {validation.warnings}")
            run.report(
                item.query,
                status=SUCCEEDED if validation.success or is_accepted else FAILED,
                mode=item.mode,
                reason=_reason(validation, is_accepted=is_accepted),
                from_epoch=item.from_epoch,
                to_epoch=item.to_epoch,
                seconds=time.monotonic() - started,
                table_version=item.maintained.version,
                checked_run=item.maintained.metadata.run_id,
                passed_checks=own[item.query].passed.to_json() if item.query in own else None,
                checks=declared.fingerprints.get(item.query),
            )
        progress(result.summary)
        held = (v.scope for v in answers if not v.success and v.scope not in accepted)
        result = replace(result, not_accepted=tuple(name for name in held if name in accept))
        _raise_for(result, accepted, declared)
    return result


def _own_results(
    engine: Engine,
    completion: Completion,
    catalog: Catalog,
    declared: DeclaredChecks,
    work: Sequence[Backlog],
) -> Mapping[str, CheckedAnswer]:
    """The results of the checks that the project writes, by query."""
    if not declared.of_answers:
        return {}
    from weir.validate.own_checks import OwnChecks

    return OwnChecks(engine, completion, catalog, declared.of_answers).results(work)


def _reason(validation: Validation, *, is_accepted: bool) -> str | None:
    """What the ledger says about a verdict."""
    if is_accepted:
        return f"accepted: {validation.failures}"
    if validation.failures or not validation.warnings:
        return validation.failures or None
    return f"{WARNED}{validation.warnings}"


def _is_as_held(validation: Validation, before: Verdict | None) -> bool:
    """Whether only guards failed, with the same figures as in the last run."""
    return (
        before is not None
        and before.reason == validation.failures
        and can_be_accepted(before.reason)
    )


def _max_late_shares(settings: Settings, lake: Lake) -> dict[str, float]:
    """The present `max_late_share` of each declared stream, by name.

    Raises:
        ConfigurationError: sources.yml is wrong.
    """
    if not stream_names(lake):
        return {}
    sources = load_sources(settings.sources)
    return {source.name: source.stream.max_late_share for source in sources if source.stream}


def _not_validated(
    completion: Completion, catalog: Catalog, declared: DeclaredChecks
) -> list[Checked]:
    """The answers that have not passed the present checks yet."""
    work: list[Checked] = []
    for item in completion.answers(catalog.names):
        if not (
            needs_checks(completion, item, declared.fingerprints) and catalog.is_usable(item.query)
        ):
            continue
        maintained, metadata = catalog.member(item.query), item.maintained.metadata
        # The rows are of an earlier text; maintain recomputes them first.
        if metadata.fingerprint != maintained.fingerprint:
            continue
        output = maintained.output
        is_set = bool(metadata.extra["is_set"])
        work.append((item, AnswerRules(output.form, is_set, output.guards)))
    return work


def _raise_for(result: ValidateResult, accepted: Collection[str], declared: DeclaredChecks) -> None:
    failed = [v for v in result.validations if not (v.success or v.scope in accepted)]
    if not failed:
        if declared.of_nothing:
            what = "checks cannot be read, and it is not known of which answers they are:"
            parts = map(str, declared.of_nothing)
            raise ConfigurationError(what, parts=parts, done=result)
        return
    raise QualityError(
        "checks failed, and what depends on them is not published:",
        "",
        '`weir sql "SELECT * FROM quality WHERE NOT success"` has examples. The next run checks'
        " again.",
        parts=[
            *listed((v.scope or "the graph", v.failures) for v in failed),
            *map(str, declared.of_nothing),
        ],
        done=result,
    )
