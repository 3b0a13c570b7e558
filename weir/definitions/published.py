"""Which queries have a published answer."""

from __future__ import annotations

from weir.definitions.names import declared_names, folders_of
from weir.lake.lake import Lake, local_folder
from weir.lake.tables import ANSWERS
from weir.settings import Settings


def published_queries(settings: Settings, lake: Lake) -> list[str]:
    """The queries that have an answer table, by name.

    Removed queries are among them only if the lake is a folder: an object store is not listed.
    """
    folder = local_folder(lake.root)
    if folder is not None:
        return ANSWERS.owners(folder)
    registered = declared_names(folders_of(settings))
    return sorted(name for name in registered if lake.exists(ANSWERS.name(name)))
