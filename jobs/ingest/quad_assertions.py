"""The rows of a batch as quad assertions: which quads each epoch says to hold, or not to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
from sqlglot import exp
from sqlglot.expressions import select

from jobs.compute.engine import Engine
from jobs.compute.relations import Statement
from jobs.compute.sql import column, columns, number, union_all
from jobs.ingest import netting
from jobs.ingest.netting import QUAD
from jobs.ingest.reading import Carried

ASSERTION = ("epoch", "line", "insert", *QUAD)


def changes_as_assertions(changes: str, epochs: str) -> exp.Select:
    """The rows of patches and commits, by epoch.

    Args:
        changes: `CHANGE_COLUMNS`.
        epochs: ordinal, epoch: of the patches and commits that are taken in.
    """
    return (
        select(column("epoch", "epochs"), *columns(ASSERTION[1:], "changes"))
        .from_(exp.to_table(changes, alias="changes"))
        .join(
            exp.to_table(epochs, alias="epochs"),
            on=column("ordinal", "changes").eq(column("ordinal", "epochs")),
        )
    )


def states(changes: str, versions: str, carried: str, stored: str) -> exp.Query:
    """What each version of a source holds: version, QUAD; version 0 is what is stored.

    Args:
        changes: `CHANGE_COLUMNS`; every row is a quad of its document.
        versions: ordinal, version: the versions that are taken in.
        carried: document, version: earlier documents that count for a version too.
        stored: QUAD: the quads of the source's graphs.
    """

    def of(relation: str, key: str) -> exp.Select:
        return (
            select(column("version", "named"), *columns(QUAD, "changes"))
            .from_(exp.to_table(changes, alias="changes"))
            .join(
                exp.to_table(relation, alias="named"),
                on=column(key, "changes").eq(column(key, "named")),
            )
        )

    before = select(number(0).as_("version", quoted=True), *columns(QUAD)).from_(stored)
    return union_all([of(versions, "ordinal"), of(carried, "document"), before])


def pairs(
    engine: Engine, name: str, columns_: tuple[str, str], rows: Sequence[tuple[int, int]]
) -> str:
    """Register a small relation of two numbers and return its name."""
    left, right = columns_
    table = pa.table(
        {
            left: pa.array([row[0] for row in rows], pa.int32()),
            right: pa.array([row[1] for row in rows], pa.int64()),
        }
    )
    engine.load(name, table)
    return name


def state_assertions(
    engine: Engine,
    changes: str,
    stored: str,
    epochs: Mapping[int, int],
    carried: Sequence[Carried],
) -> exp.Query:
    """The operations of the successive versions of one source.

    Args:
        engine: makes the relations.
        changes: relation of `CHANGE_COLUMNS`.
        stored: relation of the quads of the source's graphs.
        epochs: ordinal -> epoch of the usable versions that are taken in, in order.
        carried: what counts for a version beside its own documents.
    """
    version = {ordinal: index for index, ordinal in enumerate(epochs, start=1)}
    name = f"states_{min(epochs)}"
    versions = pairs(engine, f"{name}_versions", ("ordinal", "version"), [*version.items()])
    extra = pairs(
        engine,
        f"{name}_carried",
        ("document", "version"),
        [(each.document, version[each.ordinal]) for each in carried if each.ordinal in version],
    )
    dated = pairs(
        engine,
        f"{name}_dated",
        ("version", "epoch"),
        [(version[ordinal], epoch) for ordinal, epoch in epochs.items()],
    )
    held = f"{name}_states"
    engine.make(Statement(held, states(changes, versions, extra, stored)))
    return netting.state_assertions(held, dated, len(version))
