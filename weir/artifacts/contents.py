"""A project as its artefacts show it: what it declares, how far that is, and what the last run did.

Nothing is decided here: states are those of `weir.pending`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar

from weir.artifacts.lineage import model_id, source_id, upstreams
from weir.artifacts.newest_run import NewestRun, Row, check_results, newest_run
from weir.checks.declared import Check
from weir.definitions.definition import Definition
from weir.definitions.names import Declaration
from weir.errors import ConfigurationError
from weir.ingest.ingested import Ingested, ingested
from weir.ingest.sources.declared import load_sources
from weir.ingest.stopped_sources import stopped_sources
from weir.lake.tables import ANSWERS, Table, answers
from weir.pending import DefinitionState, Pending
from weir.progress.backlog import columns_of
from weir.progress.completion import Completion
from weir.project import Project
from weir.remotes.declarations import load_remotes
from weir.remotes.freshness import RemoteState
from weir.settings import Settings
from weir.traversals.names import declared_to_refresh, traversal_names

Group = Literal["graph", "streams", "remotes", "traversals"]
Schema = Literal["manifest/v12", "catalog/v1", "run-results/v6", "sources/v3"]
_Read = TypeVar("_Read")
_DBT = "1.8.0"
"""The version of dbt whose schemas these are."""


@dataclass(frozen=True, slots=True)
class Model:
    """A declared query or program whose name tables can have.

    Attributes:
        id: of its node.
        declaration: its file.
        definition: what the file declares; None if it cannot be used.
        text: of the file; empty if it cannot be read.
        state: how far it is.
        table: the table for readers, as it is published; before that, as it will be.
        reads: the ids of the nodes that it reads.
        checks: of the project, about its answer.
    """

    id: str
    declaration: Declaration
    definition: Definition | None
    text: str
    state: DefinitionState
    table: Table
    reads: tuple[str, ...]
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class SourceNode:
    """What is ingested: a source, a remote or a traversal.

    Of its declaration there is the name alone: a location may have a token.

    Attributes:
        id: of its node.
        group: what it gives, and so in which file it is declared.
        name: its name.
        ingested: what was ingested of it; None if nothing was.
        stopped: why it is stopped; None if it is not.
        freshness: of a remote or a traversal.
    """

    id: str
    group: Group
    name: str
    ingested: Ingested | None
    stopped: str | None
    freshness: RemoteState | None


@dataclass(frozen=True, slots=True)
class Contents:
    """What the documents are made of.

    Attributes:
        settings: of the project.
        now: when it was read.
        models: in the order of their files.
        sources: in the order of their declaration.
        run: the newest run; None before the first.
        check_results: rows of `quality` about checks that ran, by answer and check.
        remotes: names of remotes by IRI, in N-Triples form.
    """

    settings: Settings
    now: datetime
    models: tuple[Model, ...]
    sources: tuple[SourceNode, ...]
    run: NewestRun | None
    check_results: Mapping[tuple[str, str], Row]
    remotes: Mapping[str, str]

    def within(self, reason: str) -> str:
        """A reason with places in the project, wherever that is."""
        return _within(self.settings, reason)

    def head(self, schema: Schema) -> dict[str, Any]:
        """The metadata of a document: of which schema it is, and of which run."""
        return {
            "dbt_schema_version": f"https://schemas.getdbt.com/dbt/{schema}.json",
            "dbt_version": _DBT,
            "generated_at": time_text(self.now),
            # Equal for documents of one run: what reads them takes nothing in twice.
            "invocation_id": "none" if self.run is None else self.run.run_id,
            "env": {},
        }


def time_text(time: datetime) -> str:
    """A time as dbt writes it; readers expect six digits and no other zone."""
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}Z"


def read_contents(
    project: Project,
    now: datetime,
    wrong: list[ConfigurationError] | None = None,
    pending: Pending | None = None,
) -> Contents:
    """What a project declares, and how far it is.

    Args:
        project: the project.
        now: the time.
        wrong: receives what is wrong with files of sources, remotes, traversals and checks, which
            then count as empty; None to raise it.
        pending: what is to do in the project, if that was read already.

    Raises:
        ConfigurationError: the folder of queries does not exist; or such a file is wrong.
    """
    pending = pending or Pending(project)
    settings = project.settings
    sources = _known(lambda: _sources(project, now), wrong) or ()
    for mistake in pending.checks.mistakes:
        if wrong is None:
            raise mistake
        wrong.append(mistake)
    remotes = _known(lambda: load_remotes(settings.remotes), wrong) or {}
    names = {iri: remote.name for iri, remote in remotes.items()}
    models = _models(pending, settings, sources, pending.checks.usable, names)
    checked = [model.state.name for model in models if model.checks]
    run, results = newest_run(project.lake), check_results(project.lake, checked)
    return Contents(project.settings, now, models, sources, run, results, names)


def _known(read: Callable[[], _Read], wrong: list[ConfigurationError] | None) -> _Read | None:
    try:
        return read()
    except ConfigurationError as error:
        if wrong is None:
            raise
        wrong.append(error)
        return None


def _models(
    pending: Pending,
    settings: Settings,
    sources: Sequence[SourceNode],
    checks: Mapping[str, tuple[Check, ...]],
    remotes: Mapping[str, str],
) -> tuple[Model, ...]:
    catalog = pending.catalog
    members = {member.name: member for member in catalog.members}
    usable = [declared for declared in catalog.declarations if declared.is_usable]
    graph = [source.name for source in sources if source.group == "graph"]
    nodes = {*(source.id for source in sources), *(model_id(one.name) for one in usable)}
    models = []
    for declared in usable:
        name = declared.name
        member, state = members.get(name), pending.definitions[name]
        if state.reason is not None:
            state = replace(state, reason=_within(settings, state.reason))
        reads = () if member is None else upstreams(member, remotes, graph)
        models.append(
            Model(
                model_id(name),
                declared,
                member,
                _text(declared) if member is None else member.text,
                state,
                _table(pending.completion, member, state),
                # What is not declared has no node; who reads it is broken.
                tuple(node for node in reads if node in nodes),
                checks.get(name, ()),
            )
        )
    return tuple(models)


def _within(settings: Settings, reason: str) -> str:
    return reason.replace(f"{settings.project}/", "")


def _text(declared: Declaration) -> str:
    with suppress(ConfigurationError):
        return declared.read().decode(errors="replace")
    return ""


def _table(completion: Completion, member: Definition | None, state: DefinitionState) -> Table:
    """`current/<name>` if there is one, else `answers/<name>`, with the columns that it has."""
    name, comment = state.name, "" if member is None else member.current.comment
    comments = {} if member is None else member.current.comments
    layout = completion.layout(name) if completion.has_table(name) else None
    if layout is not None:
        return layout.table(name, comment, comments)
    if state.published is not None:
        variables = tuple(column for column, _ in columns_of(state.published.metadata))
    elif member is not None:
        variables = member.output.columns
    else:
        return Table(ANSWERS.name(name), "", ())
    log = answers(name, variables)
    columns = (replace(c, comment=comments.get(c.name, c.comment)) for c in log.columns)
    return replace(log, comment=comment or log.comment, columns=tuple(columns))


def _sources(project: Project, now: datetime) -> tuple[SourceNode, ...]:
    settings, lake = project.settings, project.lake
    names: list[tuple[Group, str]] = [
        ("graph" if source.stream is None else "streams", source.name)
        for source in load_sources(settings.sources)
    ]
    names += [("remotes", remote.name) for remote in load_remotes(settings.remotes).values()]
    names += [("traversals", name) for name in traversal_names(settings.traversals)]
    known, freshness = ingested(lake), _freshness(settings, now)
    stopped = (s for s in stopped_sources(lake).values() if s.state == "stopped")
    reasons = {s.source: _within(settings, s.reason) for s in stopped}
    return tuple(
        SourceNode(
            source_id(group, name),
            group,
            name,
            known.get(name),
            reasons.get(name),
            freshness.get(name),
        )
        for group, name in names
    )


def _freshness(settings: Settings, now: datetime) -> Mapping[str, RemoteState]:
    if not declared_to_refresh(settings):
        return {}
    # The grammar of traversals takes its time to import.
    from weir.refresh.current import current_states

    return {state.remote.name: state for state in current_states(settings, now)}
