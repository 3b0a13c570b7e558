"""Names that users give to queries, programs, sources, streams and remotes: one form for all.

A name becomes part of a path, of a view and of a task. So `Lake` refuses names of another form, and
every place that reads a name converts it to a `Name`.
"""

from __future__ import annotations

import re
from typing import Self

FORM = "a lower-case letter, then up to 62 lower-case letters, digits and _"
"""The form of a name, in words."""

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
        InvalidNameError: it has another form.
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
    """Whether a text can name a table: one or two names joined by `/`, maybe after `_`."""
    return _TABLE.fullmatch(text) is not None
