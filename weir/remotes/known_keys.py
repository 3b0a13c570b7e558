"""What is known of the keys of a remote, as relations: its newest rows, from a summary and later.

`replica_summaries/<remote>` has the newest rows of each key up to a version of the inbox. A reader
adds the rounds since, so that an evaluation reads as much after a year as on its first day. The
summary can be deleted; it is then made from the whole inbox.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.dataset as ds
from deltalake.exceptions import DeltaError
from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.relations import Statement
from weir.compute.sql import (
    alias as as_,
)
from weir.compute.sql import (
    column,
    columns,
    descending,
    equal,
    inner_join,
    number,
    row_number,
    rows_of,
    select,
    small_number,
    subquery,
    text,
    union_all,
)
from weir.lake.delta.appended import NotAppended
from weir.lake.delta.commit import arrow_schema
from weir.lake.lake import Lake
from weir.lake.tables import REPLICA_SUMMARIES, REPLICAS, replica, replica_summary
from weir.remotes.key_rows import KEY, MAPPING
from weir.remotes.replica_inbox import replica_inbox
from weir.remotes.rounds import DROPPED

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

_COMMITS = 64
"""A new summary is written once so many rounds are not in it."""


@dataclass(frozen=True, slots=True)
class KnownKeys:
    """The relations of what is known of the keys of a remote.

    Attributes:
        keys: the newest row of part `key` of each key: the columns of the inbox.
        mappings: the rows of part `mapping` that have the present mappings of keys.
        version: of the inbox; -1 if there is none yet.
        later: how many rounds of it are not in the summary.
    """

    keys: str
    mappings: str
    version: int
    later: int


def known_keys(engine: Engine, lake: Lake, remote: str) -> KnownKeys:
    """Make the relations; without rows if the remote has no inbox yet."""
    inbox = replica(remote)
    newest = lake.version(inbox.name)
    if newest is None:
        newest = summarized = -1
        engine.load("inbox", arrow_schema(inbox).empty_table())
    else:
        summarized = _opened(engine, lake, remote, newest)
    names = inbox.column_names
    keys, mappings = "known_keys", "known_mappings"
    _numbered(engine, names)
    engine.make(
        Statement(
            keys,
            select(
                *columns(names),
                from_=rows_of("inbox_numbered"),
                where=[column("place").eq(small_number(1))],
            ),
            "cache",
        )
    )
    engine.make(
        Statement(
            mappings,
            select(
                *columns(names, "m"),
                from_=rows_of("inbox", "m"),
                joins=[
                    inner_join(
                        rows_of(keys, "k"),
                        *equal(["pattern", "key"], "m", "k"),
                        column("round", "m").eq(column("rows_round", "k")),
                    )
                ],
                where=[
                    column("part", "m").eq(text(MAPPING)),
                    column("multiplicity", "m") > number(0),
                ],
            ),
        )
    )
    return KnownKeys(keys, mappings, newest, newest - summarized)


def summarize(engine: Engine, lake: Lake, remote: str, known: KnownKeys, run_id: str) -> None:
    """Write a new summary if reading took many rounds; an older one stays valid until then."""
    if known.later < _COMMITS:
        return
    with suppress(NotAppended, DeltaError):
        metadata = replica_inbox(remote).summary_metadata(lake, known.version, run_id)
        kept = select("*", from_=rows_of(known.keys), where=[column("status").neq(text(DROPPED))])
        whole = union_all([kept, select("*", from_=rows_of(known.mappings))])
        engine.make(Statement("summary_rows", whole))
        engine.write(replica_summary(remote), "summary_rows", metadata, mode="overwrite")


def _opened(engine: Engine, lake: Lake, remote: str, newest: int) -> int:
    """Name the rows of the summary and the later ones `inbox`; gives the summary's version."""
    inbox, summary = replica(remote), replica_summary(remote)
    try:
        version, later = replica_inbox(remote).since_summary(lake, newest)
    except NotAppended:
        engine.open("inbox", inbox.name)
        return 0
    engine.open("inbox_summary", summary.name)
    engine.load("inbox_later", later)
    parts: Sequence[exp.Query] = [
        select(*columns(inbox.column_names), from_=rows_of(part))
        for part in ("inbox_summary", "inbox_later")
    ]
    engine.make(Statement("inbox", union_all(parts)))
    return version


def _numbered(engine: Engine, names: Sequence[str]) -> None:
    newest = row_number(
        [column("pattern"), column("key")],
        [descending(column("round"))],
    )
    engine.make(
        Statement(
            "inbox_numbered",
            select(
                *columns(names, "i"),
                as_(newest, "place"),
                from_=subquery(
                    select("*", from_=rows_of("inbox"), where=[column("part").eq(text(KEY))]),
                    "i",
                ),
            ),
        )
    )


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
        _, later = replica_inbox(remote).since_summary(lake, inbox.version())
    except NotAppended:
        return inbox.to_pyarrow_dataset()
    known = lake.rows(REPLICA_SUMMARIES.name(remote), schema.names)
    return pa.concat_tables([known.select(schema.names).cast(schema), later])
