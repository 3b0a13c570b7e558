"""`weir explain`: the plan of queries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.options import Options, Output, QueryName
from weir.cli.output import print_json, print_text
from weir.project import open_lake

if TYPE_CHECKING:
    from weir.definitions.definition import Definition
    from weir.settings import Settings


def explain(
    context: typer.Context,
    query: QueryName,
    with_sql: Annotated[bool, typer.Option("--sql", help="Print the SQL of one run, too.")] = False,
) -> None:
    """Print how a query is maintained: the class of each part, the plan, which nodes are stored."""
    from weir.definitions.catalog import registered

    options = Options.of(context)
    settings = options.settings()
    member = registered(settings, query)
    _check_remotes(settings, member)
    _check_traversals(settings, member)
    starts = _first_instants(settings, member)
    kept_from = _kept_from(settings, starts)
    explanation = _explanation(member, starts, kept_from, with_sql=with_sql)
    if options.output is Output.json:
        print_json({"query": query, "explanation": explanation})
    else:
        print_text(explanation)


def _explanation(
    member: Definition,
    starts: dict[str, int | None],
    kept_from: dict[str, int],
    *,
    with_sql: bool,
) -> str:
    """The explanation of a definition of any kind.

    Raises:
        ConfigurationError: the SQL of what has no plan is asked for.
    """
    from weir.cli.explanation import explain_query, explain_tables
    from weir.definitions.kinds import PROGRAM
    from weir.definitions.plan_body import PlanBody
    from weir.errors import ConfigurationError

    if isinstance(member.body, PlanBody):
        return explain_query(member, sql=with_sql, starts=starts, kept_from=kept_from)
    if with_sql:
        kind = member.kind.name
        raise ConfigurationError(
            f"the SQL of a {kind} is not printed: which statements run depends on what is derived",
            str(member.file),
            "Leave --sql out.",
        )
    if member.kind == PROGRAM:
        # The grammar of programs takes its time to import.
        from weir.cli.program_explanation import explain_graph_program, explain_program

        if member.graph is not None:
            return explain_graph_program(member)
        return explain_program(member, starts=starts, kept_from=kept_from)
    return explain_tables(member, starts, kept_from)


def _first_instants(settings: Settings, query: Definition) -> dict[str, int | None]:
    """The first instant of each stream that a query reads.

    Raises:
        ConfigurationError: a stream is not declared.
    """
    if not query.axis.windows:
        return {}
    from weir.ingest.sources.declared import load_sources
    from weir.ingest.stream_readers import undeclared_stream
    from weir.progress.streams import first_instant
    from weir.timeline.stream_names import streams_of

    error = undeclared_stream(query, load_sources(settings.sources))
    if error is not None:
        raise error
    lake = open_lake(settings)
    return {name: first_instant(lake, name) for name in streams_of(query.axis)}


def _check_remotes(settings: Settings, query: Definition) -> None:
    """Check that the remotes of a query are declared.

    Raises:
        ConfigurationError: one is not.
    """
    if not query.services.remotes:
        return
    from weir.ingest.undeclared import undeclared_remote
    from weir.remotes.declarations import load_remotes

    error = undeclared_remote(query, load_remotes(settings.remotes))
    if error is not None:
        raise error


def _check_traversals(settings: Settings, query: Definition) -> None:
    """Check that the traversals of a query are declared.

    Raises:
        ConfigurationError: one is not.
    """
    if not query.traversals:
        return
    from weir.ingest.undeclared import undeclared_traversal
    from weir.traversals.names import traversal_names

    error = undeclared_traversal(query, traversal_names(settings.traversals))
    if error is not None:
        raise error


def _kept_from(settings: Settings, streams: Iterable[str]) -> dict[str, int]:
    """By stream with deleted events, the first instant whose events are kept."""
    from weir.progress.streams import deleted_events

    lake = open_lake(settings)
    deleted = {name: deleted_events(lake, name) for name in streams}
    return {name: events.before for name, events in deleted.items() if events is not None}
