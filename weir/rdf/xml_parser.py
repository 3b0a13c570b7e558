"""Safe XML parsing by expat: with namespaces, limits for entities, and no external entities.

https://www.w3.org/TR/xml/. Besides the limits here, expat itself refuses documents of more than
8 MiB that are more than 100 times as large with their entities expanded (`pyexpat.features`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.parsers import expat

SEPARATOR = "\f"
"""Separates namespace, name and prefix; XML cannot contain this character."""

_BLOCK_BYTES = 1 << 20
_ENTITIES = 10_000
"""The most entities that a document may declare."""
_COMPOSED_ENTITIES = 500
"""The most entities that contain others; expat recurses for each entity within another."""
_ENCODINGS = frozenset({"utf-8", "utf-16", "utf-16be", "utf-16le", "iso-8859-1", "us-ascii"})
"""Encodings that expat decodes itself."""
_SINGLE_BYTE = re.compile(
    r"iso-8859-(?:[1-9]|1[0-6])|windows-125[0-8]|cp125[0-8]|koi8-[ru]|macintosh", re.IGNORECASE
)
"""Encodings with one byte per character, whose tables Python has."""
_UTF_16 = {
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
    b"<\0": "utf-16-le",
    b"\0<": "utf-16-be",
}
_DECLARATION = re.compile(r"\A\ufeff?(?:<\?xml\s.*?\?>)?", re.DOTALL)
_REFERENCE = re.compile("&[^#]")
_NAME_START = (
    "A-Z_a-z\xc0-\xd6\xd8-\xf6\xf8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_NAME = re.compile(rf"[{_NAME_START}][-.0-9\xb7\u0300-\u036f\u203f\u2040{_NAME_START}]*+")


def is_name(text: str) -> bool:
    """Whether a text is a name without a colon (NCName of XML namespaces)."""
    return _NAME.fullmatch(text) is not None


class ExternalSubset(Exception):  # noqa: N818  (no error)
    """The DOCTYPE of a document names an external DTD: the document must be read as `standalone`.

    In such a document expat leaves out references to undeclared entities, in attributes silently,
    because the DTD might declare them. In a standalone document they are errors.
    """

    def __init__(self, encoding: str | None) -> None:
        self.encoding = encoding


def standalone(text: bytes, encoding: str | None) -> bytes:
    """The document in UTF-8, declared to be standalone, with the same line numbers.

    Args:
        text: the document.
        encoding: that it declares.

    Raises:
        SyntaxError: the document is not in this encoding.
    """
    try:
        characters = text.decode(_UTF_16.get(text[:2], encoding or "utf-8"))
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise SyntaxError(str(error), (None, line, 0, None)) from None
    declaration = _DECLARATION.match(characters)
    assert declaration is not None
    lines = "\n" * declaration[0].count("\n")
    rest = characters[declaration.end() :]
    return f'<?xml version="1.0"{lines} standalone="yes"?>{rest}'.encode()


def new_parser(encoding: str | None = None) -> expat.XMLParserType:
    """A parser for one document; the caller sets the handlers of elements and text.

    Names are 'namespace SEPARATOR name SEPARATOR prefix', without missing parts. Text comes in
    pieces; comments, processing instructions and CDATA sections do not divide it.

    Args:
        encoding: of the document; None for the one that it declares.
    """
    parser = expat.ParserCreate(encoding, SEPARATOR)
    parser.namespace_prefixes = True
    parser.buffer_text = True
    parser.buffer_size = 1 << 16
    prolog = _Prolog(parser)
    parser.XmlDeclHandler = prolog.declaration
    parser.StartDoctypeDeclHandler = prolog.start_doctype
    parser.EndDoctypeDeclHandler = prolog.end_doctype
    parser.EntityDeclHandler = prolog.entity
    parser.ExternalEntityRefHandler = prolog.external_entity
    parser.SkippedEntityHandler = prolog.skipped_entity
    return parser


def read_blocks(parser: expat.XMLParserType, text: bytes) -> Iterator[None]:
    """Parse a document; yields after each block of it.

    Raises:
        SyntaxError: the document is not XML, has too many entities, or needs external ones; with
            the line, and the column in characters from 1.
        ExternalSubset: the document must be read as `standalone`.
    """
    view = memoryview(text)
    try:
        for start in range(0, max(len(text), 1), _BLOCK_BYTES):
            end = start + _BLOCK_BYTES
            parser.Parse(view[start:end], end >= len(text))
            yield
    except expat.ExpatError as error:
        raise SyntaxError(_reason(error), (None, error.lineno, error.offset + 1, None)) from None


def fault(parser: expat.XMLParserType, reason: str) -> SyntaxError:
    """An error at the present position of the parser."""
    line, column = parser.CurrentLineNumber, parser.CurrentColumnNumber + 1
    return SyntaxError(reason, (None, line, column, None))


class _Prolog:
    """Handlers of the XML declaration, the DOCTYPE and entities."""

    def __init__(self, parser: expat.XMLParserType) -> None:
        self._parser = parser
        self._encoding: str | None = None
        self._is_standalone = False
        self._entities = self._composed = 0

    def declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        del version
        # expat needs a table of characters for encodings that it does not decode itself.
        is_known = encoding is None or encoding.lower() in _ENCODINGS
        if encoding is not None and not is_known and not _SINGLE_BYTE.fullmatch(encoding):
            reason = (
                f"the encoding {encoding} is not read: UTF-8 is, and those of a byte a character"
            )
            raise fault(self._parser, reason)
        self._encoding = encoding
        self._is_standalone = standalone == 1

    def start_doctype(
        self, name: str, system: str | None, public: str | None, internal: int
    ) -> None:
        del name, public, internal
        if system is not None and not self._is_standalone:
            raise ExternalSubset(self._encoding)
        # This handler gets all that no other handler does.
        self._parser.DefaultHandlerExpand = self._inside_doctype

    def _inside_doctype(self, text: str) -> None:
        if text.startswith("%") and len(text) > 1:
            raise fault(self._parser, f"{text} is used, and parameter entities are never read")

    def end_doctype(self) -> None:
        self._parser.DefaultHandlerExpand = None

    def entity(
        self,
        name: str,
        is_parameter: int,
        value: str | None,
        base: str | None,
        system: str | None,
        public: str | None,
        notation: str | None,
    ) -> None:
        del name, is_parameter, base, system, public, notation
        self._entities += 1
        self._composed += value is not None and _REFERENCE.search(value) is not None
        if self._entities > _ENTITIES:
            raise fault(self._parser, f"more than {_ENTITIES} entities")
        if self._composed > _COMPOSED_ENTITIES:
            raise fault(self._parser, f"more than {_COMPOSED_ENTITIES} entities made of others")

    def external_entity(
        self, context: str, base: str | None, system: str | None, public: str | None
    ) -> int:
        del context, base, public
        reason = f"it needs the external entity {system}, and those are never read"
        raise fault(self._parser, reason)

    def skipped_entity(self, name: str, is_parameter: bool) -> None:
        del is_parameter
        raise fault(self._parser, f"the entity {name} is not declared in the document")


def _reason(error: expat.ExpatError) -> str:
    reason = expat.ErrorString(error.code) or str(error)
    if error.code == expat.errors.codes[expat.errors.XML_ERROR_UNDEFINED_ENTITY]:
        return f"{reason} (what is outside of the document is never read)"
    return reason
