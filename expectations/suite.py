"""Data-quality checks as values: suites of expectations on the rows of one table."""

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
        holds: the condition on a row of the suite's frame; null counts as not met. It is Spark SQL,
            which sqlglot translates for DuckDB, with the predicates of `weir.expectations.terms`.
        detail: describes an unexpected row, with its columns in braces; empty if the number of
            unexpected rows is enough.
    """

    name: str
    sentence: str
    holds: str
    detail: str = ""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"{self.name!r} is not the name of an expectation")


@dataclass(frozen=True, slots=True)
class Suite:
    """The expectations of one kind of table.

    All of them are computed in one pass: a suite costs one query, however many it has.

    Attributes:
        name: unique; mostly the name of the checked table.
        columns: the columns that the checked frame must have, besides `scope` (the query that the
            row belongs to, or empty).
        shown: the columns that an example of an unexpected row shows.
        expectations: with different names.
        rows: the suite checks only rows of the frame that meet this condition.
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
        examples: at most two of them, as JSON; of a check of the project at most 20.
        detail: describes the first of them, in lines; or empty.
        is_warning: whether a failure is only reported, and nothing is held.
        label: precedes the name in a sentence, and says what kind of check it is; or empty.
    """

    suite: str
    scope: str
    expectation: str
    sentence: str
    success: bool
    unexpected_rows: int = 0
    examples: tuple[str, ...] = ()
    detail: str = ""
    is_warning: bool = False
    label: str = ""

    @property
    def may_pass(self) -> bool:
        """Whether nothing is held because of it."""
        return self.success or self.is_warning

    @property
    def failure(self) -> str:
        """The failure in words: the expectation with its detail or the number of rows."""
        name = f"{self.label} {self.expectation}".strip()
        if self.detail:
            return f"{name}: {self.detail}"
        return f"{name} ({counted(self.unexpected_rows, 'row')})"
