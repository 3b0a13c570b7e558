"""JSON read piece by piece: members and elements are visited, only single values are built.

https://www.rfc-editor.org/rfc/rfc8259
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

_SPACE = re.compile(r"[ \t\n\r]*+")
_MOST_MEMBERS = 100
_NUMBER = "+-.0123456789Ee"


class JsonError(ValueError):
    """The text is not the JSON that is read; the message says where."""


class JsonText:
    """The rest of a JSON text that arrives in chunks.

    Only a single value and a chunk are in memory at a time. `members` and `elements` are iterated
    to their end, and each value is read before the next step.
    """

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._bytes_to_text = codecs.getincrementaldecoder("utf-8-sig")("strict")
        self._text = ""
        self._at = 0
        self._before = 0
        self._ended = False

    def members(self) -> Iterator[str]:
        """The names of the object that starts here; the value after each is read in between.

        Raises:
            JsonError: no object, a name twice, or more than 100 names.
        """
        self._expect("{")
        names: set[str] = set()
        if self._peek() == "}":
            self._at += 1
            return
        while True:
            name = self.value(1024)
            if not isinstance(name, str):
                self._fail("the name of a member is not text")
            if name in names:
                self._fail("an object has a name twice")
            names.add(name)
            if len(names) > _MOST_MEMBERS:
                self._fail(f"an object has more than {_MOST_MEMBERS} members")
            self._expect(":")
            yield name
            if self._expect(",}") == "}":
                return

    def elements(self) -> Iterator[None]:
        """One step per element of the array that starts here; its value is read in between.

        Raises:
            JsonError: no array.
        """
        self._expect("[")
        if self._peek() == "]":
            self._at += 1
            return
        while True:
            yield
            if self._expect(",]") == "]":
                return

    def value(self, most: int) -> Any:
        """The value that starts here, of at most `most` characters.

        Raises:
            JsonError: not a value, too long, too deep, a name twice in an object, NaN, Infinity.
        """
        self._peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                # Perhaps the rest has not arrived.
                if self._ended:
                    self._fail(error.msg)
            except (RecursionError, ValueError) as error:
                self._fail("nested too deeply" if isinstance(error, RecursionError) else str(error))
            else:
                # A number may continue in the next chunk, also behind `1e`, which is read as 1.
                whole = end < len(self._text) and self._text[end] not in _NUMBER
                if whole or self._ended:
                    self._check_length(end - self._at, most)
                    self._at = end
                    return value
            self._check_length(len(self._text) - self._at, most)
            self._more()

    def end(self) -> None:
        """Check that only spaces follow.

        Raises:
            JsonError: something else does.
        """
        if self._peek():
            self._fail("text after the end")

    def _peek(self) -> str:
        """The next character that is no space, "" at the end."""
        while True:
            space = _SPACE.match(self._text, self._at)
            assert space is not None
            self._at = space.end()
            if self._at < len(self._text):
                return self._text[self._at]
            if self._ended:
                return ""
            self._more()

    def _expect(self, characters: str) -> str:
        character = self._peek()
        if not character or character not in characters:
            self._fail(
                "the text ends too early" if not character else f"expected one of {characters}"
            )
        self._at += 1
        return character

    def _more(self) -> None:
        chunk = next(self._chunks, None)
        try:
            text = self._bytes_to_text.decode(chunk or b"", final=chunk is None)
        except UnicodeDecodeError:
            self._fail("not UTF-8")
        self._ended = chunk is None
        self._before += self._at
        self._text = self._text[self._at :] + text
        self._at = 0

    def _check_length(self, length: int, most: int) -> None:
        # A value that is not read to its end has at least so many characters.
        if length > most:
            self._fail(f"a value has more than {most:,} characters, or is not JSON")

    def _fail(self, reason: str) -> NoReturn:
        raise JsonError(f"character {self._before + self._at + 1:,}: {reason}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("an object has a name twice")
    return members


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse)
