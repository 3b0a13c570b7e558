"""The result of one check of the audit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from weir.expectations.suite import QualityResult

SHOWN = 20
"""Of what is wrong so much is printed."""


@dataclass(frozen=True, slots=True)
class CheckOf:
    """What must hold: its name in `quality`, and in words."""

    name: str
    sentence: str

    def result(self, table: str, wrong: Sequence[str], number: int | None = None) -> QualityResult:
        """The result for a table of the lake.

        Args:
            table: its name; that of a query's table is `<kind>/<query>`.
            wrong: what does not hold, the first few; it holds if there is nothing.
            number: of all that does not hold, if `wrong` are not all.
        """
        kind, _, query = table.partition("/")
        number = len(wrong) if number is None else number
        return QualityResult(
            suite=kind,
            scope=query,
            expectation=self.name,
            sentence=self.sentence,
            success=not wrong,
            unexpected_rows=number,
            examples=tuple(json.dumps({"found": each}) for each in wrong[:2]),
            found="\n".join(_first_ones(wrong, number)),
        )


def _first_ones(wrong: Sequence[str], number: int) -> list[str]:
    """A line for each of what is wrong, the first `SHOWN`, and how many there are besides."""
    shown = [*wrong[:SHOWN]]
    return [*shown, f"and {number - len(shown):,} more"] if number > len(shown) else shown


def table_of(result: QualityResult) -> str:
    """The table that a result is about."""
    return f"{result.suite}/{result.scope}" if result.scope else result.suite
