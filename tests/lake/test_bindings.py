"""In a connection of DuckDB a name stands for one relation until it is released."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from weir.lake.delta.bindings import Bindings, NameIsBound

ROOT = Path(__file__).parents[2]
ROWS = pa.table({"x": [1]})
KINDS: dict[str, Callable[[Bindings, str], None]] = {
    "rows": lambda bindings, name: bindings.rows(name, ROWS),
    "view": lambda bindings, name: bindings.view(name, "SELECT 2 AS x"),
    "table": lambda bindings, name: bindings.table(name, "SELECT 3 AS x"),
    "relation": lambda bindings, name: bindings.relation(
        name, bindings.connection.sql("SELECT 4 AS x")
    ),
}
VALUES = {kind: number for number, kind in enumerate(KINDS, start=1)}


@pytest.fixture
def bindings() -> Bindings:
    return Bindings(duckdb.connect())


def value(bindings: Bindings, name: str) -> int:
    ((number,),) = bindings.connection.execute(f'SELECT x FROM "{name}"').fetchall()
    return int(number)


@pytest.mark.parametrize(("first", "second"), [*itertools.product(KINDS, KINDS)])
@pytest.mark.parametrize("again", ["a", "A"])
def test_a_name_that_is_bound_is_refused(
    bindings: Bindings, first: str, second: str, again: str
) -> None:
    KINDS[first](bindings, "a")
    with pytest.raises(NameIsBound):
        KINDS[second](bindings, again)
    assert value(bindings, "a") == VALUES[first]


@pytest.mark.parametrize(("first", "second"), [*itertools.product(KINDS, KINDS)])
def test_a_name_that_was_released_stands_for_what_it_is_bound_to_next(
    bindings: Bindings, first: str, second: str
) -> None:
    KINDS[first](bindings, "a")
    bindings.release("a")
    KINDS[second](bindings, "a")
    assert value(bindings, "a") == VALUES[second]


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_free_after_the_block_that_bound_them(bindings: Bindings, kind: str) -> None:
    KINDS[kind](bindings, "kept")
    for _ in range(2):
        with bindings.scope():
            KINDS[kind](bindings, "a")
    assert "a" not in bindings
    assert value(bindings, "kept") == VALUES[kind]


def test_what_is_bound_for_a_name_is_released_with_it(bindings: Bindings) -> None:
    bindings.rows("a#whole", ROWS)
    bindings.view("a", 'SELECT * FROM "a#whole"')
    bindings.view("ab", "SELECT 5 AS x")
    bindings.release("a")
    assert ("a#whole" in bindings, "ab" in bindings) == (False, True)


def test_a_name_whose_binding_failed_is_free(bindings: Bindings) -> None:
    def bind() -> None:
        with bindings.whole("a"):
            bindings.rows("a#whole", ROWS)
            bindings.view("a", "SELECT * FROM nothing")

    with pytest.raises(duckdb.Error):
        bind()
    assert "a#whole" not in bindings
    bindings.view("a", "SELECT 6 AS x")


_BINDS = re.compile(
    r"connection\.register\(|\.create_view\(|OrReplaceTempView\(|"
    r"CREATE (OR REPLACE )?(TEMP |TEMPORARY )?(TABLE|VIEW)\b",
)


def test_names_are_bound_in_one_place() -> None:
    """And once where the plan of a view of Spark is cut: the same rows under the same name.

    `weir export views` prints statements, and executes none.
    """
    files = [
        *ROOT.glob("weir/**/*.py"),
        *ROOT.glob("lake/**/*.py"),
        *ROOT.glob("expectations/*.py"),
    ]
    binding = {str(file.relative_to(ROOT)) for file in files if _BINDS.search(file.read_text())}
    printing = {"weir/export/tables.py"}
    assert binding == {"lake/delta/bindings.py", "weir/compute/spark.py"} | printing
