"""Definitions whose files are wrong, or that read a stream, a remote or a traversal which is not
declared.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from weir.definitions.catalog import Catalog
from weir.definitions.definition import Definition
from weir.errors import ConfigurationError
from weir.ingest.stream_readers import undeclared_streams
from weir.rdf.reserved_graphs import web_graph
from weir.remotes.declarations import Remote, load_remotes
from weir.settings import Settings
from weir.text.near import meant
from weir.traversals.names import traversal_names

Declared = TypeVar("Declared")


def unusable(catalog: Catalog, settings: Settings) -> dict[str, ConfigurationError]:
    """What is wrong with definitions, by their names: with their files, or as `undeclared` says."""
    return {**catalog.errors, **undeclared(catalog.members, settings)}


def undeclared(queries: Iterable[Definition], settings: Settings) -> dict[str, ConfigurationError]:
    """What is wrong with the queries that read what no file declares, by their names.

    Nothing is known if such a file itself is wrong, which is an error of ingest.
    """
    listed = [*queries]
    of_remotes = [query for query in listed if query.services.remotes]
    of_traversals = [query for query in listed if query.traversals]
    return {
        **undeclared_streams(listed, settings.sources),
        **_errors(of_remotes, lambda: load_remotes(settings.remotes), undeclared_remote),
        **_errors(
            of_traversals,
            lambda: traversal_names(settings.traversals),
            undeclared_traversal,
        ),
    }


def undeclared_remote(
    query: Definition, remotes: Mapping[str, Remote]
) -> ConfigurationError | None:
    """What is wrong with a query that names a remote which is not declared; None if nothing is."""
    for named in query.services.remotes:
        if named.iri not in remotes:
            known = ", ".join(remotes) or "there are none yet"
            return ConfigurationError(
                f"SERVICE {named.iri}: no remote is declared with this IRI",
                f"{query.file}:{named.line}:{named.column}",
                f"Declare it in remotes.yml. Remotes: {known}.",
            )
    return None


def undeclared_traversal(query: Definition, known: Collection[str]) -> ConfigurationError | None:
    """What is wrong with a query that names a traversal which is not declared; None if nothing is.

    Args:
        query: the query.
        known: the names of the declared traversals.
    """
    for named in query.traversals:
        if named.name not in known:
            listed = f"Traversals: {', '.join(known)}." if known else "There are none yet."
            return ConfigurationError(
                f"{web_graph(named.name)}: no traversal is named {named.name}",
                f"{query.file}:{named.line}:{named.column}",
                f"{meant(named.name, known)}Declare it in traversals.yml. {listed}",
            )
    return None


def _errors(
    queries: Sequence[Definition],
    declared: Callable[[], Declared],
    error_of: Callable[[Definition, Declared], ConfigurationError | None],
) -> dict[str, ConfigurationError]:
    """What is wrong with queries by their names; the file of what is declared is read if needed."""
    if not queries:
        return {}
    try:
        known = declared()
    except ConfigurationError:
        return {}
    errors = {query.name: error_of(query, known) for query in queries}
    return {name: error for name, error in errors.items() if error is not None}
