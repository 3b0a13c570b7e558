"""The rows of a batch as quad assertions: which quads hold from an epoch on, and which do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.relations import Statement
from weir.compute.sql import (
    alias,
    column,
    columns,
    equal,
    inner_join,
    is_null,
    left_join,
    number,
    rows_of,
    select,
    semi_join,
    small_number,
    union_all,
)
from weir.ingest import netting
from weir.ingest.netting import QUAD
from weir.ingest.reading import Carried

ASSERTION = ("epoch", "line", "insert", *QUAD)


def changes_as_assertions(changes: str, epochs: str) -> exp.Select:
    """The rows that insert and delete quads, by epoch.

    Args:
        changes: `CHANGE_COLUMNS`.
        epochs: ordinal, epoch: of the change sets that are no states.
    """
    return select(
        column("epoch", "epochs"),
        *columns(ASSERTION[1:], "changes"),
        from_=rows_of(changes, "changes"),
        joins=[inner_join(rows_of(epochs, "epochs"), *equal(["ordinal"], "changes", "epochs"))],
    )


@dataclass(frozen=True, slots=True)
class DatedState:
    """A state that becomes an epoch: the whole content of `graphs`, or of all (None)."""

    ordinal: int
    epoch: int
    graphs: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class _Versions:
    """The states of a source, numbered from 1.

    numbers: relation ordinal, version, epoch; and graph, if each graph has versions of its own.
    is_one: whether no version comes after 1. key: the columns within which versions are numbered.
    left_out: relation of the graphs that have other versions, None if there are none.
    """

    numbers: str
    is_one: bool
    key: tuple[str, ...] = ()
    left_out: str | None = None


def state_assertions(
    engine: Engine,
    changes: str,
    stored: str,
    states: Sequence[DatedState],
    carried: Sequence[Carried],
) -> list[exp.Query]:
    """The quad assertions of the successive states of one source, in parts.

    The versions of a graph are the states that cover it; a state that does not cover it leaves it
    as it is. The graphs that no state names are one part, those that some state names another.

    Args:
        engine: makes the relations.
        changes: relation of `CHANGE_COLUMNS`.
        stored: relation weight, QUAD: the log of the source's graphs.
        states: those that are accepted and usable, in order.
        carried: what counts for a state beside its own documents.
    """
    if not states:
        return []
    name = f"states_{states[0].ordinal}"
    extra = pairs(
        engine,
        f"{name}_carried",
        ("document", "ordinal"),
        [(content.document, content.ordinal) for content in carried],
    )
    assertions: list[exp.Query] = []
    for versions in _numbered(engine, name, states):
        held = f"{versions.numbers}_held"
        engine.make(Statement(held, _held(changes, versions, extra, stored)))
        differences = netting.one_state_assertions if versions.is_one else netting.state_assertions
        assertions.append(differences(held, versions.numbers, versions.key))
    return assertions


def pairs(
    engine: Engine, name: str, columns_: tuple[str, str], rows: Sequence[tuple[int, int]]
) -> str:
    """Load a small relation of two numbers and return its name."""
    left, right = columns_
    return _load(
        engine,
        name,
        {
            left: pa.array([row[0] for row in rows], pa.int32()),
            right: pa.array([row[1] for row in rows], pa.int64()),
        },
    )


def _numbered(engine: Engine, name: str, states: Sequence[DatedState]) -> list[_Versions]:
    named = sorted(frozenset[str]().union(*(state.graphs or () for state in states)))
    whole = [state for state in states if state.graphs is None]
    versions: list[_Versions] = []
    if whole:
        left_out = None
        if named:
            left_out = _load(engine, f"{name}_named", {"graph": pa.array(named, pa.string())})
        rows = [(state, version) for version, state in enumerate(whole, start=1)]
        numbers = _load(engine, f"{name}_versions", _version_columns(rows))
        versions.append(_Versions(numbers, len(whole) == 1, left_out=left_out))
    if named:
        newest: Counter[str] = Counter()
        rows, graphs = [], []
        for state in states:
            covered = named if state.graphs is None else sorted(state.graphs)
            newest.update(covered)
            graphs += covered
            rows += [(state, newest[graph]) for graph in covered]
        by_graph = {"graph": pa.array(graphs, pa.string())} | _version_columns(rows)
        numbers = _load(engine, f"{name}_versions_by_graph", by_graph)
        versions.append(_Versions(numbers, max(newest.values()) == 1, key=("graph",)))
    return versions


def _version_columns(rows: Sequence[tuple[DatedState, int]]) -> dict[str, pa.Array[Any]]:
    return {
        "ordinal": pa.array([state.ordinal for state, _ in rows], pa.int32()),
        "version": pa.array([version for _, version in rows], pa.int64()),
        "epoch": pa.array([state.epoch for state, _ in rows], pa.int64()),
    }


def _load(engine: Engine, name: str, arrays: Mapping[str, pa.Array[Any]]) -> str:
    engine.load(name, pa.table(dict(arrays)))
    return name


def _held(changes: str, versions: _Versions, carried: str, stored: str) -> exp.Query:
    """What each version holds: version, weight, QUAD; version 0 is what is stored.

    Args:
        changes: `CHANGE_COLUMNS`; every row is a quad of its document.
        versions: of the states; rows of graphs that a state does not cover are left out.
        carried: document, ordinal: earlier documents that count for a state too.
        stored: weight, QUAD: the log of the source's graphs.
    """

    def quads_in(
        relation: str, version: exp.Expr, weight: exp.Expr, *joins: exp.Join
    ) -> exp.Select:
        where: list[exp.Expr] = []
        if versions.left_out is not None:
            others = rows_of(versions.left_out, "left_out")
            joins = (*joins, left_join(others, *equal(["graph"], "quads", "left_out")))
            where = [is_null(column("graph", "left_out"))]
        return select(
            alias(version, "version"),
            alias(weight, "weight"),
            *columns(QUAD, "quads"),
            from_=rows_of(relation, "quads"),
            joins=joins,
            where=where,
        )

    def numbered(ordinals: str) -> exp.Join:
        return inner_join(
            rows_of(versions.numbers, "versions"),
            *equal(["ordinal"], ordinals, "versions"),
            *equal(versions.key, "quads", "versions"),
        )

    earlier = inner_join(rows_of(carried, "carried"), *equal(["document"], "quads", "carried"))
    covered = [
        semi_join(rows_of(versions.numbers, "versions"), *equal([name], "quads", "versions"))
        for name in versions.key
    ]
    version, once = column("version", "versions"), small_number(1)
    return union_all(
        [
            quads_in(changes, version, once, numbered("quads")),
            quads_in(changes, version, once, earlier, numbered("carried")),
            quads_in(stored, number(0), column("weight", "quads"), *covered),
        ]
    )
