"""Which stored tables are read together: as many as the driver holds, or as one statement bears."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from jobs.compute.engine import Engine
from jobs.compute.placement import Extent
from jobs.compute.relations import StoredTable

Item = TypeVar("Item")

MOST_TABLES, MOST_TABLES_ON_SPARK = 500, 50
"""In one statement: each costs a file that is open, on Spark a branch of a plan."""


def packs(
    engine: Engine,
    items: Sequence[Item],
    kind: Callable[[Item], Hashable],
    table: Callable[[Item], StoredTable],
) -> list[list[Item]]:
    """The items in groups that are of one kind and whose tables are read together.

    A table that is large for the driver is alone, and so is one that cannot be opened.
    """
    by_kind: defaultdict[Hashable, list[Item]] = defaultdict(list)
    for item in items:
        by_kind[kind(item)].append(item)
    return [pack for alike in by_kind.values() for pack in _packs(engine, alike, table)]


def _packs(
    engine: Engine, items: Sequence[Item], table: Callable[[Item], StoredTable]
) -> list[list[Item]]:
    on_spark = not engine.placement.driver_rows
    most = MOST_TABLES_ON_SPARK if on_spark else MOST_TABLES
    found: list[list[Item]] = []
    pack: list[Item] = []
    extents: list[Extent] = []
    for item in items:
        try:
            extent = engine.extent(table(item))
        except Exception:  # noqa: BLE001  (it shows again, for this item, when it is read)
            found.append([item])
            continue
        if not on_spark and not engine.placement.reads_all([extent]):
            found.append([item])
            continue
        fits = on_spark or engine.placement.reads_all([*extents, extent])
        if pack and (len(pack) == most or not fits):
            found.append(pack)
            pack, extents = [], []
        pack.append(item)
        extents.append(extent)
    return [*found, pack] if pack else found
