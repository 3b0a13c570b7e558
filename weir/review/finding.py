"""What a check of the files of a project says: a mistake, or a hint."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from weir.errors import ConfigurationError, WeirError

_PLACE = re.compile(r"(?P<file>.*?)(?::(?P<line>\d+))?(?::(?P<column>\d+))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Finding:
    """A mistake or a hint.

    Attributes:
        level: `error`: the file cannot be used; `hint`: it can, and probably says what is not
            meant.
        what: is wrong.
        file: where, or what is no file, such as variables of the environment.
        line: in it, from 1; None if the file as a whole is meant.
        column: in the line, from 1.
        hint: what to do next; may be empty.
    """

    level: Literal["error", "hint"]
    what: str
    file: str
    line: int | None = None
    column: int | None = None
    hint: str = ""

    @classmethod
    def of(cls, error: WeirError) -> Self:
        """The finding about a mistake that reading a file raised."""
        place = _PLACE.fullmatch(error.where)
        assert place is not None, "every part may be missing"
        line, column = (int(text) if text else None for text in (place["line"], place["column"]))
        if column is None and isinstance(error, ConfigurationError):
            column = error.column or None
        return cls("error", error.what, place["file"], line, column, error.hint)

    @property
    def where(self) -> str:
        """`file:line:column`; a file below the current folder is relative to it."""
        path = self.file
        if Path(path).is_absolute():
            relative = os.path.relpath(path)
            path = path if relative.startswith(os.pardir) else relative
        return ":".join(str(part) for part in (path, self.line, self.column) if part is not None)

    @property
    def order(self) -> tuple[Any, ...]:
        """Sort key: by file, in the order of the text."""
        return self.file, self.line or 0, self.column or 0, self.level, self.what
