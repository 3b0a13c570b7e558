"""The newest changes of an answer in words: which rows changed, appeared and vanished."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from weir.lake.counted import counted
from weir.site.cells import Cell, cell_text, row_text

_EPOCHS: Final = 5
"""Epochs of an answer that the start page can show."""
_ROWS: Final = 3
"""Rows of each of them."""
_LENGTH: Final = 120
"""Characters of a value."""


def latest_changes(history: Mapping[str, Any], prefixes: Mapping[str, str]) -> list[dict[str, Any]]:
    """The newest epochs of an answer's history, as a page has it; the newest first.

    Of each: epoch, at, cause, sentence, is_first, and `rows`: sign and text of a few rows.
    """
    epochs: Sequence[Sequence[Any]] = history["epochs"]
    latest = []
    for position, (epoch, appeared, vanished, at, cause) in enumerate(reversed(epochs)):
        if position == _EPOCHS:
            break
        rows = [(weight, row) for of, weight, row in history["changes"] if of == epoch]
        lines = _lines(rows, prefixes)
        # A row that lost one value and has another one instead counts once.
        changed = sum(line["sign"] == "→" for line in lines)
        if sum(abs(weight) for weight, _ in rows) < appeared + vanished:
            changed = 0
        is_first = epoch == history["first"]
        latest.append(
            {
                "epoch": epoch,
                "at": at,
                "cause": cause,
                "is_first": is_first,
                "sentence": _sentence(changed, appeared - changed, vanished - changed, is_first),
                "rows": [] if is_first else lines[:_ROWS],
            }
        )
    return latest


def _sentence(changed: int, appeared: int, vanished: int, is_first: bool) -> str:
    if is_first:
        return f"first published, with {counted(appeared, 'row')}"
    numbers = {"changed": changed, "appeared": appeared, "vanished": vanished}
    parts = [(number, word) for word, number in numbers.items() if number]
    if not parts:
        return "the same rows again"
    (first, word), *others = parts
    said = [f"{counted(first, 'row')} {word}", *(f"{n:,} {word}" for n, word in others)]
    return ", ".join(said)


def _lines(
    rows: Iterable[tuple[int, Sequence[Cell]]], prefixes: Mapping[str, str]
) -> list[dict[str, str]]:
    """Rows in one line each; two that are of the same thing, by the first column, are one line."""
    of_key: dict[str, list[tuple[int, Sequence[Cell]]]] = {}
    for weight, row in rows:
        of_key.setdefault(json.dumps(row[0]) if row else "", []).append((weight, row))
    lines = []
    for same in of_key.values():
        signs = sorted(weight for weight, _ in same)
        if signs == [-1, 1] and len(same[0][1]) > 1:
            (_, old), (_, new) = sorted(same, key=lambda pair: pair[0])
            cells = (
                _cut(cell_text(after, prefixes))
                if before == after
                else f"{_value(before, prefixes)} → {_value(after, prefixes)}"
                for before, after in zip(old, new, strict=True)
            )
            lines.append({"sign": "→", "text": " · ".join(filter(None, cells))})
            continue
        for weight, row in same:
            lines.append(
                {
                    "sign": "+" if weight > 0 else "-",
                    "text": row_text([*map(_cut_cell, row)], prefixes),
                }
            )
    return lines


def _value(cell: Cell, prefixes: Mapping[str, str]) -> str:
    """One side of a change."""
    return "no value" if cell is None else _cut(cell_text(cell, prefixes))


def _cut_cell(cell: Cell) -> Cell:
    """A cell without the end of a long text; an IRI is whole."""
    match cell:
        case str():
            return _cut(cell)
        case [text, language]:
            return [_cut(text), language]
    return cell


def _cut(text: str) -> str:
    return text if len(text) <= _LENGTH else f"{text[:_LENGTH]}…"
