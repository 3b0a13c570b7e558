"""The result of one check of the audit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from weir.expectations.suite import QualityResult
from weir.lake.tables import split_name

SHOWN = 20
"""The most lines of a result that are printed."""


@dataclass(frozen=True, slots=True)
class CheckOf:
    """A check of the audit: its name in `quality`, and what must hold, in words."""

    name: str
    sentence: str

    def result(self, table: str, wrong: Sequence[str], number: int | None = None) -> QualityResult:
        """The result for a table of the lake.

        Args:
            table: its name; that of a query's table is `<kind>/<query>`.
            wrong: descriptions of what is wrong, perhaps only the first; empty if it passed.
            number: how many there are, if `wrong` does not have all.
        """
        kind, query = split_name(table)
        number = len(wrong) if number is None else number
        return QualityResult(
            suite=kind,
            scope=query,
            expectation=self.name,
            sentence=self.sentence,
            success=not wrong,
            unexpected_rows=number,
            examples=tuple(json.dumps({"found": text}) for text in wrong[:2]),
            detail="\n".join(_first_ones(wrong, number)),
        )


def _first_ones(wrong: Sequence[str], number: int) -> list[str]:
    """The first `SHOWN` of the descriptions, and a line with the number of the others."""
    shown = [*wrong[:SHOWN]]
    return [*shown, f"and {number - len(shown):,} more"] if number > len(shown) else shown


def table_of(result: QualityResult) -> str:
    """The table that a result is about."""
    return f"{result.suite}/{result.scope}" if result.scope else result.suite
