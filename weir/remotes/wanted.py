"""The keys that answers depend on, as a relation: the proposer WSJ of 003, Section 3.2.

They are the rows of a node of each query, as far as the query is maintained.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.relations import Statement
from weir.compute.sql import (
    alias,
    bigint,
    case,
    cast,
    column,
    columns,
    equal,
    left_join,
    null_text,
    number,
    rows_of,
    select,
    subquery,
    sum_of,
    text,
    union_all,
)
from weir.definitions.definition import Definition
from weir.definitions.services import AskedBlock
from weir.lake.tables import EMBEDDINGS
from weir.progress.backlog import HORIZON
from weir.progress.completion import Completion

WANTED = "wanted"
COLUMNS = ("pattern", "key", "seen")


@dataclass(frozen=True, slots=True)
class Asker:
    """A block of a query that is maintained.

    Attributes:
        query: the query.
        block: what it asks for.
        watermark: the epoch up to which the query's keys are stored.
        horizon: the instant up to which they are, of a query over streams that has any.
    """

    query: Definition
    block: AskedBlock
    watermark: int
    horizon: int | None


def askers(
    queries: Iterable[Definition], completion: Completion, remote: str | None = None
) -> list[Asker]:
    """The blocks of maintained queries; those about one remote if its IRI is given."""
    listed = []
    asking = {query.name: query for query in queries if query.services.blocks}
    damaged = completion.damaged(asking)
    for query in (definition for name, definition in asking.items() if name not in damaged):
        blocks = [block for block in query.services.blocks if remote in (None, block.remote)]
        stored = completion.maintained(query.name) if blocks else None
        if stored is None or stored.metadata.fingerprint != query.fingerprint:
            # An edited query has other nodes: its keys are known after it is maintained.
            continue
        horizon = stored.metadata.extra.get(HORIZON)
        listed += [Asker(query, block, stored.epoch, horizon) for block in blocks]
    return listed


def make_wanted(engine: Engine, listed: Sequence[Asker]) -> None:
    """Make the relation `WANTED`: pattern, key, seen.

    key: its terms, one per line, empty without a key. seen: microseconds from when a window last
    had the key to the horizon of the query; null if it is needed without a window.
    """
    parts: list[exp.Query] = []
    for index, asker in enumerate(listed):
        if asker.block.node is None:
            parts.append(
                select(
                    alias(text(asker.block.pattern), "pattern"),
                    alias(text(""), "key"),
                    _no_time("seen"),
                )
            )
            continue
        name = f"embeddings_{index}"
        until = column("epoch") <= number(asker.watermark)
        engine.open(name, EMBEDDINGS.name(asker.query.name), where=until)
        parts.append(_keys(name, asker))
    if not parts:
        parts.append(
            select(null_text("pattern"), null_text("key"), _no_time("seen"), where=[exp.false()])
        )
    rows = subquery(union_all(parts), "each")
    # A key that one query always needs is not one that leaves a window.
    is_windowed = exp.Count(this=exp.Star()).eq(exp.Count(this=column("seen")))
    engine.make(
        Statement(
            WANTED,
            select(
                *columns(["pattern", "key"]),
                alias(case((is_windowed, exp.Min(this=column("seen")))), "seen"),
                from_=rows,
                group_by=columns(["pattern", "key"]),
            ),
            "cache",
        )
    )


def _keys(name: str, asker: Asker) -> exp.Query:
    block = asker.block
    assert block.node is not None, "it has a key"
    present = select(
        alias(_key(block.columns), "key"),
        from_=rows_of(name),
        where=[column("node").eq(text(block.node))],
        group_by=columns(block.columns),
        having=sum_of(column("weight")) > number(0),
    )
    if asker.horizon is None:
        return select(
            alias(text(block.pattern), "pattern"),
            column("key", "p"),
            _no_time("seen"),
            from_=subquery(present, "p"),
        )
    assert block.seen is not None, "it has a key"
    arrived = select(
        alias(_key(block.columns), "key"),
        alias(exp.Max(this=column("instant")), "instant"),
        from_=rows_of(name),
        where=[column("node").eq(text(block.seen)), column("weight") > number(0)],
        group_by=columns(block.columns),
    )
    return select(
        alias(text(block.pattern), "pattern"),
        column("key", "p"),
        alias(bigint(number(asker.horizon) - column("instant", "a")), "seen"),
        from_=subquery(present, "p"),
        joins=[left_join(subquery(arrived, "a"), *equal(["key"], "p", "a"))],
    )


def _key(names: Sequence[str]) -> exp.Expr:
    first, *others = columns(names)
    for other in others:
        first = exp.DPipe(this=exp.DPipe(this=first, expression=text("\n")), expression=other)
    return first


def _no_time(name: str) -> exp.Expr:
    return alias(cast(exp.null(), exp.DType.BIGINT), name)
