"""The costs of paper 001, section 4: its numbers, its claim, and what is counted to get them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from bench.costs import (
    OperandChange,
    UnitCosts,
    direct_cost,
    incremental_cost,
    operand_change,
)

ONE = UnitCosts()
Mapping_ = frozenset[tuple[str, str]]


def expected(shared: Path, name: str) -> Any:
    """What the fixture whose folder begins with `name` expects."""
    (folder,) = (shared / "papers" / "examples").glob(f"{name}-*")
    return json.loads((folder / "expected.json").read_text(encoding="utf-8"))


def mappings(rows: Sequence[Mapping[str, str]]) -> set[Mapping_]:
    return {frozenset(row.items()) for row in rows}


def log_of(before: set[Mapping_], now: set[Mapping_]) -> pa.Table:
    """The log of an operand that is `before` at epoch 1 and `now` at epoch 2."""
    signed = [(1, 1, row) for row in before]
    signed += [(2, 1, row) for row in now - before] + [(2, -1, row) for row in before - now]
    names = sorted({name for row in before | now for name, _ in row})
    columns = {name: [dict(row).get(name) for *_, row in signed] for name in names}
    return pa.table(
        {
            "epoch": pa.array([epoch for epoch, _, _ in signed], pa.int64()),
            "weight": pa.array([weight for _, weight, _ in signed], pa.int64()),
            **{name: pa.array(values, pa.string()) for name, values in columns.items()},
        }
    )


def projected(rows: set[Mapping_], names: Sequence[str]) -> set[Mapping_]:
    return {projection(row, names) for row in rows}


def projection(row: Mapping_, names: Sequence[str]) -> Mapping_:
    return frozenset((name, term) for name, term in row if name in names)


def run_algorithm_1(
    before: set[Mapping_], now: set[Mapping_], names: Sequence[str]
) -> tuple[set[Mapping_], int, int, int]:
    """The new result, the number of operations, alpha and beta; repaired as 001-6 says."""
    result, operations, kept, new = projected(before, names), 0, 0, 0
    for row in before - now:
        operations += 2  # projected; another one is looked for
        if projection(row, names) in projected(now, names):
            kept += 1
        else:
            operations += 2  # deleted from the result, inserted into its minus part
            result.discard(projection(row, names))
    for row in now - before:
        operations += 2  # projected; inserted into the result
        if projection(row, names) not in result:
            operations += 1  # inserted into its plus part
            result.add(projection(row, names))
            new += 1
    return result, operations, kept, new


def test_the_costs_are_those_of_the_fixture(shared: Path) -> None:
    rows = expected(shared, "001-21")["rows"]
    for row in rows:
        change = OperandChange(row["A_new"], row["dA_minus"], row["dA_plus"])
        assert direct_cost(change, ONE) == row["direct"]
        assert incremental_cost(change, row["alpha"], row["beta"], ONE) == row["incremental"]
    assert rows


def test_what_is_surely_incremental_costs_less(shared: Path) -> None:
    for after, appeared in product(range(12), repeat=2):
        change = OperandChange(after, 0, appeared)
        for new in range(appeared + 1):
            cheaper = incremental_cost(change, 0, new, ONE) < direct_cost(change, ONE)
            assert cheaper or not change.is_surely_incremental
    # It is sufficient, not necessary.
    row = expected(shared, "001-21")["rows"][3]
    assert not OperandChange(row["A_new"], 0, row["dA_plus"]).is_surely_incremental
    assert row["incremental"] < row["direct"]


def test_the_bench_counts_the_changes_of_every_operand_and_result(shared: Path) -> None:
    cases = expected(shared, "001-20")["cases"]
    for case in cases:
        for name in ("A", "B", "C"):
            if name in case:
                before, now = mappings(case[name]), mappings(case[f"{name}_new"])
                counted = operand_change(log_of(before, now), after=1)
                assert counted == OperandChange(len(now), len(before - now), len(now - before))
        result = operand_change(log_of(mappings(case["C"]), mappings(case["C_new"])), after=1)
        assert (result.vanished, result.appeared) == (len(case["minus"]), len(case["plus"]))
    assert len(cases) > 20


def test_the_formula_counts_the_operations_of_algorithm_1(shared: Path) -> None:
    cases = [case for case in expected(shared, "001-20")["cases"] if case["op"] == "projection"]
    for case in cases:
        before, now = mappings(case["A"]), mappings(case["A_new"])
        result, operations, kept, new = run_algorithm_1(before, now, case["S"])
        assert result == mappings(case["C_new"])
        change = operand_change(log_of(before, now), after=1)
        assert incremental_cost(change, kept, new, ONE) == operations
    assert cases


@pytest.mark.parametrize("after", [0, 3])
def test_a_log_without_rows_has_no_change(after: int) -> None:
    assert operand_change(log_of(set(), set()), after) == OperandChange(0, 0, 0)


def test_a_row_that_comes_and_goes_within_the_range_is_no_change() -> None:
    log = pa.table({"epoch": [1, 2, 3], "weight": [1, 1, -1], "v0": ["a", "b", "b"]})
    assert operand_change(log, after=1) == OperandChange(1, 0, 0)
