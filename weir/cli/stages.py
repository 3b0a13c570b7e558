"""`weir ingest`, `weir run`: the stages that Airflow schedules, in one process."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.cli.accepted import AcceptAny, Accepted, AcceptSource
from weir.cli.durations import seconds_of
from weir.cli.failures import report_failure
from weir.cli.options import Options, Output, named
from weir.cli.output import print_json, print_line, print_rows
from weir.cli.progress import progress
from weir.compute.session import late_session
from weir.errors import EXIT_BUSY, EXIT_QUALITY, BusyError, ConfigurationError, WeirError
from weir.lake.counted import counted
from weir.lake.names import Name

if TYPE_CHECKING:
    from weir.refresh.stage import Surroundings
    from weir.settings import Settings

_SHOWN = 5
"""How many rejected lines are printed one by one."""


@dataclass(frozen=True, slots=True)
class Done:
    """One stage of a run: how long it took, what it returned, why it failed."""

    stage: str
    seconds: float
    result: Any
    errors: tuple[WeirError, ...]

    @property
    def is_busy(self) -> bool:
        """Whether it found another run of its job at work, so that nothing of it was done."""
        return self.result is None and any(isinstance(error, BusyError) for error in self.errors)

    @property
    def did_something(self) -> bool:
        """Whether it changed or examined anything, or a check passed."""
        match self.stage:
            case _ if self.result is None:
                return False
            case "ingest":
                return not self.result.is_empty
            case "maintain":
                return bool(self.result.modes)
            case "refresh":
                return any(each.is_new for each in self.result.remotes)
            case "validate":
                return any(each.success for each in self.result.validations)
            case _:
                not_published = ("waiting", "held", "failed")
                return any(each.mode not in not_published for each in self.result.publications)

    @property
    def is_worth_reporting(self) -> bool:
        """Whether it did something, or found that a file was changed after it was read."""
        is_found = self.stage == "ingest" and self.result is not None and self.result.changed
        return self.did_something or bool(is_found)

    @property
    def only_waits(self) -> bool:
        """Whether it published nothing, for answers wait for those of remotes."""
        if self.stage != "publish" or self.result is None:
            return False
        return bool(self.result.publications) and not self.did_something

    @property
    def summary(self) -> str:
        """What it did, in a few words; the messages of errors are printed apart."""
        if self.is_busy:
            return "waits for another run"
        return "failed" if self.result is None else _SUMMARY[self.stage](self.result)


def ingest(context: typer.Context, accept: AcceptSource = None) -> None:
    """Ingest the new change sets of all sources into the graph."""
    options = Options.of(context)
    settings = options.settings()
    from weir.ingest.stage import ingest_changes
    from weir.stage import new_run_id

    run_id = new_run_id("run")
    accepted = Accepted.of_sources(settings, accept or ())
    stage = partial(ingest_changes, accept=accepted.sources)
    done = _stage("ingest", stage, late_session(settings), settings, run_id)
    _end(options, settings, run_id, [done], accepted.in_vain)


def run(
    context: typer.Context,
    every: Annotated[
        str | None,
        typer.Option(help="Run again and again, so long after each start: 5s, 2m, 1h."),
    ] = None,
    retry: Annotated[
        list[Name] | None,
        typer.Option(
            parser=named,
            metavar="QUERY",
            help="A query to try at once though it took more than a limit.",
        ),
    ] = None,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Ask the remotes that are due before publishing.")
    ] = False,
    accept: AcceptAny = None,
) -> None:
    """Ingest, maintain, validate and publish: bring all answers up to date.

    Running again is safe: completed work is not repeated. A source or query that fails does not
    keep the later stages from processing the others.
    """
    options = Options.of(context)
    if every is not None:
        if accept:
            raise ConfigurationError(
                "--accept is for what one run found, and --every runs again and again",
                "",
                "Run `weir run --accept` beside it.",
            )
        if retry:
            raise ConfigurationError("--retry is for one run", "--every", "Give one of the two.")
        from weir.cli.resident import run_every

        run_every(options, seconds_of(every), refresh=refresh)
        return
    settings = options.settings()
    from weir.expectations.run import import_ahead
    from weir.ingest.stage import is_anything_pending
    from weir.pending import has_pending_work
    from weir.stage import new_run_id

    # Imports and statements allocate hundreds of thousands of objects that live to the end; a
    # garbage collection at every 700 new ones costs a fifth of the time of the imports.
    gc.set_threshold(50_000)
    run_id = new_run_id("run")
    session = late_session(settings)
    if is_anything_pending(settings) or has_pending_work(settings):
        # Validate needs it; imported while ingest and maintain wait for files and DuckDB.
        import_ahead()
    outside = None
    if refresh:
        from weir.refresh.stage import Surroundings

        outside = Surroundings()
    _check_queries(settings, retry or ())
    accepted = Accepted.of(settings, accept or ())
    done = [*run_stages(session, settings, run_id, outside, accept=accepted, retry=retry or ())]
    _end(options, settings, run_id, done, accepted.in_vain)


def run_stages(
    session: Any,
    settings: Settings,
    run_id: str,
    refresh: Surroundings | None = None,
    *,
    accept: Accepted | None = None,
    retry: Sequence[str] = (),
    announce: bool = True,
) -> Iterator[Done]:
    """Run one stage after the other; those after ingest only if they have anything to do.

    Yields each before the next one starts. A stage that another run is at work on is left to that
    run; the others go on, up to where their input is complete.

    Args:
        session: starts Spark.
        settings: of the project.
        run_id: of all stages.
        refresh: what remotes are asked with; None asks none. Which keys they are asked for follows
            from what is maintained, and what they say is ingested and maintained in turn.
        accept: what is taken in or published though it is beyond its guards.
        retry: queries that are tried at once though they took more than a limit.
        announce: whether a log has a line when a stage begins, not only if it takes long.
    """
    work, accepted = partial(_stage, announce=announce), accept or Accepted()
    from weir.ingest.stage import ingest_changes
    from weir.pending import has_pending_work

    first = partial(ingest_changes, accept=accepted.sources)
    done = work("ingest", first, session, settings, run_id)
    yield done
    if not (done.did_something or has_pending_work(settings) or refresh):
        return
    from weir.maintain.stage import maintain_queries

    maintain = partial(maintain_queries, retry=retry)
    is_maintained = False
    if refresh is not None:
        if done.did_something or has_pending_work(settings):
            maintained = work("maintain", maintain, session, settings, run_id)
            yield maintained
            is_maintained = not maintained.is_busy
        names = _due(settings, refresh)
        if names:
            from weir.refresh.stage import refresh_remotes

            asking = partial(refresh_remotes, names=names, surroundings=refresh)
            yield work("refresh", asking, session, settings, run_id)
            done = work("ingest", ingest_changes, session, settings, run_id)
            yield done
            is_maintained = is_maintained and not done.did_something
        if not (is_maintained or done.did_something or has_pending_work(settings)):
            return
    from weir.publish.stage import publish_answers
    from weir.validate.stage import validate_answers

    stages = (
        *(() if is_maintained else (("maintain", maintain),)),
        ("validate", partial(validate_answers, accept=accepted.queries)),
        ("publish", publish_answers),
    )
    for name, stage in stages:
        yield work(name, stage, session, settings, run_id)


def _due(settings: Settings, refresh: Surroundings) -> tuple[str, ...]:
    from weir.remotes.schedule import schedule

    now = refresh.clock.now()
    try:
        listed = schedule(settings, settings.open_lake(), now)
    except ConfigurationError:
        # Ingest has reported what is wrong.
        return ()
    return tuple(each.remote.name for each in listed if each.is_due(now))


def _check_queries(settings: Settings, names: Sequence[str]) -> None:
    """Check that files declare the queries of some names, also if nothing else is to be done.

    Raises:
        ConfigurationError: one does not.
    """
    from weir.catalog.names import declarations, folders_of
    from weir.text.near import meant

    if not names:
        return
    known = [each.name for each in declarations(folders_of(settings))]
    for name in names:
        if name not in known:
            raise ConfigurationError(
                f"there is no query {name}",
                str(settings.queries),
                f"{meant(name, known)}`weir status` lists them.",
            )


def _end(
    options: Options, settings: Any, run_id: str, done: Sequence[Done], in_vain: Sequence[str]
) -> None:
    """Print the results.

    Args:
        options: of the command line.
        settings: of the project.
        run_id: of the run.
        done: its stages.
        in_vain: sources and queries that were to be accepted, and were not stopped or held.

    Raises:
        WeirError: a stage, a source or a query failed.
    """
    ingested = done[0].result
    # If ingest failed as a whole, that is what there is to say.
    notes = [] if ingested is None else [_nothing_accepted(name) for name in in_vain]
    _print(options, run_id, done, notes)
    if options.output is Output.table:
        if ingested is not None and not ingested.sources:
            print_line(f"No source is declared in {settings.sources}.")
        for note in notes:
            print_line(note)
        print_warnings(settings, run_id, done)
    errors = reported(done)
    if not errors:
        return
    worst = worst_of(errors)
    for error in errors:
        if error is not worst:
            report_failure(error, debug=options.debug)
    raise worst


def _nothing_accepted(name: str) -> str:
    return f"{name}: nothing was stopped, so nothing was accepted"


def _stage(
    name: str,
    stage: Callable[..., Any],
    spark: Any,
    settings: Any,
    run_id: str,
    *,
    announce: bool = True,
) -> Done:
    from weir.expected_errors import as_user_error

    started = time.monotonic()
    errors: tuple[WeirError, ...] = ()
    result: Any = None
    with progress(name, announce=announce) as report:
        try:
            result = stage(spark, settings, run_id, report)
            # Ingest returns the errors of sources; the other stages raise theirs.
            errors = tuple(getattr(result, "errors", ()))
        except Exception as error:
            expected = as_user_error(error)
            if expected is None:
                raise
            errors, result = (expected,), expected.done
    return Done(name, time.monotonic() - started, result, errors)


def reported(done: Sequence[Done]) -> list[WeirError]:
    """The errors of a run, each once."""
    # What failed its check is what publish holds back, with the same reason.
    last = done[-1]
    is_held = last.stage == "publish" and last.result is not None and bool(last.errors)
    # A stage that runs twice may fail twice for the same reason.
    errors = {
        str(error): error
        for each in done
        for error in each.errors
        if not (is_held and each.stage == "validate" and error.exit_code == EXIT_QUALITY)
    }
    return [*errors.values()]


def worst_of(errors: Sequence[WeirError]) -> WeirError:
    """The error to exit with: a failure, then a failed check, then another active run.

    The other run ends by itself.
    """
    return min(
        errors, key=lambda each: (each.exit_code == EXIT_BUSY, each.exit_code == EXIT_QUALITY)
    )


def _print(options: Options, run_id: str, done: Sequence[Done], notes: Sequence[str]) -> None:
    stages, queries = stage_rows(done), answer_rows(done)
    if options.output is Output.json:
        errors = [str(error) for error in reported(done)]
        result = {"run_id": run_id, "stages": stages, "queries": queries, "errors": errors}
        print_json(result | {"warnings": [*warnings_of(done), *notes]})
        return
    print_rows(options.output, ("stage", "seconds", "result"), stages, title=f"Run {run_id}")
    if queries:
        columns = ("query", "mode", "rows", "to_epoch")
        print_rows(options.output, columns, queries, title="Answers")
    elif len(done) == 1 and not done[0].errors and done[0].result.is_empty:
        print_line("Nothing new.")


def stage_rows(done: Sequence[Done]) -> list[dict[str, Any]]:
    """What each stage did and how long it took."""
    return [
        {
            "stage": each.stage,
            "seconds": round(each.seconds, 2),
            "result": each.summary,
        }
        for each in done
    ]


def answer_rows(done: Sequence[Done]) -> list[dict[str, Any]]:
    """What was published of each query, and what was not for which reason.

    Those of which no row changed are left out.
    """
    published = done[-1].result if done[-1].stage == "publish" else None
    return [
        {
            "query": p.query,
            "mode": p.mode,
            "rows": p.rows,
            "to_epoch": p.to_epoch,
            "reason": p.reason or None,
        }
        for p in (published.changed_or_not_published if published is not None else ())
    ]


def warnings_of(done: Sequence[Done]) -> list[str]:
    """What does not fail a run and is to be known.

    Which input was not used, or not yet; what a new query names in vain; what is wrong with the
    remotes that were asked.
    """
    stages = ("ingest", "maintain", "refresh")
    found = (each.result.warnings for each in done if each.stage in stages and each.result)
    return [*dict.fromkeys(chain.from_iterable(found))]


def print_warnings(settings: Settings, run_id: str, done: Sequence[Done]) -> None:
    """Print the warnings of a run, and which lines of sources were rejected."""
    for warning in warnings_of(done):
        print_line(f"warning: {warning}")
    ingested = done[0].result
    if ingested is not None and any(source.rejected for source in ingested.sources):
        print_rejected(settings, run_id)


def print_rejected(settings: Any, run_id: str) -> None:
    """Print where the first rejected lines of this run are, and how they can be corrected."""
    from weir.lake.tables import REJECTED

    table = settings.open_lake().open(REJECTED.name)
    if table is None:
        return
    rows = table.to_pyarrow_table(
        columns=["source", "position", "file", "line", "column", "reason"],
        filters=[("run_id", "=", run_id)],
    ).to_pylist()
    for row in rows[:_SHOWN]:
        file = row["file"] or row["position"]
        where = f"{row['source']}: {file}:{row['line']}:{row['column']}"
        print_line(f"rejected: {where}: {row['reason']}")
    if len(rows) > _SHOWN:
        print_line(f"rejected: {len(rows) - _SHOWN:,} more; weir sql 'SELECT * FROM rejected'")
    print_line(
        "What is rejected is left out; a broken document that was accepted has its last good"
        " content. Files that were ingested are read once: add a corrected one under a later name."
        " Of a source that was stopped, correct the file itself."
    )


def _ingested(result: Any) -> str:
    epochs = result.to_epoch - result.from_epoch
    rejected = sum(source.rejected for source in result.sources)
    summary = "nothing new"
    if epochs:
        summary = f"{counted(epochs, 'epoch')}, the newest is {result.to_epoch}"
    return f"{summary}; {rejected:,} rejected" if rejected else summary


def _maintained(result: Any) -> Any:
    return result.summary or "nothing to do"


def _refreshed(result: Any) -> str:
    rows = [row for each in result.remotes for row in each.rows if each.is_new]
    asked, answered = (sum(row[name] for row in rows) for name in ("elected", "answered"))
    changed = sum(row["changed"] + row["gone"] for row in rows)
    remotes = counted(sum(each.is_new for each in result.remotes), "remote")
    return f"{remotes}: {answered:,} of {asked:,} keys answered, {changed:,} changed"


def _validated(result: Any) -> str:
    return str(result.summary) if result.validations else "nothing to check"


def _published(result: Any) -> str:
    if not result.publications:
        return "nothing to publish"
    rows = counted(sum(publication.rows for publication in result.publications), "row")
    return f"{result.summary}; {rows} appended"


_SUMMARY: dict[str, Callable[[Any], str]] = {
    "ingest": _ingested,
    "maintain": _maintained,
    "refresh": _refreshed,
    "validate": _validated,
    "publish": _published,
}
