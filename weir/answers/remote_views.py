"""The SQL views of remotes: `replica_<remote>`, `documents_<traversal>`, `freshness_current`."""

from __future__ import annotations

from weir.answers.logs import register_table
from weir.definitions.names import REPLICA
from weir.lake.delta.bindings import Bindings
from weir.lake.lake import Lake
from weir.lake.tables import DOCUMENTS, FRESHNESS, REPLICAS
from weir.project import open_lake
from weir.remotes.known_keys import MAPPINGS, replica_rows
from weir.remotes.replica_inbox import inbox_names
from weir.settings import Settings
from weir.traversals.names import traversal_names

FRESHNESS_CURRENT = "freshness_current"

_NEWEST = """
SELECT * FROM {rows}
QUALIFY row_number() OVER (PARTITION BY remote, pattern ORDER BY evaluation DESC, round DESC) = 1
"""
_DOCUMENTS = "documents"
# The newest row of a page; of those, the documents.
_NEWEST_OF_PAGE = """
SELECT * FROM (
    SELECT * FROM {rows}
    QUALIFY row_number() OVER (PARTITION BY iri ORDER BY round DESC, ordinal DESC) = 1
) WHERE is_member
"""


def remote_views(settings: Settings) -> list[str]:
    """The views about remotes that a statement can name."""
    lake = open_lake(settings)
    current = [FRESHNESS_CURRENT] if lake.exists(FRESHNESS.name) else []
    documents = [
        f"{_DOCUMENTS}_{name}"
        for name in traversal_names(settings.traversals)
        if lake.exists(DOCUMENTS.name(name))
    ]
    return [*(f"{REPLICA}_{name}" for name in inbox_names(lake)), *documents, *current]


def create_remote_view(bindings: Bindings, lake: Lake, name: str) -> bool:
    """Create the view `name` if it is a view of a remote; gives whether it is."""
    if name == FRESHNESS_CURRENT:
        relation = f"{FRESHNESS.name} log"
        if register_table(bindings, lake, FRESHNESS.name, relation):
            _create(bindings, name, _NEWEST, relation)
        return True
    if name.startswith(f"{_DOCUMENTS}_"):
        traversal = name.removeprefix(f"{_DOCUMENTS}_")
        relation = f"{DOCUMENTS.name(traversal)} log"
        if not register_table(bindings, lake, DOCUMENTS.name(traversal), relation):
            return False
        _create(bindings, name, _NEWEST_OF_PAGE, relation)
        return True
    if not name.startswith(f"{REPLICA}_"):
        return False
    remote = name.removeprefix(f"{REPLICA}_")
    rows = replica_rows(lake, remote)
    if rows is None:
        return False
    relation = f"{REPLICAS.name(remote)} log"
    bindings.rows(relation, rows)
    _create(bindings, name, MAPPINGS, relation)
    return True


def _create(bindings: Bindings, name: str, query: str, relation: str) -> None:
    bindings.view(name, query.format(rows=f'"{relation}"'))
