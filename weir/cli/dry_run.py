"""`weir run --dry-run`: what a run would do and why, by what decides what a run does."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from weir.cli.options import Options, Output
from weir.cli.output import print_json, print_line, print_rows
from weir.lake.counted import counted
from weir.maintain.stage import selected_with_upstreams
from weir.maintain.tasks import Task, tasks_behind
from weir.pending import DefinitionState, Pending
from weir.project import Project
from weir.status.sources import source_statuses

_COLUMNS = ("stage", "of", "does", "why")


@dataclass(frozen=True, slots=True)
class Step:
    """What a stage would do.

    Attributes:
        stage: its name.
        of: the source, remote or query.
        does: what, in a few words; of a query, the mode.
        why: a sentence; None if it follows from what is pending.
    """

    stage: str
    of: str
    does: str
    why: str | None


def print_dry_run(
    options: Options,
    project: Project,
    pending: Pending,
    *,
    refresh: bool,
    only: Collection[str] | None,
) -> None:
    """Print what a run would do; nothing is written.

    Args:
        options: of the command line.
        project: that would be run.
        pending: what is to do in it.
        refresh: whether the run would ask remotes.
        only: the selected queries; None for all.
    """
    steps = [*_steps(project, pending, refresh=refresh)]
    if only is not None:
        usable = selected_with_upstreams(pending.catalog.members, only)
        chosen = {*only, *(definition.name for definition in usable)}
        steps = [step for step in steps if step.stage != "maintain" or step.of in chosen]
    if options.output is Output.json:
        print_json([asdict(step) for step in steps])
    elif not steps:
        print_line("Nothing to do.")
    else:
        print_rows(options.output, _COLUMNS, [asdict(s) for s in steps], title="A run would do:")
        if any(step.stage == "ingest" for step in steps):
            print_line("What is ingested decides which further queries change.")


def _steps(project: Project, pending: Pending, *, refresh: bool) -> Iterator[Step]:
    yield from _of_sources(project, pending)
    if refresh:
        for remote in pending.due_remotes(datetime.now(UTC)):
            yield Step("refresh", remote, "asks for what is due", None)
    if not pending.answers:
        return
    completion, states = pending.completion, pending.definitions
    damaged = {name for name, state in states.items() if state.state == "broken"}
    usable = [member for member in pending.catalog.members if member.name not in damaged]
    tasks = {task.name: task for task in tasks_behind(completion, usable)}
    if completion.graph_validated_to < completion.head:
        epochs = f"epochs {completion.graph_validated_to + 1} to {completion.head}"
        yield Step("validate", "the graph", f"checks {epochs}", None)
    for name, state in sorted(states.items()):
        if state.is_pending or name in tasks:
            yield _of_definition(state, tasks.get(name))


def _of_sources(project: Project, pending: Pending) -> Iterator[Step]:
    if not pending.ingest:
        return
    statuses = source_statuses(project)
    with_work = [source for source in statuses.sources if source.pending]
    for source in with_work:
        yield Step("ingest", source.source, counted(source.pending, "change set"), None)
    for source in statuses.sources:
        if source.state == "stopped" and not source.pending:
            yield Step("ingest", source.source, "tries the change set again", source.reason)
    if not with_work:
        why = "a file was moved, time passes in a stream, or a run died"
        yield Step("ingest", "all sources", "looks for changes", why)


def _of_definition(state: DefinitionState, task: Task | None) -> Step:
    if state.state == "broken":
        return Step("maintain", state.name, "fails", state.reason)
    if task is not None:
        why = task.reason or f"epochs after {task.after} are new"
        return Step("maintain", state.name, task.mode, state.reason or why)
    if state.state == "held":
        return Step("validate", state.name, "checks it again", state.reason)
    return Step("publish", state.name, "publishes what is maintained", state.reason)
