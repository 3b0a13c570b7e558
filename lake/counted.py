"""Numbers with their noun: `1 row`, `2 rows`."""

from __future__ import annotations


def counted(number: int, what: str) -> str:
    """`1 row`, `1,234 rows`, `2 queries`."""
    if number == 1:
        return f"1 {what}"
    return f"{number:,} {what[:-1]}ies" if what.endswith("ry") else f"{number:,} {what}s"
