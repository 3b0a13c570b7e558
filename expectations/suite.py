"""What a data-quality check is: a suite of expectations over the rows of one table."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Expectation:
    """Something that must hold for every row.

    Attributes:
        name: short name, as in the `quality` table.
        sentence: what it says, for a reader.
        holds: condition over a row of the suite's frame; null counts as broken. It is Spark SQL of
            which sqlglot makes the same for DuckDB; regular expressions are those that Java and RE2
            have in common.
    """

    name: str
    sentence: str
    holds: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"{self.name!r} is not the name of an expectation")


@dataclass(frozen=True, slots=True)
class Suite:
    """The expectations of one kind of table.

    All of them are computed in one pass, so that a suite costs one query however many it has.

    Attributes:
        name: `quads`, `transactions`, `embeddings` or `answers`.
        columns: what the checked frame must have, beside `scope` (what the row belongs to: the name
            of a query, or empty).
        shown: the columns of an example of a broken row.
        expectations: what must hold.
        rows: which rows of the frame the suite is about.
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
        examples: at most two of the rows that break it, as JSON.
    """

    suite: str
    scope: str
    expectation: str
    sentence: str
    success: bool
    unexpected_rows: int = 0
    examples: tuple[str, ...] = ()
