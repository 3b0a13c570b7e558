r"""The regular expressions of XPath, translated to Python's syntax.

https://www.w3.org/TR/xpath-functions/#regex-syntax, which extends
https://www.w3.org/TR/xmlschema-2/#regexs. They differ from Python's:

- `$` matches only at the end, not before a final line end; with `m`, no line begins after a final
  line end.
- `\s \d \w \i \c \p{..}` are those of XML Schema, and `i` does not change them.
- `[a-z-[aeiou]]` subtracts.
- A reference to a group that did not take part in the match is empty.
- `x` drops white space and has no comments.
- `(?=`, `\b`, `\A` and named groups are errors.
"""

from __future__ import annotations

import re

from weir.sparql.functions.characters import (
    NAME,
    NAME_START,
    SPACE,
    Ranges,
    block,
    category,
    class_text,
    complement,
    union,
)

_START, _END = "^", r"\Z"
_LINE_START, _LINE_END = r"(?:\A|(?<=\n)(?!\Z))", r"(?:(?=\n)|(?<!\n)\Z)"
_ESCAPED = frozenset("\\|.?*+(){}$-[]^")
_CONTROLS = {"n": "\\n", "r": "\\r", "t": "\\t"}
# The letters of escapes for a set of characters: \s, \D, ...
_SETS = frozenset("sicdwp")
_QUANTIFIER = re.compile(r"(?:[?*+]|\{[0-9]+(?:,[0-9]*)?\})\??")


class PatternError(ValueError):
    """The text is not a regular expression of XPath."""


def python_pattern(pattern: str, flags: str) -> str:
    """The text of the Python pattern for an XPath `pattern` under `flags`.

    Raises:
        PatternError: not a pattern.
    """
    return _Translation(pattern, flags).text


class _Translation:
    """One pass over an XPath pattern; `text` is the Python pattern."""

    def __init__(self, pattern: str, flags: str) -> None:
        self._pattern = _without_space(pattern) if "x" in flags else pattern
        self._flags = flags
        self._position = 0
        self._closed: list[int] = []
        self._groups = 0
        self.text = self._all()

    def _all(self) -> str:
        parts: list[str] = []
        opened: list[int | None] = []
        while self._position < len(self._pattern):
            character = self._pattern[self._position]
            if character == "(":
                group = None
                if self._pattern.startswith("(?:", self._position):
                    self._position += 3
                    parts.append("(?:")
                elif self._pattern.startswith("(?", self._position):
                    raise self._error("(? is no group of XPath")
                else:
                    self._position += 1
                    self._groups += 1
                    group = self._groups
                    parts.append("(")
                opened.append(group)
            elif character == ")":
                if not opened:
                    raise self._error("a ) that closes nothing")
                group = opened.pop()
                if group is not None:
                    self._closed.append(group)
                self._position += 1
                parts.append(f"){self._quantifier()}")
            elif character == "|":
                self._position += 1
                parts.append(character)
            elif character in "^$":
                self._position += 1
                parts.append(self._anchor(character))
            else:
                parts.append(self._atom() + self._quantifier())
        if opened:
            raise self._error("a ( that is never closed")
        return "".join(parts)

    def _anchor(self, character: str) -> str:
        if "m" in self._flags:
            anchor = _LINE_START if character == "^" else _LINE_END
        else:
            anchor = _START if character == "^" else _END
        # Python does not allow a quantifier after an anchor.
        quantifier = self._quantifier()
        return f"(?:{anchor}){quantifier}" if quantifier else anchor

    def _atom(self) -> str:
        character = self._pattern[self._position]
        if character == "[":
            return self._class()
        if character == "\\":
            return self._escape(inside=False)
        if character in "?*+{}]":
            raise self._error(f"{character} needs a backslash here")
        self._position += 1
        return "." if character == "." else re.escape(character)

    def _quantifier(self) -> str:
        match = _QUANTIFIER.match(self._pattern, self._position)
        if match is None:
            return ""
        self._position = match.end()
        return match.group()

    def _escape(self, *, inside: bool) -> str:
        """An escape; `inside` a character class, only an escape of a single character."""
        following = self._pattern[self._position + 1 : self._position + 2]
        if following in _CONTROLS:
            self._position += 2
            return _CONTROLS[following]
        if following and following in _ESCAPED:
            self._position += 2
            return f"\\{following}"
        if following.isdigit() and following.isascii() and not inside:
            return self._back_reference()
        return self._exactly(class_text(self._multi_character_escape(following)))

    def _exactly(self, members: str) -> str:
        """The class of `members`; `i` does not change what an escape like `\\p{Lu}` matches."""
        return f"(?-i:[{members}])" if "i" in self._flags else f"[{members}]"

    def _back_reference(self) -> str:
        end = self._position + 2
        while (
            self._pattern[end : end + 1].isdigit()
            and int(self._pattern[self._position + 1 : end + 1]) <= self._groups
        ):
            end += 1
        group = int(self._pattern[self._position + 1 : end])
        if group not in self._closed:
            raise self._error(f"\\{group} refers to no group before it")
        self._position = end
        # A reference to a group that did not take part matches the empty string.
        return f"(?:(?({group})\\{group}))"

    def _multi_character_escape(self, letter: str) -> Ranges:
        match letter.lower():
            case "s":
                members = SPACE
            case "i":
                members = NAME_START
            case "c":
                members = NAME
            case "d":
                members = category("Nd") or ()
            case "w":
                # All but punctuation, separators and others.
                members = complement(union(*(category(name) or () for name in "PZC")))
            case "p":
                members = self._property()
            case _:
                raise self._error(f"\\{letter} is no escape of XPath")
        self._position += 2
        return complement(members) if letter.isupper() else members

    def _property(self) -> Ranges:
        """The set of `\\p{Lu}` or `\\p{IsGreek}`; the caller skips its last two characters."""
        end = self._pattern.find("}", self._position)
        name = self._pattern[self._position + 3 : end]
        if self._pattern[self._position + 2 : self._position + 3] != "{" or end < 0:
            raise self._error("\\p needs {a category or Is and a block}")
        members = block(name[2:]) if name.startswith("Is") else category(name)
        if members is None:
            raise self._error(f"{name} is no category of Unicode and no block")
        self._position = end - 1
        return members

    def _class(self) -> str:
        """A character class expression, with its subtraction as a negative look-ahead."""
        self._position += 1
        negated = self._pattern.startswith("^", self._position)
        self._position += negated
        characters: list[str] = []
        escapes: list[str] = []
        subtracted = ""
        while True:
            character = self._pattern[self._position : self._position + 1]
            if character == "":
                raise self._error("a [ that is never closed")
            is_begun = bool(characters or escapes)
            if character == "]" and is_begun:
                self._position += 1
                break
            if self._pattern.startswith("-[", self._position) and is_begun:
                self._position += 1
                subtracted = f"(?!{self._class()})"
                if self._pattern[self._position : self._position + 1] != "]":
                    raise self._error("a subtraction ends its class")
                self._position += 1
                break
            if character in "[]":
                raise self._error(f"{character} needs a backslash in a class")
            if self._is_set():
                following = self._pattern[self._position + 1]
                escapes.append(class_text(self._multi_character_escape(following)))
                if self._begins_range():
                    raise self._error("a range has a character at both ends")
            else:
                characters.append(self._member())
        text = self._members("".join(characters), "".join(escapes), negated=negated)
        return f"(?:{subtracted}{text})" if subtracted else text

    def _members(self, characters: str, escapes: str, *, negated: bool) -> str:
        """A class of characters and escapes; under `i` only the characters ignore case."""
        sign = "^" if negated else ""
        if not (escapes and "i" in self._flags):
            return f"[{sign}{characters}{escapes}]"
        either = self._exactly(escapes)
        if characters:
            either = f"(?:[{characters}]|{either})"
        return f"(?:(?!{either})(?s:.))" if negated else either

    def _is_set(self) -> bool:
        """Whether an escape for a set of characters follows."""
        following = self._pattern[self._position + 1 : self._position + 2]
        return self._pattern[self._position] == "\\" and following.lower() in _SETS

    def _member(self) -> str:
        """One character or range of a class, escaped for Python."""
        first = self._single_member()
        if not self._begins_range():
            return first
        self._position += 1
        if self._is_set():
            raise self._error("a range has a character at both ends")
        return f"{first}-{self._single_member()}"

    def _begins_range(self) -> bool:
        return self._pattern.startswith("-", self._position) and (
            self._pattern[self._position + 1 : self._position + 2] not in ("]", "[", "")
        )

    def _single_member(self) -> str:
        """A character of a class, which may be escaped."""
        if self._pattern[self._position] == "\\":
            return self._escape(inside=True)
        self._position += 1
        return re.escape(self._pattern[self._position - 1])

    def _error(self, reason: str) -> PatternError:
        return PatternError(f"{self._pattern}: {reason}")


def _without_space(pattern: str) -> str:
    """The pattern for flag `x`: without the white space outside of character classes."""
    kept: list[str] = []
    depth, is_escaped = 0, False
    for character in pattern:
        if character in " \t\n\r" and depth == 0:
            continue
        kept.append(character)
        if is_escaped:
            is_escaped = False
        elif character == "\\":
            is_escaped = True
        elif character == "[":
            depth += 1
        elif character == "]":
            depth -= 1
    return "".join(kept)
