"""Why a query has no published answer."""

from __future__ import annotations

from weir.definitions.catalog import Catalog
from weir.definitions.checks import declared_checks
from weir.definitions.names import declared_names, folders_of, is_declared, no_query
from weir.errors import ConfigurationError, QualityError, WeirError
from weir.lake.tables import ANSWERS
from weir.pending import beyond_limits
from weir.progress.completion import Completion
from weir.progress.held import held_reasons
from weir.project import open_lake
from weir.remotes import readiness
from weir.settings import Settings


def why_unpublished(settings: Settings, query: str) -> WeirError:
    """Why there is no published answer of a query.

    Raises:
        ConfigurationError: its file cannot be used.
    """
    if is_declared(folders_of(settings), query):
        # If its file cannot be used, this says why.
        catalog = Catalog.of(settings)
        member = catalog.member(query)
        completion = Completion.read(open_lake(settings))
        backlog = completion.backlog([query])
        held = held_reasons(completion, backlog)
        if query in held:
            return QualityError(
                f"{query} has no published answer: it is held back: {held[query]}",
                "",
                f"`weir show --held {query}` prints its rows.",
            )
        checks = declared_checks(settings.expectations, catalog, [query]).fingerprints
        why = readiness.why_unpublished(completion, backlog[0], member, checks) if backlog else None
        if why is not None:
            return ConfigurationError(
                f"{query} has no published answer yet: {why.reason}",
                settings.lake,
                f"`weir show --held {query}` prints its rows so far.",
            )
        beyond = beyond_limits(completion, [member], settings.limits).get(query)
        if beyond is not None:
            return ConfigurationError(
                f"{query} has no published answer yet: {beyond}", settings.lake
            )
        return ConfigurationError(
            f"{query} has no published answer yet", settings.lake, "`weir run` creates one."
        )
    return no_query(settings, query, answer_names(settings))


def answer_names(settings: Settings) -> list[str]:
    """The names of the answers that are published, then of those that are declared."""
    published = open_lake(settings).owners(ANSWERS)
    declared = declared_names(folders_of(settings)) if settings.queries.is_dir() else ()
    return [*dict.fromkeys((*published, *declared))]
