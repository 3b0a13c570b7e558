"""Queries that read a stream or a remote which is not declared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from weir.definitions.definition import Definition
from weir.errors import ConfigurationError
from weir.ingest.stream_readers import undeclared_streams
from weir.remotes.declarations import Remote, load_remotes
from weir.settings import Settings


def undeclared(queries: Iterable[Definition], settings: Settings) -> dict[str, ConfigurationError]:
    """What is wrong with the queries that read what no file declares, by their names.

    Nothing is known if such a file itself is wrong, which is an error of ingest.
    """
    listed = [*queries]
    return undeclared_streams(listed, settings.sources) | _undeclared_remotes(listed, settings)


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


def _undeclared_remotes(
    queries: Iterable[Definition], settings: Settings
) -> dict[str, ConfigurationError]:
    of_remotes = [query for query in queries if query.services.remotes]
    if not of_remotes:
        return {}
    try:
        remotes = load_remotes(settings.remotes)
    except ConfigurationError:
        return {}
    errors = {query.name: undeclared_remote(query, remotes) for query in of_remotes}
    return {name: error for name, error in errors.items() if error is not None}
