"""Canonical N-Quads to Arrow columns, without a Python object per line or term.

Lines are read in three steps: one regular expression (RE2, over all lines at once) selects the
lines that are certainly valid and already spelled as pyoxigraph would spell them; numpy finds the
boundaries of their terms; Arrow copies the terms. Every other line is parsed by pyoxigraph, so the
expression may be narrow: it decides what is fast, not what is valid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from weir.rdf.terms import XSD_STRING

Positions = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_FEED, _RETURN, _SPACE, _QUOTE = b'\n\r "'

_LETTER = r"A-Za-z0-9._~!$&'()*+,;=:@/\-\x{00A0}-\x{D7FF}"
_HEX = "%[0-9A-Fa-f]{2}"
_PATH = rf"(?:[{_LETTER}]|{_HEX})*(?:\?(?:[{_LETTER}?]|{_HEX})*)?(?:#(?:[{_LETTER}?]|{_HEX})*)?"
_HOST = r"//[A-Za-z0-9.\-]+(?::[0-9]+)?"
_INSIDE = rf"[A-Za-z][A-Za-z0-9+.\-]*:(?:{_HOST}(?:/{_PATH})?|[A-Za-z0-9]{_PATH})"
_IRI = f"<{_INSIDE}>"
# Not rdf:langString, which needs a language; xsd:string is cut off when the terms are split.
_DATATYPE = rf"(?:<{_INSIDE}[A-Za-fh-z0-9]>|<http://www\.w3\.org/2001/XMLSchema#string>)"
_STRING = f'"^^<{XSD_STRING}>'
_BLANK = r"_:[A-Za-z0-9][A-Za-z0-9_\-]*"
_LANGUAGE = "@[a-z]{2,3}(?:-[a-z]{4})?(?:-(?:[a-z]{2}|[0-9]{3}))?"
_TEXT = r'"(?:[^"\\\x00-\x1F\x7F\x{FFFE}\x{FFFF}]|\\[btnfr"\\])*"'
_LITERAL = rf"{_TEXT}(?:{_LANGUAGE}|\^\^{_DATATYPE})?"
_TRIPLE = rf"(?:{_IRI}|{_BLANK}) {_IRI} (?:{_IRI}|{_BLANK}|{_LITERAL})"
_LINE_END = r"\r?\n\z"


@dataclass(frozen=True, slots=True)
class Lines:
    """Complete lines of a file.

    Attributes:
        text: the lines, each with its line feed.
        starts: offset of the first byte of each line.
        ends: offset after the last byte of each line, without its line break (LF or CRLF).
    """

    text: bytes
    starts: Positions
    ends: Positions

    @classmethod
    def of(cls, text: bytes) -> Lines:
        """The lines of a text that ends with a line feed; only line feeds separate lines."""
        characters = np.frombuffer(text, np.uint8)
        feeds = np.flatnonzero(characters == _FEED)
        starts = np.zeros(len(feeds), np.int64)
        starts[1:] = feeds[:-1] + 1
        # For a line feed at the start, -1 is the last byte of the text, also a line feed.
        ends = feeds - (characters[feeds - 1] == _RETURN)
        return cls(text, starts, np.maximum(ends, starts))

    def __len__(self) -> int:
        return len(self.starts)

    def line(self, index: int) -> bytes:
        """One line, without its line break."""
        return self.text[self.starts[index] : self.ends[index]]


@dataclass(frozen=True, slots=True)
class Terms:
    """The columns of some statements: string arrays of equal length; graph '' means none."""

    graph: pa.StringArray
    subject: pa.StringArray
    predicate: pa.StringArray
    object: pa.StringArray


def canonical(lines: Lines, prefix: str = "", graphs: bool = True) -> Mask:
    """Which lines are one canonical statement.

    This is true only if pyoxigraph would give one quad whose terms have exactly this text, except
    for a datatype xsd:string, which many dumps write and canonical text leaves out.

    Args:
        lines: of a file.
        prefix: a regular expression for the text before the statement.
        graphs: whether the statement may name a graph (N-Quads) or not (N-Triples).
    """
    offsets = np.append(lines.starts, len(lines.text)).astype(np.int32)
    rows = pa.StringArray.from_buffers(
        len(lines), pa.py_buffer(offsets.data), pa.py_buffer(lines.text)
    )
    try:
        rows.validate(full=True)
    except pa.ArrowInvalid:  # some line is not UTF-8
        return np.zeros(len(lines), np.bool_)
    graph = f"(?: (?:{_IRI}|{_BLANK}))?" if graphs else ""
    matches = pc.match_substring_regex(rows, rf"^{prefix}{_TRIPLE}{graph} \.{_LINE_END}")
    mask: Mask = matches.to_numpy(zero_copy_only=False)
    return mask


def split_terms(lines: Lines, chosen: Positions, skip: int = 0) -> Terms:
    """The terms of the `chosen` lines (indexes), which are canonical after `skip` bytes."""
    characters = np.frombuffer(lines.text, np.uint8)
    spaces = np.flatnonzero(characters == _SPACE)
    starts = lines.starts[chosen] + skip
    dots = lines.ends[chosen] - 2  # " ."
    first = np.searchsorted(spaces, starts)
    subject_end, predicate_end = spaces[first], spaces[first + 1]
    last = spaces[np.searchsorted(spaces, dots) - 1]
    # The last token is the graph, unless it is the object or inside the quotes of a literal (IRIs,
    # language tags and blank nodes have no quotes).
    quotes = np.flatnonzero(characters == _QUOTE)
    is_literal = characters[predicate_end + 1] == _QUOTE
    last_quote = np.full(len(starts), -1)
    last_quote[is_literal] = quotes[np.searchsorted(quotes, dots[is_literal]) - 1]
    has_graph = (last > predicate_end) & (last > last_quote)
    object_end = np.where(has_graph, last, dots)
    graph_start = np.where(has_graph, last + 1, dots)

    # One array of strings over the text itself, terms and gaps in turn; Arrow takes the terms.
    bounds = np.empty(8 * len(starts) + 1, np.int32)
    for position, bound in enumerate(
        (
            *(starts, subject_end, subject_end + 1, predicate_end),
            *(predicate_end + 1, object_end, graph_start, dots),
        )
    ):
        bounds[position:-1:8] = bound
    bounds[-1] = len(lines.text)
    segments = pa.StringArray.from_buffers(
        len(bounds) - 1, pa.py_buffer(bounds.data), pa.py_buffer(lines.text)
    )
    rows = np.arange(0, len(bounds) - 1, 8)
    subject, predicate, object_, graph = (segments.take(rows + step) for step in (0, 2, 4, 6))
    return Terms(graph, subject, predicate, _without_string(object_))


def _without_string(terms: pa.StringArray) -> pa.StringArray:
    typed = pc.ends_with(terms, _STRING)
    if not pc.any(typed).as_py():
        return terms
    short: pa.StringArray = pc.if_else(
        typed, pc.utf8_slice_codeunits(terms, 0, 1 - len(_STRING)), terms
    )
    return short
