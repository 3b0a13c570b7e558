"""What the next run has to do, and why a definition is not up to date; read without Spark.

`weir status` prints it. `weir run` and the resident process decide by it which stages run, Airflow
whether a run is started.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Literal

from weir.definitions.catalog import Catalog
from weir.definitions.checks import DeclaredChecks, declared_checks
from weir.definitions.definition import Definition
from weir.ingest.undeclared import unusable
from weir.lake.damage.storage_errors import DamagedTable
from weir.lake.ledger.runs import SKIPPED
from weir.lake.tables import CURRENT
from weir.maintain.damaged import damaged_queries
from weir.maintain.unfinished import is_unfinished
from weir.progress.backlog import Backlog
from weir.progress.completion import Completion
from weir.progress.failed_attempts import Attempt
from weir.progress.graph_damage import graph_damage
from weir.progress.held import held_reasons, needs_checks
from weir.progress.watermarks import Watermark
from weir.project import Project
from weir.publish.current_tables import is_behind as is_table_behind
from weir.remotes.readiness import NotReady, is_edited, why_unpublished, why_waits
from weir.settings import Limits

State = Literal["current", "behind", "held", "waiting", "new", "broken", "removed"]


@dataclass(frozen=True, slots=True)
class DefinitionState:
    """How far a definition is, and why not further.

    Attributes:
        name: of the definition.
        state: `current`; `behind`: a run will publish more, or check it by edited checks; `held`:
            a check of its rows or of the graph failed, a file of its checks is wrong, answers of
            remotes are too old, or what it reads of another definition is held; `waiting`: for
            answers of remotes, until the first one is complete; `new`: not published yet; `broken`:
            its file cannot be used, the newest commit of one of its tables cannot be read, or the
            graph that it reads is damaged; `removed`: its file is gone, and its answers are there.
        reason: why it is in this state; None if the next run simply continues.
        is_pending: whether a run has anything to do for it, even if only to report an error.
        maintained: how far its embeddings are complete; None if there are none.
        published: how far its answer is published; None if it is not.
        mode: of the last run of maintain that reported on it.
    """

    name: str
    state: State
    reason: str | None
    is_pending: bool
    maintained: Watermark | None = None
    published: Watermark | None = None
    mode: str | None = None


class Pending:
    """What is to do in a project, by its lake as it is now; each part is read on first use."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self.settings = project.settings
        self.completion = Completion.read(project.open_lake())

    @cached_property
    def catalog(self) -> Catalog:
        """What is declared.

        Raises:
            ConfigurationError: the folder of queries does not exist.
        """
        return Catalog.of(self.settings)

    @cached_property
    def checks(self) -> DeclaredChecks:
        """The checks that the project writes.

        Raises:
            ConfigurationError: the folder of queries does not exist.
        """
        return declared_checks(self.settings.expectations, self.catalog)

    @cached_property
    def ingest(self) -> bool:
        """Whether a source has anything new, time passes in a stream, or a run died.

        Raises:
            ConfigurationError: the file of sources or of remotes is wrong.
        """
        from weir.ingest.stage import is_anything_pending

        return is_anything_pending(self._project)

    def due_remotes(self, now: datetime) -> tuple[str, ...]:
        """The names of the remotes and traversals that are due.

        Raises:
            ConfigurationError: the file of remotes or of traversals is wrong.
        """
        from weir.remotes.schedule import schedule
        from weir.traversals.schedule import next_evaluations

        settings, lake = self.settings, self.completion.lake
        remotes = [
            scheduled for scheduled in schedule(settings, lake, now) if scheduled.is_due(now)
        ]
        traversals = next_evaluations(settings, lake, now)
        return (
            *(scheduled.remote.name for scheduled in remotes),
            *(name for name, at in traversals.items() if at <= now),
        )

    @cached_property
    def answers(self) -> bool:
        """Whether maintain, validate or publish has anything to do.

        Raises:
            ConfigurationError: the folder of queries does not exist.
        """
        if self.completion.graph_validated_to < self.completion.head or self.checks.of_nothing:
            return True
        return any(definition.is_pending for definition in self._by_own_tables.values())

    @cached_property
    def definitions(self) -> Mapping[str, DefinitionState]:
        """The state of every declared definition, by name.

        Raises:
            ConfigurationError: the folder of queries does not exist.
        """
        states = {**self._by_own_tables}
        readers = [member.name for member in self.catalog.members if member.reads]
        damage = graph_damage(self.completion) if readers else None
        if damage is not None:
            why = f"the graph that it reads is damaged: {damage}"
            for name in readers:
                if states[name].state != "broken":
                    states[name] = replace(states[name], state="broken", reason=why)
        return states

    @cached_property
    def _by_own_tables(self) -> Mapping[str, DefinitionState]:
        """The state of every declared definition, by name, as if the graph were whole.

        No run repairs the graph: that it is damaged gives a run nothing to do, and looking for its
        files takes time.
        """
        completion, members = self.completion, self.catalog.members
        damaged = damaged_queries(completion, members)
        broken: dict[str, object] = {
            **damaged,
            **unusable(self.catalog, self.settings),
        }
        usable = [member for member in members if member.name not in damaged]
        answers = {item.query: item for item in completion.answers(m.name for m in members)}
        checks = self.checks.fingerprints
        held = held_reasons(completion, answers.values())
        beyond = beyond_limits(completion, usable, self.settings.limits)
        states = {
            name: DefinitionState(
                name, "broken", str(error), True, *_progress(completion, name, damaged)
            )
            for name, error in broken.items()
        }
        for member in usable:
            if member.name not in states:
                states[member.name] = _state(
                    completion,
                    member,
                    answers.get(member.name),
                    checks,
                    held.get(member.name),
                    beyond.get(member.name),
                    is_table_behind(completion, member, self.settings.limits),
                )
        not_ready = {
            name: NotReady(state.state, state.reason or "")
            for name, state in states.items()
            if state.state in ("held", "waiting")
        }
        for member in usable if not_ready else ():
            state, item = states[member.name], answers.get(member.name)
            why = why_waits(member, not_ready)
            if why and state.state in ("new", "behind") and item and item.is_to_publish:
                states[member.name] = replace(state, state=why.mode, reason=why.reason)
        return states


def _progress(
    completion: Completion, name: str, damaged: Mapping[str, DamagedTable]
) -> tuple[Watermark | None, Watermark | None, str | None]:
    mode, _ = completion.last_maintenance.get(name, (None, None))
    if name in damaged:
        return None, None, mode
    return completion.maintained(name), completion.published(name), mode


def _state(
    completion: Completion,
    query: Definition,
    answer: Backlog | None,
    checks: Mapping[str, str],
    held: str | None,
    beyond: str | None,
    table_behind: bool,
) -> DefinitionState:
    """The state of a definition that can be used.

    Args:
        completion: of the lake.
        query: the definition.
        answer: what it has to publish, or has published.
        checks: the fingerprints of the checks that the project writes.
        held: why it is held back.
        beyond: which limit it exceeded.
        table_behind: whether its table `current/<name>` is to be written.
    """
    name = query.name
    maintained, published, mode = _progress(completion, name, {})
    to_epoch = published.epoch if published else 0
    left = beyond or why_left(completion, name)
    item = answer if answer is not None and answer.is_to_publish else None
    waits = None if item is None or held else why_unpublished(completion, item, query, checks)
    edited = is_edited(query, completion)
    unchecked = answer is not None and needs_checks(completion, answer, checks)
    is_pending = item is not None or held is not None or table_behind or unchecked
    state: State
    reason: str | None
    if held is not None:
        state, reason = "held", held
    elif waits is not None:
        state, reason = waits.mode, waits.reason
    elif published is None:
        state, reason = "new", left
    elif edited:
        state, reason = "behind", beyond or "edited: the next run recomputes it"
    elif maintained is None:
        state, reason = "behind", "its embeddings are gone: the next run computes it again"
    elif completion.head > to_epoch or item is not None:
        state, reason = "behind", left or _why_unpublished(item)
    else:
        _, last_reason = completion.last_maintenance.get(name, (None, None))
        state, reason = "current", last_reason
        if table_behind:
            state, reason = "behind", f"its table {CURRENT.name(name)} is behind its log"
        elif unchecked:
            state, reason = (
                "behind",
                "its checks or limits were edited: the next run checks it by them",
            )
    if not is_pending:
        try:
            is_pending = is_unfinished(completion, query)
        except DamagedTable:
            # The state of what it reads says so.
            is_pending = True
    return DefinitionState(name, state, reason, is_pending, maintained, published, mode)


def beyond_limits(
    completion: Completion, queries: Iterable[Definition], limits: Limits
) -> dict[str, str]:
    """By query that exceeded a limit: which limit, and when the query is tried again.

    Queries that were edited since, or whose limits changed, are left out: the next run tries them.
    """
    now, beyond = datetime.now(UTC), {}
    for query in queries:
        failed = completion.failed_attempts.get(query.name)
        attempt = Attempt(query.fingerprint, limits.of_queries, completion.head, now)
        if failed is not None and failed.is_of(attempt):
            beyond[query.name] = failed.explained(query.name)
    return beyond


def why_left(completion: Completion, name: str) -> str | None:
    """Why the last run skipped a query or failed on it; None if it did neither.

    `beyond_limits` has the queries that exceeded a limit.
    """
    mode, reason = completion.last_maintenance.get(name, (None, None))
    if reason is None or name in completion.failed_attempts:
        return None
    # A failure is recorded as the run prints it, with the name in front.
    why = reason.removeprefix(f"{name}: ")
    return why if mode == SKIPPED or why != reason else None


def _why_unpublished(item: Backlog | None) -> str | None:
    """Why a published answer was rebuilt; None if it was not."""
    if item is None or not item.rebuilt:
        return None
    return f"{item.reason}: the next run publishes the difference"
