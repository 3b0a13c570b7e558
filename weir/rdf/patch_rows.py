"""Reads rows of an RDF Patch as Jena's reader does: by tokens, regardless of line breaks.

https://jena.apache.org/documentation/rdf-patch/
https://github.com/apache/jena/tree/main/jena-rdfpatch (RDFPatchReaderText, TokenizerText)

A row is a code, its terms and a dot. Terms are those of N-Quads and further ones that Jena's
tokenizer reads: `<_:label>`, numbers and booleans as in Turtle, strings in single or triple quotes,
prefixed names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from weir.rdf.statements import TRIPLE_TERM
from weir.rdf.terms import TermError, iri, literal, parse_term, to_text, unescape

CODES = frozenset((b"A", b"D", b"H", b"TX", b"TB", b"TC", b"TA", b"PA", b"PD", b"Z"))
NO_ROW = "not a line of an RDF Patch (H, TX, TC, TA, PA, PD, A, D)"
_CHANGES = frozenset((b"A", b"D"))
_NEEDED = ("subject", "predicate", "object")
_MOST_TERMS = 4

_NAME = rb"A-Za-z0-9_\x80-\xff-"
_LOCAL = rb"(?:[" + _NAME + rb":]|%[0-9A-Fa-f]{2}|\\[_~.!$&'()*+,;=/?#@%-])"
_PREFIX = rb"(?:[A-Za-z\x80-\xff](?:[" + _NAME + rb"]|\.+(?=[" + _NAME + rb"]))*+)"
_PREFIXED = _PREFIX + rb"?:(?:" + _LOCAL + rb"(?:" + _LOCAL + rb"|\.+(?=" + _LOCAL + rb"))*+)?"
_IRI = rb"<(?!<)[^<>\r\n]*+>"
_SPACE = rb"[ \t\r\n\f]"
_TOKEN = re.compile(
    rb"(?P<iri>" + _IRI + rb")|(?P<string>(?:"
    rb'"""(?P<a>(?:[^"\\]|\\[\s\S]|"(?!""))*+)"""'
    rb"|'''(?P<b>(?:[^'\\]|\\[\s\S]|'(?!''))*+)'''"
    rb'|(?!""")"(?P<c>(?:[^"\\\r\n]|\\[^\r\n])*+)"'
    rb"|(?!''')'(?P<d>(?:[^'\\\r\n]|\\[^\r\n])*+)')"
    rb"(?:" + _SPACE + rb"*+(?:@(?P<language>[A-Za-z0-9-]+)"
    rb"|\^\^" + _SPACE + rb"*+(?P<datatype>" + _IRI + rb"|" + _PREFIXED + rb")))?)"
    rb"|(?P<blank>_:(?:[" + _NAME + rb"]|\.+(?=[" + _NAME + rb"]))++)"
    rb"|(?P<double>[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)[eE][+-]?[0-9]++)"
    rb"|(?P<decimal>[+-]?[0-9]*+\.[0-9]++)"
    rb"|(?P<integer>[+-]?[0-9]++)"
    rb"|(?P<dot>\.)"
    rb"|(?P<name>" + _PREFIXED + rb")"
    rb"|(?P<word>" + _PREFIX + rb")"
)
_GAP = re.compile(rb"(?:" + _SPACE + rb"|#[^\r\n]*+)*+")
_WORD = re.compile(rb"^[ \t]*+([A-Za-z]++)(?=[ \t\r\n\f.#<\"'])", re.MULTILINE)
_BOOLEANS = (b"true", b"false")
_LONG_STRINGS = (b'"""', b"'''")
_XSD = "http://www.w3.org/2001/XMLSchema#"
_LOCAL_ESCAPE = re.compile(r"\\(.)")
_UNDECODED = re.compile(r"[\udc80-\udcff]")


class RowError(Exception):
    """A row that cannot be used; the message is the reason.

    Args:
        reason: why not.
        offset: of the error, in the text.
    """

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.offset = offset


class UnfinishedRow(RowError):  # noqa: N818  (named after what is wrong)
    """A row that is not complete at the end of the text."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its offsets, its code, and its tokens without the dot; `end` is after the row."""

    start: int
    end: int
    code: bytes
    tokens: tuple[re.Match[bytes], ...]


def next_token(text: bytes, offset: int, end: int) -> int:
    """The offset of the next byte that is neither white space nor part of a comment."""
    gap = _GAP.match(text, offset, end)
    return gap.end() if gap else offset


def next_row(text: bytes, offset: int, end: int) -> int:
    """The offset of the first line that begins with a word; `offset` is the start of a line."""
    word = _WORD.search(text, offset, end)
    return word.start() if word else end


def read_row(text: bytes, start: int, end: int, is_last: bool) -> Row:
    """The row that begins at `start`, where a token begins.

    A row of changes (A, D) ends with a dot. Other rows may also end before the next line that
    begins with a word, as rdflib writes them. `is_last` says whether the file ends at `end`.

    Raises:
        UnfinishedRow: the row is not complete at `end`.
        RowError: it is not a row.
    """
    first = _TOKEN.match(text, start, end)
    if first is None or first.lastgroup != "word" or first[0] not in CODES:
        raise RowError(NO_ROW, start)
    code, last = first[0], first.end()
    tokens: list[re.Match[bytes]] = []
    while (offset := next_token(text, last, end)) < end:
        if _begins_a_row(text, last, offset, end):
            if code in _CHANGES:
                raise RowError(f"the row ends without a dot, after {len(tokens)} terms", last)
            return Row(start, last, code, tuple(tokens))
        token = _TOKEN.match(text, offset, end)
        if token is None:
            if text.startswith(_LONG_STRINGS, offset, end):
                raise UnfinishedRow("a string in triple quotes that is not closed", offset)
            if text.startswith(b"<<", offset, end):
                raise RowError(TRIPLE_TERM, offset)
            if text.startswith(b"^^", offset, end) and next_token(text, offset + 2, end) == end:
                raise UnfinishedRow("a string without its datatype", offset)
            raise RowError("neither a term nor the dot at the end of a row", offset)
        last = token.end()
        if token.lastgroup == "dot":
            if code in _CHANGES and len(tokens) < len(_NEEDED):
                raise RowError(f"the row ends before its {_NEEDED[len(tokens)]}", offset)
            return Row(start, last, code, tuple(tokens))
        if len(tokens) == _MOST_TERMS:
            raise RowError("a row of more than four terms", offset)
        tokens.append(token)
    if is_last and code not in _CHANGES:
        return Row(start, last, code, tuple(tokens))
    raise UnfinishedRow(f"the row ends without a dot, after {len(tokens)} terms", last)


def _begins_a_row(text: bytes, before: int, offset: int, end: int) -> bool:
    """Whether a line after `before` begins, at `offset`, with a word other than a boolean."""
    feed = text.rfind(b"\n", before, offset)
    word = _WORD.match(text, feed + 1, end) if feed >= 0 else None
    return word is not None and word[1] not in _BOOLEANS and word.start(1) == offset


def term_of(token: re.Match[bytes], prefixes: Mapping[str, str]) -> str:
    """The N-Triples form of the term in a token.

    Raises:
        TermError: the token is not a term.
    """
    kind, text = token.lastgroup, token[0].decode(errors="surrogateescape")
    if _UNDECODED.search(text):
        raise TermError("bytes that are no UTF-8")
    match kind:
        case "iri" if text.startswith("<_:"):
            return _blank_node(unescape(text[3:-1]))
        case "iri" | "blank":
            return to_text(parse_term(text))
        case "name":
            return _expanded(text, prefixes)
        case "integer" | "decimal" | "double":
            return literal(text, f"{_XSD}{kind}")
        case "word" if text in ("true", "false"):
            return literal(text, f"{_XSD}boolean")
        case "string":
            return _literal(token, prefixes)
    raise TermError(f"not a term: {text[:80]!a}")


def word_of(token: re.Match[bytes]) -> str | None:
    """The text of a word or a plain string, or the prefix in `ex:`; None for other tokens."""
    text = token[0].decode(errors="replace")
    match token.lastgroup:
        case "word":
            return text
        case "name" if text.endswith(":"):
            return text[:-1]
        case "string" if token["language"] is None and token["datatype"] is None:
            return _content(token).decode(errors="replace")
    return None


def _blank_node(label: str) -> str:
    """The blank node of a label, which may have any characters.

    It is `_:label` if N-Triples allows this label; else the label is replaced by its hash.
    """
    try:
        return to_text(parse_term(f"_:{label}"))
    except TermError:
        return f"_:label{sha256(label.encode()).hexdigest()}"


def _expanded(name: str, prefixes: Mapping[str, str]) -> str:
    prefix, _, local = name.partition(":")
    if prefix not in prefixes:
        raise TermError(f"the patch has not declared the prefix {prefix}: (PA)")
    return to_text(parse_term(iri(prefixes[prefix] + _LOCAL_ESCAPE.sub(r"\1", local))))


def _literal(token: re.Match[bytes], prefixes: Mapping[str, str]) -> str:
    lexical = unescape(_content(token).decode())
    if token["language"] is not None:
        return to_text(parse_term(literal(lexical, language=token["language"].decode())))
    if token["datatype"] is None:
        return literal(lexical)
    name = token["datatype"].decode()
    datatype = to_text(parse_term(name)) if name.startswith("<") else _expanded(name, prefixes)
    return to_text(parse_term(literal(lexical, datatype[1:-1])))


def _content(token: re.Match[bytes]) -> bytes:
    """The text between the quotes of a string."""
    return next(text for text in token.group("a", "b", "c", "d") if text is not None)
