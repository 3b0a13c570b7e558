"""What is known of the keys of a remote: the newest rows of its inbox, by DuckDB."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.dataset as ds

from weir.lake.delta.appended import NotAppended, appended_rows
from weir.lake.delta.commit import arrow_schema
from weir.lake.lake import Lake
from weir.lake.tables import REPLICA_SUMMARIES, REPLICAS, replica
from weir.remotes.inbox import summary_version

NEWEST_KEYS: Final = """
SELECT * FROM {rows} WHERE part = 'key'
QUALIFY row_number() OVER (PARTITION BY pattern, key ORDER BY round DESC) = 1
"""
"""The newest row about each key, of the relation `rows`."""

MAPPINGS: Final = f"""
WITH newest AS ({NEWEST_KEYS})
SELECT pattern, key, m.mapping, m.multiplicity, k.asked_at, k.answered_at
FROM {{rows}} m JOIN newest k USING (pattern, key)
WHERE m.part = 'mapping' AND m.round = k.rows_round AND m.multiplicity > 0
"""
"""The mappings that each key has now, of the relation `rows`."""


def replica_rows(lake: Lake, remote: str) -> pa.Table | ds.Dataset | None:
    """Rows of `replicas/<remote>`, the newest of every key among them; None if there is no table.

    From the summary of the inbox and the rounds since; without a summary the whole inbox, which
    DuckDB reads in pieces.
    """
    name, schema = REPLICAS.name(remote), arrow_schema(replica(remote))
    inbox = lake.open(name)
    if inbox is None:
        return None
    try:
        version = summary_version(lake, remote, inbox.version())
        since = appended_rows(lake, name, version, inbox.version(), schema)
    except NotAppended:
        return inbox.to_pyarrow_dataset()
    known = lake.rows(REPLICA_SUMMARIES.name(remote), schema.names)
    return pa.concat_tables([known.select(schema.names).cast(schema), since])
