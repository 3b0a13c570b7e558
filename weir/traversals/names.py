"""The names and times of the declared traversals, read without the rest of their declaration.

Every run looks whether its queries name a traversal that exists: checking paths and policies there
would import rdflib's grammar, which only a refresh needs.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from weir.lake.tables import DOCUMENTS
from weir.remotes.names import DeclaredRemote, Entry, declared_in, declared_remotes
from weir.settings import Settings

EVERY = "PT1H"
"""Time between two evaluations, where none is declared."""


class _File(BaseModel):
    traversals: tuple[Entry, ...]


def declared_traversals(file: Path) -> tuple[DeclaredRemote, ...]:
    """The traversals that a file declares, in its order; none if there is no such file.

    Raises:
        ConfigurationError: as `declared_remotes`.
    """
    return declared_in(file, _File, "traversals", DOCUMENTS, EVERY)


def declared_to_refresh(settings: Settings) -> tuple[DeclaredRemote, ...]:
    """The remotes and then the traversals that a project declares.

    Raises:
        ConfigurationError: remotes.yml or traversals.yml is wrong.
    """
    return (*declared_remotes(settings.remotes), *declared_traversals(settings.traversals))


def traversal_names(file: Path) -> tuple[str, ...]:
    """The names of the traversals that a file declares, in its order.

    Raises:
        ConfigurationError: as `declared_traversals`.
    """
    return tuple(traversal.name for traversal in declared_traversals(file))
