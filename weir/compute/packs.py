"""Which stored tables are read together: as many as the driver holds, or as one statement bears."""

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
"""In one statement: each costs a file that is open, on Spark a branch of a plan."""


def packs(
    engine: Engine,
    items: Sequence[Item],
    kind: Callable[[Item], Hashable],
    table: Callable[[Item], StoredTable],
    *,
    fetched: bool = False,
) -> list[list[Item]]:
    """The items in groups that are of one kind and whose tables are read together.

    A table that is too large for that is alone, and so is one that cannot be opened.

    Args:
        engine: reads them.
        items: in the order in which they are grouped.
        kind: what the items of a group have in common.
        table: whose size decides.
        fetched: whether the rows are fetched, so that Spark reads only few together.
    """
    by_kind: defaultdict[Hashable, list[Item]] = defaultdict(list)
    for item in items:
        by_kind[kind(item)].append(item)
    fit = _Fit(engine, fetched)
    return [pack for alike in by_kind.values() for pack in _packs(fit, alike, table)]


@dataclass(frozen=True, slots=True)
class _Fit:
    """Decides which tables are read together."""

    engine: Engine
    fetched: bool

    @property
    def most(self) -> int:
        """Most tables of a group."""
        return MOST_TABLES if self.engine.placement.driver_rows else MOST_TABLES_ON_SPARK

    def together(self, extents: Sequence[Extent]) -> bool:
        """Whether tables of these extents are read together."""
        if self.engine.placement.driver_rows:
            return self.engine.placement.reads_all(extents)
        rows = Extent.total(extents).rows
        return not self.fetched or (rows is not None and rows <= self.engine.few_rows)


def _packs(
    fit: _Fit, items: Sequence[Item], table: Callable[[Item], StoredTable]
) -> list[list[Item]]:
    found: list[list[Item]] = []
    pack: list[Item] = []
    extents: list[Extent] = []
    for item in items:
        try:
            extent = fit.engine.extent(table(item))
        except Exception:  # noqa: BLE001  (it shows again, for this item, when it is read)
            found.append([item])
            continue
        if not fit.together([extent]):
            found.append([item])
            continue
        if pack and (len(pack) == fit.most or not fit.together([*extents, extent])):
            found.append(pack)
            pack, extents = [], []
        pack.append(item)
        extents.append(extent)
    return [*found, pack] if pack else found
