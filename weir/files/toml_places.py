"""Where the keys of a TOML file stand: its parser gives values without places."""

from __future__ import annotations

import re
from collections.abc import Sequence

_TABLE = re.compile(r"\s*\[+\s*([^\[\]]+?)\s*\]+")
_KEY = re.compile(
    r"(\s*)((?:[\w-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[\w-]+|\"[^\"]*\"|'[^']*'))*)\s*="
)


def place_in_toml(text: str, path: Sequence[str]) -> tuple[int, int] | None:
    """Line and column, from 1, of the deepest key of a path that has a line; None if none has.

    Keys of inline tables are those of the line of their table.
    """
    table: tuple[str, ...] = ()
    best: tuple[int, tuple[int, int]] | None = None
    for line, written in enumerate(text.splitlines(), 1):
        if match := _TABLE.match(written):
            key = table = _parts(match[1])
            column = match.start(1) + 1
        elif match := _KEY.match(written):
            key = (*table, *_parts(match[2]))
            column = match.start(2) + 1
        else:
            continue
        is_above = key == tuple(path[: len(key)])
        if is_above and (best is None or len(key) > best[0]):
            best = len(key), (line, column)
    return None if best is None else best[1]


def _parts(key: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in key.split("."))
