"""Groups of stored tables that one statement reads together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from weir.compute.engine import Engine
from weir.compute.placement import Extent
from weir.compute.relations import StoredTable

Item = TypeVar("Item")

MOST_TABLES, MOST_TABLES_ON_SPARK = 500, 50
"""The most tables in one statement: each is an open file, on Spark a branch of a plan."""


def packs(
    engine: Engine,
    items: Sequence[Item],
    kind: Callable[[Item], Hashable],
    table: Callable[[Item], StoredTable],
    *,
    fetched: bool = False,
    looked_up: bool = False,
) -> list[list[Item]]:
    """Group items of one kind whose tables are read together.

    An item whose table is too large, or cannot be opened, is a group of its own.

    Args:
        engine: reads the tables.
        items: in the order in which they are grouped.
        kind: of an item; a group has items of one kind.
        table: of an item, whose size decides.
        fetched: whether the rows are fetched: Spark then reads only few rows together.
        looked_up: whether rows are looked up: a table with an index then is a group of its own.
    """
    by_kind: defaultdict[Hashable, list[Item]] = defaultdict(list)
    for item in items:
        by_kind[kind(item)].append(item)
    fit = _Fit(engine, fetched, looked_up)
    return [pack for alike in by_kind.values() for pack in _packs(fit, alike, table)]


@dataclass(frozen=True, slots=True)
class _Fit:
    """Decides which tables are read together."""

    engine: Engine
    fetched: bool
    looked_up: bool

    @property
    def most(self) -> int:
        """The largest number of tables in a group."""
        return MOST_TABLES if self.engine.placement.driver_rows else MOST_TABLES_ON_SPARK

    def together(self, extents: Sequence[Extent]) -> bool:
        """Whether tables of these extents are read together."""
        if self.looked_up and any(map(self.engine.has_index, extents)):
            return False
        if self.engine.placement.driver_rows:
            return self.engine.placement.reads_all(extents)
        rows = Extent.total(extents).rows
        return not self.fetched or (rows is not None and rows <= self.engine.few_rows)


def _packs(
    fit: _Fit, items: Sequence[Item], table: Callable[[Item], StoredTable]
) -> list[list[Item]]:
    groups: list[list[Item]] = []
    pack: list[Item] = []
    extents: list[Extent] = []
    for item in items:
        try:
            extent = fit.engine.extent(table(item))
        except Exception:  # noqa: BLE001  (it occurs again, for this item, when it is read)
            groups.append([item])
            continue
        if not fit.together([extent]):
            groups.append([item])
            continue
        if pack and (len(pack) == fit.most or not fit.together([*extents, extent])):
            groups.append(pack)
            pack, extents = [], []
        pack.append(item)
        extents.append(extent)
    return [*groups, pack] if pack else groups
