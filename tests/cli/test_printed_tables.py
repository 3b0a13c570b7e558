"""Tables on standard output: written line by line, they look as those that rich writes."""

from __future__ import annotations

import io
import random
from contextlib import redirect_stdout

import pytest
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from weir.cli.options import Output
from weir.cli.output import print_rows

_LETTERS = "ab[]\\| 日é😀\u0301"


def written(columns: list[str], rows: list[dict[str, object]]) -> str:
    """What is printed of rows, where nothing limits the width."""
    text = io.StringIO()
    with redirect_stdout(text):
        print_rows(Output.table, columns, rows, title="")
    return text.getvalue()


def by_rich(columns: list[str], rows: list[dict[str, object]]) -> str:
    """The same by a table of rich, where nothing limits the width either."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        numbers = rows and all(isinstance(row[column], int | None) for row in rows)
        table.add_column(Text(column), justify="right" if numbers else "left")
    for row in rows:
        table.add_row(*("" if row[c] is None else Text(str(row[c])) for c in columns))
    text = io.StringIO()
    Console(file=text, width=10_000, highlight=False).print(table)
    return text.getvalue()


@pytest.mark.parametrize("seed", range(20))
def test_a_table_that_fits_looks_as_one_of_rich(seed: int) -> None:
    rng = random.Random(seed)

    def word() -> str:
        return "".join(rng.choices(_LETTERS, k=rng.randrange(9))).strip()

    columns = [f"{i}{word()}" for i in range(rng.randint(1, 5))]
    numbers = {column for column in columns if rng.random() < 0.3}
    rows: list[dict[str, object]] = [
        {c: rng.choice([None, rng.randrange(9999)]) if c in numbers else word() for c in columns}
        for _ in range(rng.randrange(5))
    ]
    assert written(columns, rows) == by_rich(columns, rows)


def test_a_table_that_is_too_wide_is_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weir.cli.output._console", lambda: Console(width=20, highlight=False))
    lines = written(["a", "b"], [{"a": "x" * 30, "b": "y"}]).splitlines()
    assert all(len(line) <= 20 for line in lines)
    assert sum(line.count("x") for line in lines) == 30
