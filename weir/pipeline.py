"""The pipeline: the stages of a run in their order, in one process.

Airflow runs the same stages as tasks. The code of a stage is imported when the stage runs: a run
that finds nothing to do imports none of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Literal

from weir.documents import write_document
from weir.errors import EXIT_QUALITY, BusyError, ConfigurationError, WeirError
from weir.expected_errors import as_user_error
from weir.pending import Pending
from weir.project import Project
from weir.settings import Document
from weir.stage import Progress, StageResult, silent

if TYPE_CHECKING:
    from weir.ingest.stage import IngestResult
    from weir.publish.stage import PublishResult
    from weir.refresh.stage import Surroundings

StageName = Literal["ingest", "maintain", "refresh", "validate", "publish", "notify"] | Document
Reporting = Callable[[StageName], AbstractContextManager[Progress]]
"""Gives, for a stage, the function that receives its steps."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run.

    Attributes:
        refresh: credentials and clock for asking remotes; None: none is asked. The keys to ask for
            follow from maintained queries; answers are ingested and maintained in the same run.
        accept_sources: sources whose stopped change set is ingested although it is beyond their
            guards.
        accept_queries: queries whose held answer is published although it is beyond their guards.
        retry: queries that are tried at once although they exceeded a limit.
        only: the queries that are maintained, and published as far as they are; None for all.
        is_patient: whether a channel of notifications whose last delivery failed is left alone for
            a while, as by a process that runs again and again.
    """

    refresh: Surroundings | None = None
    accept_sources: Sequence[str] = ()
    accept_queries: Sequence[str] = ()
    retry: Sequence[str] = ()
    only: Sequence[str] | None = None
    is_patient: bool = False


@dataclass(frozen=True, slots=True)
class StageRun:
    """One stage of a run.

    Attributes:
        stage: its name.
        seconds: how long it took.
        result: what it returned; None if it failed as a whole.
        errors: of the stage, or of single sources, queries or remotes.
    """

    stage: StageName
    seconds: float
    result: StageResult | None
    errors: tuple[WeirError, ...]

    @property
    def is_busy(self) -> bool:
        """Whether it did nothing because another run of its job was active."""
        return self.result is None and any(isinstance(error, BusyError) for error in self.errors)

    @property
    def did_something(self) -> bool:
        """Whether it changed or examined anything, or a check passed."""
        return self.result is not None and self.result.did_something

    @property
    def is_worth_reporting(self) -> bool:
        """Whether a process that runs again and again reports it."""
        return self.result is not None and self.result.is_worth_reporting

    @property
    def only_waits(self) -> bool:
        """Whether everything that is left to do waits for answers of remotes."""
        return self.result is not None and self.result.only_waits

    @property
    def summary(self) -> str:
        """What it did, in a few words; `errors` has the messages of errors."""
        if self.is_busy:
            return "waits for another run"
        return "failed" if self.result is None else self.result.summary


def no_reporting(stage: StageName) -> AbstractContextManager[Progress]:
    """Discard the steps of a stage."""
    del stage
    return nullcontext(silent)


def run_pipeline(
    project: Project,
    run_id: str,
    options: RunOptions | None = None,
    reporting: Reporting = no_reporting,
    before: Pending | None = None,
) -> Iterator[StageRun]:
    """Run the stages in order; those after ingest only if they have anything to do.

    Yields each stage before the next one starts. A stage that another run is executing is skipped;
    the others process their input as far as it is complete. At the end, the site,
    figures, artefacts and events of lineage are written as far as the settings say where.

    Args:
        project: its settings, and its lake.
        run_id: of the run.
        options: what was asked for.
        reporting: receives the steps of each stage.
        before: what was to do just before; it is not read again if ingest has nothing to do.
    """
    wanted = options or RunOptions()
    run = partial(_run_stage, project, run_id, wanted, reporting)
    ingested = run("ingest")
    yield ingested
    is_work = ingested.did_something or _is_work(project, before)
    if is_work or wanted.refresh:
        yield from _answering(project, run, wanted, is_work=is_work)
    if _is_notification_due(project, wanted):
        yield run("notify")
    for document in project.settings.documents:
        yield run(document)


def _answering(
    project: Project,
    run: Callable[..., StageRun],
    wanted: RunOptions,
    *,
    is_work: bool,
) -> Iterator[StageRun]:
    """Run the stages from maintain to publish, and refresh among them."""
    is_maintained = has_news = False
    if wanted.refresh is not None:
        if is_work:
            maintained = run("maintain")
            yield maintained
            is_maintained = not maintained.is_busy
        due = _due_remotes(project, wanted.refresh)
        if due:
            yield run("refresh", due)
            ingested = run("ingest")
            yield ingested
            has_news = ingested.did_something
            is_maintained = is_maintained and not has_news
        if not (is_maintained or has_news or _is_work(project)):
            return
    if not is_maintained:
        yield run("maintain")
    yield run("validate")
    yield run("publish")


def run_ingest(
    project: Project,
    run_id: str,
    options: RunOptions | None = None,
    reporting: Reporting = no_reporting,
) -> StageRun:
    """Run ingest alone."""
    return _run_stage(project, run_id, options or RunOptions(), reporting, "ingest")


def _run_stage(
    project: Project,
    run_id: str,
    options: RunOptions,
    reporting: Reporting,
    name: StageName,
    remotes: Sequence[str] = (),
) -> StageRun:
    started = time.monotonic()
    with reporting(name) as progress:
        try:
            stage = _stage(name, project, options, remotes)
            result: StageResult | None = stage(run_id, progress)
            errors = () if result is None else result.errors
        except Exception as error:
            expected = as_user_error(error)
            if expected is None:
                raise
            errors = (expected,)
            result = expected.done if isinstance(expected.done, StageResult) else None
    return StageRun(name, time.monotonic() - started, result, errors)


def _stage(
    name: StageName, project: Project, options: RunOptions, remotes: Sequence[str]
) -> Callable[[str, Progress], StageResult]:
    match name:
        case "ingest":
            from weir.door import guarded
            from weir.ingest.stage import ingest_changes

            accept = options.accept_sources
            return partial(guarded, ingest_changes, project, accept=accept)
        case "maintain":
            from weir.maintain.stage import maintain_queries

            return partial(maintain_queries, project, retry=options.retry, only=options.only)
        case "refresh":
            from weir.refresh.stage import refresh_remotes

            around = options.refresh
            return partial(refresh_remotes, project, names=remotes, surroundings=around)
        case "validate":
            from weir.validate.stage import validate_answers

            return partial(validate_answers, project, accept=options.accept_queries)
        case "publish":
            from weir.publish.stage import publish_answers

            return partial(publish_answers, project)
        case "notify":
            from weir.notify.stage import notify_channels

            return partial(notify_channels, project, is_patient=options.is_patient)
        case "site" | "metrics" | "artifacts" | "openlineage":
            return lambda run_id, _progress: write_document(project, name, run_id)


def _is_work(project: Project, known: Pending | None = None) -> bool:
    """Whether the stages after ingest have anything to do, be it to report what is wrong."""
    try:
        return (known or Pending(project)).answers
    except Exception as error:
        if as_user_error(error) is None:
            raise
        return True


def _is_notification_due(project: Project, options: RunOptions) -> bool:
    if not project.settings.notify:
        return False
    from weir.notify.stage import is_notification_due

    try:
        return is_notification_due(project, is_patient=options.is_patient)
    except Exception as error:
        if as_user_error(error) is None:
            raise
        # The stage reports it.
        return True


def _due_remotes(project: Project, refresh: Surroundings) -> tuple[str, ...]:
    try:
        return Pending(project).due_remotes(refresh.clock.now())
    except ConfigurationError:
        # Ingest has reported what is wrong.
        return ()


def ingest_result(stages: Sequence[StageRun]) -> IngestResult | None:
    """What the first stage returned; None if it failed as a whole."""
    from weir.ingest.stage import IngestResult

    result = stages[0].result
    return result if isinstance(result, IngestResult) else None


def publish_result(stages: Sequence[StageRun]) -> PublishResult | None:
    """What publish returned; None if it did not run, or failed as a whole."""
    published = _published(stages)
    if published is None:
        return None
    from weir.publish.stage import PublishResult

    return published.result if isinstance(published.result, PublishResult) else None


def _published(stages: Sequence[StageRun]) -> StageRun | None:
    return next((stage for stage in stages if stage.stage == "publish"), None)


def errors_of(stages: Sequence[StageRun]) -> list[WeirError]:
    """The errors of a run, each once."""
    # Publish reports failed checks again, as the reasons for what it holds back.
    published = _published(stages)
    is_held = published is not None and published.result is not None and bool(published.errors)
    # A stage that runs twice may fail twice for the same reason.
    errors = {
        str(error): error
        for stage in stages
        for error in stage.errors
        if not (is_held and stage.stage == "validate" and error.exit_code == EXIT_QUALITY)
        # Another run notifies: all that was published will be in its messages, or the next ones.
        if not (stage.stage == "notify" and stage.is_busy)
    }
    return [*errors.values()]


def warnings_of(stages: Sequence[StageRun]) -> list[str]:
    """What does not fail a run, but should be known, each once.

    Such as: input that was not used or has to wait, terms of a new query that the graph does not
    have, failures of the remotes that were asked.
    """
    warnings = (stage.result.warnings for stage in stages if stage.result is not None)
    return [*dict.fromkeys(chain.from_iterable(warnings))]
