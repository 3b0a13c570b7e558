"""The rows of many queries that are read together, cut by query."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from jobs.publish.appended_rows import by_query


@pytest.mark.parametrize("seed", range(100))
def test_each_query_gets_its_own_rows(seed: int) -> None:
    rng = random.Random(seed)
    names = [f"{rng.choice('abc')}{i}" for i in range(rng.randint(1, 12))]
    rows = [
        {"query": name, "epoch": rng.randint(1, 9), "v0": f"{name} {i}"}
        for name in names
        for i in range(rng.choice((0, 1, 3, 9)))
    ]
    rng.shuffle(rows)
    work: list[Any] = [SimpleNamespace(query=name) for name in names]
    columns: dict[str, pa.Array[Any]] = {
        "query": pa.array([row["query"] for row in rows], pa.string()),
        "epoch": pa.array([row["epoch"] for row in rows], pa.int64()),
        "v0": pa.array([row["v0"] for row in rows], pa.string()),
    }
    found = by_query(pa.table(columns), work)
    assert sorted(found) == sorted(names)
    for name in names:
        own = [row for row in rows if row["query"] == name]
        assert sorted(map(str, found[name].to_pylist())) == sorted(map(str, own))
        epochs = [int(str(epoch)) for epoch in found[name]["epoch"].to_pylist()]
        assert epochs == sorted(epochs)
