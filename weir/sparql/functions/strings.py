"""Functions on strings.

https://www.w3.org/TR/sparql11-query/#func-strings; a string literal is a simple literal or one
with a language tag.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from urllib.parse import quote

from weir.sparql.functions.evaluation_limits import evaluation_limits
from weir.sparql.functions.regex_syntax import PatternError
from weir.sparql.functions.regexes import compile_pattern, python_replacement
from weir.sparql.functions.values import LangText, Number, Text, Value, boolean, integer

_String = Text | LangText
_NO_FLAGS = Text("")


def strlen(value: Value) -> Value | None:
    """STRLEN, in characters."""
    return integer(len(value.lexical)) if isinstance(value, _String) else None


def substr(value: Value, start: Value, length: Value | None = None) -> Value | None:
    """SUBSTR: `length` characters from position `start` on, counted from 1 (fn:substring)."""
    first = _position(start)
    count = None if length is None else _position(length)
    if not isinstance(value, _String) or first is None or (length is not None and count is None):
        return None
    end = len(value.lexical) if count is None else first - 1 + count
    return _like(value, value.lexical[max(first - 1, 0) : max(end, 0)])


def ucase(value: Value) -> Value | None:
    """UCASE."""
    return _like(value, value.lexical.upper()) if isinstance(value, _String) else None


def lcase(value: Value) -> Value | None:
    """LCASE."""
    return _like(value, value.lexical.lower()) if isinstance(value, _String) else None


def strstarts(value: Value, part: Value) -> Value | None:
    """STRSTARTS."""
    texts = _compatible(value, part)
    return None if texts is None else boolean(texts[0].startswith(texts[1]))


def strends(value: Value, part: Value) -> Value | None:
    """STRENDS."""
    texts = _compatible(value, part)
    return None if texts is None else boolean(texts[0].endswith(texts[1]))


def contains(value: Value, part: Value) -> Value | None:
    """CONTAINS."""
    texts = _compatible(value, part)
    return None if texts is None else boolean(texts[1] in texts[0])


def strbefore(value: Value, part: Value) -> Value | None:
    """STRBEFORE; an empty literal without a language tag if `part` does not occur."""
    texts = _compatible(value, part)
    if texts is None:
        return None
    before, separator, _ = _partition(*texts)
    return Text("") if separator is None else _like(value, before)


def strafter(value: Value, part: Value) -> Value | None:
    """STRAFTER; an empty literal without a language tag if `part` does not occur."""
    texts = _compatible(value, part)
    if texts is None:
        return None
    _, separator, after = _partition(*texts)
    return Text("") if separator is None else _like(value, after)


def encode_for_uri(value: Value) -> Value | None:
    """ENCODE_FOR_URI."""
    if not isinstance(value, _String):
        return None
    encoded = quote(value.lexical, safe="-_.~")
    # It may be several times as long as the value, and again so when it is encoded again.
    evaluation_limits().check_literal(len(encoded))
    return Text(encoded)


def concat(*values: Value) -> Value | None:
    """CONCAT; with a language tag if all values have the same."""
    strings = [value for value in values if isinstance(value, _String)]
    if len(strings) < len(values):
        return None
    evaluation_limits().check_literal(sum(len(string.lexical) for string in strings))
    text = "".join(string.lexical for string in strings)
    languages = {s.language if isinstance(s, LangText) else None for s in strings}
    language = languages.pop() if len(languages) == 1 else None
    return Text(text) if language is None else LangText(text, language)


def regex(value: Value, pattern: Value, flags: Value = _NO_FLAGS) -> Value | None:
    """REGEX: whether `pattern` matches somewhere in `value`; a malformed pattern is an error."""
    if not (isinstance(value, _String) and isinstance(pattern, Text) and isinstance(flags, Text)):
        return None
    try:
        compiled = compile_pattern(pattern.lexical, flags.lexical)
    except PatternError:
        return None
    return boolean(compiled.search(value.lexical))


def replace(
    value: Value, pattern: Value, replacement: Value, flags: Value = _NO_FLAGS
) -> Value | None:
    """REPLACE; a pattern that matches the empty string is an error (fn:replace, FORX0003)."""
    if not (isinstance(value, _String) and isinstance(pattern, Text)):
        return None
    if not (isinstance(replacement, Text) and isinstance(flags, Text)):
        return None
    try:
        compiled = compile_pattern(pattern.lexical, flags.lexical)
        parts = python_replacement(replacement.lexical, compiled.groups, flags.lexical)
    except PatternError:
        return None
    if compiled.search(""):
        return None
    return _like(value, compiled.replace(value.lexical, parts))


def langmatches(language: Value, wanted: Value) -> Value | None:
    """LANGMATCHES: basic filtering of RFC 4647, section 3.3.1."""
    if not isinstance(language, Text) or not isinstance(wanted, Text):
        return None
    tag, range_ = language.lexical.lower(), wanted.lexical.lower()
    if range_ == "*":
        return boolean(tag != "")
    return boolean(tag == range_ or tag.startswith(f"{range_}-"))


def digest(algorithm: str) -> Callable[[Value], Value | None]:
    """MD5, SHA1, ...: a function to the hexadecimal digest of a simple literal in UTF-8."""

    def of(value: Value) -> Value | None:
        if not isinstance(value, Text):
            return None
        hashed = hashlib.new(algorithm, value.lexical.encode(), usedforsecurity=False)
        return Text(hashed.hexdigest())

    return of


def _like(value: Value, lexical: str) -> Value:
    """A string with the language tag of `value`, if it has one."""
    return LangText(lexical, value.language) if isinstance(value, LangText) else Text(lexical)


def _compatible(value: Value, part: Value) -> tuple[str, str] | None:
    """Both texts, if they are compatible: https://www.w3.org/TR/sparql11-query/#func-arg-compatibility."""
    if not isinstance(value, _String) or not isinstance(part, _String):
        return None
    if isinstance(part, LangText) and (
        not isinstance(value, LangText) or value.language != part.language
    ):
        return None
    return value.lexical, part.lexical


def _position(value: Value) -> int | None:
    if isinstance(value, Number) and value.type == "integer" and isinstance(value.value, int):
        return value.value
    return None


def _partition(text: str, part: str) -> tuple[str, str | None, str]:
    index = text.find(part)
    if index < 0:
        return "", None, ""
    return text[:index], part, text[index + len(part) :]
