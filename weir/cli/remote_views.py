"""The SQL views of remotes: `replica_<remote>` and `freshness_current`."""

from __future__ import annotations

from weir.cli.answer_logs import register_table
from weir.definitions.names import REPLICA
from weir.lake.delta.bindings import Bindings
from weir.lake.lake import Lake
from weir.lake.tables import FRESHNESS, REPLICAS
from weir.project import open_lake
from weir.remotes.inbox import inbox_names
from weir.remotes.known_keys import MAPPINGS, replica_rows
from weir.settings import Settings

FRESHNESS_CURRENT = "freshness_current"

_NEWEST = """
SELECT * FROM {rows}
QUALIFY row_number() OVER (PARTITION BY remote, pattern ORDER BY evaluation DESC, round DESC) = 1
"""


def remote_views(settings: Settings) -> list[str]:
    """The views about remotes that a statement can name."""
    lake = open_lake(settings)
    current = [FRESHNESS_CURRENT] if lake.exists(FRESHNESS.name) else []
    return [*(f"{REPLICA}_{name}" for name in inbox_names(lake)), *current]


def create_remote_view(bindings: Bindings, lake: Lake, name: str) -> bool:
    """Create the view `name` if it is a view of a remote; gives whether it is."""
    if name == FRESHNESS_CURRENT:
        relation = f"{FRESHNESS.name} log"
        if register_table(bindings, lake, FRESHNESS.name, relation):
            _create(bindings, name, _NEWEST, relation)
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
