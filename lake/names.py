"""Names that users give to queries, programs, sources, streams and remotes: one form for all.

A name becomes a part of a path, of a view and of a task. Only what has this form does: `Lake` has
no table of another name, and each place where a name comes in makes a `Name` of it.
"""

from __future__ import annotations

import re
from typing import Self

FORM = "a lower-case letter, then up to 62 lower-case letters, digits and _"
"""What a name is, in words."""

_NAME = "[a-z][a-z0-9_]{0,62}"
_PART = re.compile(_NAME)
_TABLE = re.compile(f"_?{_NAME}(?:/{_NAME})?")


class InvalidNameError(ValueError):
    """A text that is no name."""

    def __init__(self, text: str) -> None:
        super().__init__(f"{text!r} cannot be a name, which is {FORM}")


class Name(str):
    """A text that has the form of a name.

    Raises:
        InvalidNameError: it has not.
    """

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        if not is_name(text):
            raise InvalidNameError(text)
        return super().__new__(cls, text)


def is_name(text: str) -> bool:
    """Whether a text has the form of a name."""
    return _PART.fullmatch(text) is not None


def is_table_name(text: str) -> bool:
    """Whether a text is a name, or two with `/` between them; `_` may begin that of a folder."""
    return _TABLE.fullmatch(text) is not None
