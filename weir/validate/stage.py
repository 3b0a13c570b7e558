"""Check the rows that are not published yet: those of the graph and those of every query.

A query's rows are validated by a row of the ledger (job `validate`, status `succeeded`) that names
the version of the embedding table whose rows were checked and their range of epochs; the graph's by
the `to_epoch` of the row about the run as a whole. `publish_answers` publishes nothing else. A run
that dies before it wrote the ledger has validated nothing, and checking again does no harm.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from weir.catalog.catalog import Catalog
from weir.errors import QualityError, listed
from weir.expectations.answers import too_many_rows
from weir.ingest.sources.declared import load_sources
from weir.lake.counted import counted
from weir.lake.lake import Lake
from weir.lake.ledger.runs import FAILED, SUCCEEDED
from weir.lake.tables import QUADS
from weir.lake.upkeep.consolidated import consolidated_until
from weir.progress.completion import Completion
from weir.progress.over_limit import OverLimit, over_limit
from weir.progress.streams import stream_names
from weir.progress.verdicts import Verdict, can_be_accepted
from weir.project import Project
from weir.settings import Settings
from weir.stage import Progress, StageResult, claimed, silent
from weir.validate.answer_rows import AnswerRules, Checked
from weir.validate.quality_results import record_results
from weir.validate.stream_rows import checked_streams
from weir.validate.validation import Validation, validate_graph, validate_queries

JOB: Literal["validate"] = "validate"


@dataclass(frozen=True, slots=True)
class ValidateResult(StageResult):
    """What was checked; nothing if there was nothing to check."""

    validations: tuple[Validation, ...] = ()

    @property
    def summary(self) -> str:
        """How many checks passed and failed."""
        if not self.validations:
            return "nothing to check"
        results = [result.success for each in self.validations for result in each.results]
        passed, failed = results.count(True), results.count(False)
        return f"{counted(passed, 'check')} passed" + (f", {failed:,} failed" if failed else "")

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
        accept: queries whose answer may be beyond its guards, if that is why it is held, and by the
            same figures.

    Raises:
        BusyError: another run validates.
        QualityError: a check failed; what passed is validated all the same.
    """
    lake, settings = project.open_lake(), project.settings
    catalog = Catalog.of(settings)
    before = Completion.read(lake)
    if not (
        before.graph_validated_to < before.head
        or _not_validated(before, catalog)
        or over_limit(before, catalog)
    ):
        return ValidateResult()
    started = time.monotonic()
    with claimed(lake, JOB, run_id, settings.limits.lease_seconds) as run:
        completion = Completion.read(lake)
        graph_from, graph_to = completion.graph_validated_to, completion.head
        # Of epochs that are a state only, the changes cannot be checked.
        graph_from = max(graph_from, consolidated_until(lake, QUADS.name))
        work = _not_validated(completion, catalog)
        run.totals |= {"from_epoch": graph_from, "to_epoch": graph_from}
        published = tuple(_too_many_rows(each) for each in over_limit(completion, catalog))
        if not work and not published and graph_from >= graph_to:
            return ValidateResult()
        graph: tuple[Validation, ...] = ()
        with project.engine(JOB) as engine:
            if graph_to > graph_from:
                progress(f"checking the graph, epochs {graph_from + 1}..{graph_to}")
                shares = _max_late_shares(settings, lake)
                streams = checked_streams(lake, graph_from, graph_to, shares)
                graph = (validate_graph(engine, graph_from, graph_to, streams),)
            if work:
                progress(f"checking the new rows of {counted(len(work), 'query')}")
            answers = validate_queries(engine, work)
        result = ValidateResult((*graph, *answers, *published))
        record_results(lake, run_id, result.validations)
        if all(validation.success for validation in graph):
            run.totals["to_epoch"] = max(graph_from, graph_to)
        accepted = {
            each.scope
            for each in answers
            if each.scope in accept and _is_as_held(each, completion.verdicts.get(each.scope))
        }
        for (item, _), validation in zip(work, answers, strict=True):
            is_accepted = item.query in accepted
            run.report(
                item.query,
                status=SUCCEEDED if validation.success or is_accepted else FAILED,
                mode=item.mode,
                reason=f"accepted: {validation.failures}"
                if is_accepted
                else validation.failures or None,
                from_epoch=item.from_epoch,
                to_epoch=item.to_epoch,
                seconds=time.monotonic() - started,
                table_version=item.maintained.version,
                checked_run=item.maintained.metadata.run_id,
            )
        progress(result.summary)
        _raise_for(result, accepted)
    return result


def _is_as_held(validation: Validation, before: Verdict | None) -> bool:
    """Whether an answer is beyond its guards only, by the figures that the last run reported."""
    return (
        before is not None
        and before.reason == validation.failures
        and can_be_accepted(before.reason)
    )


def _too_many_rows(found: OverLimit) -> Validation:
    """The failed check of a published answer, whose limit is lower than when it was published."""
    result = too_many_rows(found.query, found.rows, found.max_rows)
    places = {"max_rows": found.max_rows_at}
    return Validation(found.query, found.epoch, found.epoch, (result,), places)


def _max_late_shares(settings: Settings, lake: Lake) -> dict[str, float]:
    """The largest shares of late events, of the declared streams; now, so that they can be raised.

    Raises:
        ConfigurationError: sources.yml is wrong.
    """
    if not stream_names(lake):
        return {}
    sources = load_sources(settings.sources)
    return {each.name: each.stream.max_late_share for each in sources if each.stream}


def _not_validated(completion: Completion, catalog: Catalog) -> list[Checked]:
    """The backlog whose rows have not passed the checks yet."""
    work: list[Checked] = []
    for item in completion.backlog(catalog.names):
        verdict = completion.verdicts.get(item.query)
        if not item.has_rows or (verdict and verdict.success and verdict.is_about(item)):
            continue
        if not catalog.is_usable(item.query):
            continue
        maintained, metadata = catalog.member(item.query), item.maintained.metadata
        # The rows are those of another text; maintain recomputes them first.
        if metadata.fingerprint != maintained.fingerprint:
            continue
        (output,) = maintained.outputs
        is_set = bool(metadata.extra["is_set"])
        work.append((item, AnswerRules(output.form, is_set, output.limits)))
    return work


def _raise_for(result: ValidateResult, accepted: Collection[str]) -> None:
    failed = [v for v in result.validations if not (v.success or v.scope in accepted)]
    if not failed:
        return
    raise QualityError(
        "checks failed, and what depends on them is not published:",
        "",
        '`weir sql "SELECT * FROM quality WHERE NOT success"` has examples. The next run checks'
        " again.",
        parts=listed((v.scope or "the graph", v.failures) for v in failed),
        done=result,
    )
