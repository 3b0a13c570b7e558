"""Data-quality checks as values: suites of expectations over the rows of one table."""

from __future__ import annotations

import re
from dataclasses import dataclass

from weir.lake.counted import counted

_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Expectation:
    """A condition that every row must meet.

    Attributes:
        name: short name, as in the `quality` table and in results of Great Expectations.
        sentence: the condition in words.
        holds: the condition over a row of the suite's frame; null counts as not met. It is Spark
            SQL, which sqlglot translates for DuckDB; `weir.expectations.terms` has predicates.
        found: what an unexpected row says, with its columns in braces; empty: only how many.
    """

    name: str
    sentence: str
    holds: str
    found: str = ""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"{self.name!r} is not the name of an expectation")


@dataclass(frozen=True, slots=True)
class Suite:
    """The expectations of one kind of table.

    All of them are computed in one pass: a suite costs one query, however many it has.

    Attributes:
        name: unique; of a suite of one table mostly that of the table.
        columns: the columns that the checked frame must have, besides `scope` (the query that the
            row belongs to, or empty).
        shown: the columns of an example of an unexpected row.
        rows: condition of the rows of the frame that the suite checks.
    """

    name: str
    columns: tuple[str, ...]
    shown: tuple[str, ...]
    expectations: tuple[Expectation, ...]
    rows: str = "true"

    def __post_init__(self) -> None:
        names = [expectation.name for expectation in self.expectations]
        if len(names) != len(set(names)):
            raise ValueError(f"suite {self.name}: two expectations have the same name: {names}")


@dataclass(frozen=True, slots=True)
class QualityResult:
    """Whether an expectation holds for the rows of one scope.

    Attributes:
        unexpected_rows: how many rows do not meet it.
        examples: at most two of them, as JSON.
        found: what the first of them say, in lines; or empty.
    """

    suite: str
    scope: str
    expectation: str
    sentence: str
    success: bool
    unexpected_rows: int = 0
    examples: tuple[str, ...] = ()
    found: str = ""

    @property
    def failure(self) -> str:
        """What did not hold: the expectation, and what was found or in how many rows."""
        if self.found:
            return f"{self.expectation}: {self.found}"
        return f"{self.expectation} ({counted(self.unexpected_rows, 'row')})"
