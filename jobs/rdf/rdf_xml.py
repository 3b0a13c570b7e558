"""RDF/XML to statements: expat reads the XML, and what it reports is read by RDF/XML's grammar.

https://www.w3.org/TR/rdf-syntax-grammar/, whose names of productions the comments have. What the
grammar does not allow is an error, also where other readers leave it out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from xml.parsers import expat

import pyoxigraph
from pyoxigraph import RdfFormat

from jobs.rdf.statements import TRIPLE_TERM, fault_of
from jobs.rdf.xml_literal import SEPARATOR, XML, XmlLiteral

_BLOCK_BYTES = 1 << 20
_OUTPUT_BYTES = 8 << 20
_OUTPUT_FACTOR = 100
"""The statements may have so many bytes more than so many times the document, about what expat
allows entities; a long namespace can make a short document as large."""
_ENTITIES = 10_000
"""Entities that a document may declare."""
_COMPOSED_ENTITIES = 500
"""Entities made of others that it may declare; expat calls itself for each that is in another."""
_ENCODINGS = frozenset({"utf-8", "utf-16", "utf-16be", "utf-16le", "iso-8859-1", "us-ascii"})
"""Encodings that expat knows by itself."""
_NAMES = 10_000
"""Names of elements and attributes that are remembered."""

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_XML_BASE = SEPARATOR.join((XML, "base", "xml"))
_XML_LANGUAGE = SEPARATOR.join((XML, "lang", "xml"))


def _rdf(*names: str) -> frozenset[str]:
    return frozenset(f"<{_RDF}{name}>" for name in names)


# In N-Triples form, as all terms here.
_ROOT, _DESCRIPTION, _LI = f"<{_RDF}RDF>", f"<{_RDF}Description>", f"<{_RDF}li>"
_ID, _ABOUT, _NODE_ID = f"<{_RDF}ID>", f"<{_RDF}about>", f"<{_RDF}nodeID>"
_RESOURCE, _DATATYPE = f"<{_RDF}resource>", f"<{_RDF}datatype>"
_PARSE_TYPE, _TYPE = f"<{_RDF}parseType>", f"<{_RDF}type>"
_FIRST, _REST, _NIL = f"<{_RDF}first>", f"<{_RDF}rest>", f"<{_RDF}nil>"
_STATEMENT = f"<{_RDF}Statement>"
_SUBJECT, _PREDICATE, _OBJECT = f"<{_RDF}subject>", f"<{_RDF}predicate>", f"<{_RDF}object>"
_CORE = _rdf("RDF", "ID", "about", "parseType", "resource", "nodeID", "datatype")
_OLD = _rdf("aboutEach", "aboutEachPrefix", "bagID")
_NOT_NODES = _CORE | _OLD | {_LI}
_NOT_PROPERTIES = _CORE | _OLD | {_DESCRIPTION}
_RDF_12 = _rdf("annotation", "annotationNodeID", "version")
_NOT_ATTRIBUTES = _CORE | _OLD | _RDF_12 | {_DESCRIPTION, _LI}
_WITHOUT_NAMESPACE = frozenset({"ID", "about", "resource", "parseType", "type"})

_LANGUAGE_STRING = f"<{_RDF}langString>"
_XML_LITERAL = f"^^<{_RDF}XMLLiteral>"

_SPACE = " \t\r\n"
_SPECIAL = re.compile('["\\\\\t\n\r\x7f]')
_ESCAPES = str.maketrans(
    {'"': '\\"', "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\x7f": "\\u007F"}
)
_NAME_START = (
    "A-Z_a-z\xc0-\xd6\xd8-\xf6\xf8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_NAME = re.compile(rf"[{_NAME_START}][-.0-9\xb7\u0300-\u036f\u203f\u2040{_NAME_START}]*+")
# IRIs that are valid and absolute for certain; the others take a slower way.
_LETTERS = r"[A-Za-z0-9_~!$&'()*+,;=:@\-]"
_ABSOLUTE = re.compile(
    rf"https?://[A-Za-z0-9.\-]+(?:/(?:{_LETTERS}(?:{_LETTERS}|\.)*+)?)*+"
    rf"(?:\?(?:{_LETTERS}|[./?])*+)?(?:\#(?:{_LETTERS}|[./?])*+)?"
)
_INVALID = re.compile(r'[\x00-\x20<>"{}|^`\\]')
_UTF_16 = {
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
    b"<\0": "utf-16-le",
    b"\0<": "utf-16-be",
}
_DECLARATION = re.compile(r"\A\ufeff?(?:<\?xml\s.*?\?>)?", re.DOTALL)
_REFERENCE = re.compile("&[^#]")


def read_rdf_xml(text: bytes, base: str | None, nesting: int) -> Iterator[bytes]:
    """The statements of a document: lines of canonical N-Triples, some at a time.

    Args:
        text: the document.
        base: IRI that relative IRIs are resolved against; None = they are errors.
        nesting: the deepest nesting of elements.

    Raises:
        SyntaxError: it is no RDF/XML, has too much, or needs what is outside of it; with the line,
            and the column in characters from 1.
    """
    try:
        yield from _Reader(base, nesting).read(text)
    except _ExternalSubset as subset:
        # In a document with an external subset expat leaves out what refers to an entity that is
        # not declared, in attributes without a word, because the subset might declare it. In a
        # standalone document it is an error.
        alone = _standalone(text, subset.encoding)
        yield from _Reader(base, nesting, "utf-8").read(alone)


class _ExternalSubset(Exception):  # noqa: N818  (no error)
    """The DOCTYPE of a document names a DTD outside of it."""

    def __init__(self, encoding: str | None) -> None:
        self.encoding = encoding


def _standalone(text: bytes, encoding: str | None) -> bytes:
    """The document in UTF-8, declared to need no other, with its lines."""
    encoding = _UTF_16.get(text[:2], encoding or "utf-8")
    try:
        characters = text.decode(encoding)
    except UnicodeDecodeError as error:
        raise SyntaxError(str(error), (None, 0, 0, None)) from None
    declaration = _DECLARATION.match(characters)
    assert declaration is not None
    lines = "\n" * declaration[0].count("\n")
    rest = characters[declaration.end() :]
    return f'<?xml version="1.0"{lines} standalone="yes"?>{rest}'.encode()


class _Content(Enum):
    """What an element may contain."""

    NODES = auto()
    """Node elements: the document itself, rdf:RDF."""
    PROPERTIES = auto()
    """Property elements: a node element, rdf:parseType="Resource"."""
    VALUE = auto()
    """Text, or one node element."""
    COLLECTION = auto()
    """Node elements: rdf:parseType="Collection"."""
    NOTHING = auto()


@dataclass(slots=True)
class _Element:
    """An open element.

    base, language: in scope. subject: of its property elements, or of the statement that it is.
    object: of that statement, as far as it is known; of a collection, the newest cell. suffix: what
    follows the text of a literal. text: the pieces of its text; None if there must be none.
    statement: the IRI that reifies the statement. items: how many rdf:li it had.
    """

    content: _Content
    base: str | None
    language: str
    subject: str = ""
    predicate: str = ""
    object: str = ""
    suffix: str = ""
    text: list[str] | None = None
    statement: str = ""
    items: int = 0


class _Reader:
    """The state of reading a document."""

    def __init__(self, base: str | None, nesting: int, encoding: str | None = None) -> None:
        self._nesting = nesting
        self._lines: list[str] = []
        self._room = _OUTPUT_BYTES
        self._open = [_Element(_Content.NODES, base, "")]
        self._names: dict[str, str] = {}
        self._attributes: dict[str, str] = {}
        self._ids: set[str] = set()
        self._nodes: dict[str, str] = {}
        self._blanks = 0
        self._literal = XmlLiteral()
        self._encoding: str | None = None
        self._is_standalone = False
        self._entities = self._composed = 0
        self._parser = parser = expat.ParserCreate(encoding, SEPARATOR)
        parser.namespace_prefixes = True
        parser.buffer_text = True
        parser.buffer_size = 1 << 16
        parser.XmlDeclHandler = self._declaration
        parser.StartDoctypeDeclHandler = self._start_doctype
        parser.EndDoctypeDeclHandler = self._end_doctype
        parser.EntityDeclHandler = self._entity
        parser.ExternalEntityRefHandler = self._external_entity
        parser.SkippedEntityHandler = self._skipped_entity
        self._read_elements()

    def read(self, text: bytes) -> Iterator[bytes]:
        """Its statements, a block of the document at a time."""
        try:
            for start in range(0, len(text), _BLOCK_BYTES):
                block = memoryview(text)[start : start + _BLOCK_BYTES]
                self._room += _OUTPUT_FACTOR * len(block)
                self._parser.Parse(block)
                if self._lines:
                    yield "".join(self._lines).encode()
                    self._lines.clear()
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise SyntaxError(
                _xml_reason(error), (None, error.lineno, error.offset + 1, None)
            ) from None

    def _error(self, reason: str) -> SyntaxError:
        line, column = self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1
        return SyntaxError(reason, (None, line, column, None))

    # What is before the elements.

    def _declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        del version
        if encoding is not None and encoding.lower() not in _ENCODINGS:
            # Others are read by a table of their characters.
            try:
                characters = len(bytes(range(256)).decode(encoding, "replace"))
            except (LookupError, UnicodeError):
                characters = 0
            if characters != 256:
                raise self._error(
                    f"the encoding {encoding} is unknown, or has characters of several bytes"
                )
        self._encoding = encoding
        self._is_standalone = standalone == 1

    def _start_doctype(
        self, name: str, system: str | None, public: str | None, internal: int
    ) -> None:
        del name, public, internal
        if system is not None and not self._is_standalone:
            raise _ExternalSubset(self._encoding)
        # It is told of what no other handler is.
        self._parser.DefaultHandlerExpand = self._inside_doctype

    def _inside_doctype(self, text: str) -> None:
        if text.startswith("%") and len(text) > 1:
            raise self._error(f"{text} is used, and parameter entities are never read")

    def _end_doctype(self) -> None:
        self._parser.DefaultHandlerExpand = None

    def _entity(
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
            raise self._error(f"more than {_ENTITIES} entities")
        if self._composed > _COMPOSED_ENTITIES:
            raise self._error(f"more than {_COMPOSED_ENTITIES} entities made of others")

    def _external_entity(
        self, context: str, base: str | None, system: str | None, public: str | None
    ) -> int:
        del context, base, public
        raise self._error(f"it needs the external entity {system}, and those are never read")

    def _skipped_entity(self, name: str, is_parameter: bool) -> None:
        del is_parameter
        raise self._error(f"the entity {name} is not declared in the document")

    # Elements.

    def _read_elements(self) -> None:
        parser = self._parser
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.CommentHandler = None
        parser.ProcessingInstructionHandler = None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) > self._nesting:
            raise self._too_deep()
        parent = self._open[-1]
        iri = self._names.get(name) or self._name(name)
        match parent.content:
            case _Content.PROPERTIES:
                self._open.append(self._property(iri, attributes, parent))
            case _Content.NOTHING:
                raise self._error(f"the element {iri} is inside one that must be empty")
            case _Content.NODES if iri == _ROOT and len(self._open) == 1:
                self._open.append(self._root(attributes, parent))
            case _:
                self._open.append(self._node(iri, attributes, parent))

    def _text(self, text: str) -> None:
        pieces = self._open[-1].text
        if pieces is not None:
            pieces.append(text)
        elif text.strip(_SPACE):
            raise self._error(f"text where an element is expected: {text.strip(_SPACE)[:80]}")

    def _end(self, name: str) -> None:
        del name
        element = self._open.pop()
        if element.text is not None:
            text = "".join(element.text)
            if not element.object:
                self._state(element, _literal(text, element.suffix))
            elif text.strip(_SPACE):
                raise self._error("both text and a node element in a property element")
            else:
                self._state(element, element.object)
        elif element.content is _Content.COLLECTION:
            if element.object:
                self._triple(element.object, _REST, _NIL)
            else:
                self._state(element, _NIL)

    def _too_deep(self) -> SyntaxError:
        return self._error(f"nested more than {self._nesting} deep")

    def _root(self, attributes: dict[str, str], parent: _Element) -> _Element:
        """Production RDF."""
        base, language = self._scope(attributes, parent)
        for name in self._rdf_attributes(attributes):
            raise self._misplaced(name)
        return _Element(_Content.NODES, base, language)

    def _node(self, iri: str, attributes: dict[str, str], parent: _Element) -> _Element:
        """Production nodeElement."""
        if iri in _NOT_NODES:
            raise self._error(f"{iri} cannot be a node element")
        base, language = parent.base, parent.language
        subject = ""
        others: dict[str, str] = {}
        if attributes:
            base, language = self._scope(attributes, parent)
            others = self._rdf_attributes(attributes)
            named = [name for name in (_ABOUT, _ID, _NODE_ID) if name in others]
            if len(named) > 1:
                raise self._error(f"both {named[0]} and {named[1]}")
            if named:
                value = others.pop(named[0])
                if named[0] == _ABOUT:
                    subject = self._iri(value, base)
                else:
                    subject = self._id(value, base) if named[0] == _ID else self._node_id(value)
        subject = subject or self._blank()
        if iri != _DESCRIPTION:
            self._triple(subject, _TYPE, iri)
        if others:
            self._property_attributes(subject, others, base, language)
        if parent.content is _Content.VALUE:
            if parent.object:
                raise self._error("more than one node element in a property element")
            if parent.suffix.startswith("^"):
                raise self._error("a node element in a property element with rdf:datatype")
            parent.object = subject
        elif parent.content is _Content.COLLECTION:
            cell = self._blank()
            if parent.object:
                self._triple(parent.object, _REST, cell)
            else:
                self._state(parent, cell)
            parent.object = cell
            self._triple(cell, _FIRST, subject)
        return _Element(_Content.PROPERTIES, base, language, subject)

    def _property(self, iri: str, attributes: dict[str, str], parent: _Element) -> _Element:
        """Production propertyElt."""
        if iri in _NOT_PROPERTIES:
            raise self._error(f"{iri} cannot be a property element")
        if iri == _LI:
            parent.items += 1
            iri = f"<{_RDF}_{parent.items}>"
        element = _Element(_Content.VALUE, parent.base, parent.language, parent.subject, iri)
        others: dict[str, str] = {}
        if attributes:
            element.base, element.language = self._scope(attributes, parent)
            others = self._rdf_attributes(attributes)
            if (value := others.pop(_ID, None)) is not None:
                element.statement = self._id(value, element.base)
            if (value := others.pop(_PARSE_TYPE, None)) is not None:
                if others:
                    raise self._error(f"both rdf:parseType and {next(iter(others))}")
                return self._parse_type(value, element)
        if not others:
            element.suffix = f"@{element.language}" if element.language else ""
            element.text = []
        elif others.keys() == {_DATATYPE}:
            element.suffix = f"^^{self._iri(others[_DATATYPE], element.base)}"
            if element.suffix == f"^^{_LANGUAGE_STRING}":
                raise self._error("rdf:langString as rdf:datatype: it needs xml:lang instead")
            element.text = []
        else:
            # Production emptyPropertyElt.
            element.content = _Content.NOTHING
            resource, node_id = others.pop(_RESOURCE, None), others.pop(_NODE_ID, None)
            if resource is not None and node_id is not None:
                raise self._error("both rdf:resource and rdf:nodeID")
            if resource is not None:
                element.object = self._iri(resource, element.base)
            else:
                element.object = self._blank() if node_id is None else self._node_id(node_id)
            self._state(element, element.object)
            self._property_attributes(element.object, others, element.base, element.language)
        return element

    def _parse_type(self, value: str, element: _Element) -> _Element:
        """Productions parseTypeLiteralPropertyElt, ...Resource..., ...Collection..., ...Other..."""
        match value:
            case "Resource":
                node = self._blank()
                self._state(element, node)
                return _Element(_Content.PROPERTIES, element.base, element.language, node)
            case "Collection":
                element.content = _Content.COLLECTION
            case "Triple":
                raise self._error(TRIPLE_TERM)
            case _:
                # Any other is as "Literal".
                self._read_literal()
        return element

    # Inside rdf:parseType="Literal".

    def _read_literal(self) -> None:
        self._literal = literal = XmlLiteral()
        parser = self._parser
        parser.StartElementHandler = self._start_in_literal
        parser.EndElementHandler = self._end_in_literal
        parser.CharacterDataHandler = literal.text
        parser.CommentHandler = literal.comment
        parser.ProcessingInstructionHandler = literal.instruction

    def _start_in_literal(self, name: str, attributes: dict[str, str]) -> None:
        # The property element itself is open, too.
        if len(self._open) + self._literal.depth > self._nesting:
            raise self._too_deep()
        self._literal.start(name, attributes)
        if self._literal.size > self._room:
            raise self._too_large()

    def _end_in_literal(self, name: str) -> None:
        del name
        if self._literal.depth:
            self._literal.end()
            return
        self._state(self._open.pop(), _literal(self._literal.value, _XML_LITERAL))
        self._read_elements()

    # Names, attributes and terms.

    def _name(self, name: str) -> str:
        """The IRI of an element's name."""
        namespace, _, local = name.partition(SEPARATOR)
        if not local:
            raise self._error(f"the element {name} has no namespace")
        return self._remember(self._names, name, namespace + local.partition(SEPARATOR)[0])

    def _attribute(self, name: str) -> str:
        """The IRI of an attribute's name; '' if it is reserved by XML, and so not RDF's."""
        namespace, _, rest = name.partition(SEPARATOR)
        local, _, prefix = rest.partition(SEPARATOR)
        if (prefix or name).lower().startswith("xml"):
            return ""
        if not local and name not in _WITHOUT_NAMESPACE:
            raise self._error(f"the attribute {name} has no namespace")
        return self._remember(self._attributes, name, namespace + local if local else _RDF + name)

    def _remember(self, names: dict[str, str], name: str, iri: str) -> str:
        if len(names) >= _NAMES:
            names.clear()
        names[name] = self._iri(iri, None)
        return names[name]

    def _rdf_attributes(self, attributes: dict[str, str]) -> dict[str, str]:
        """The attributes that are not XML's own, by IRI."""
        values: dict[str, str] = {}
        for name, value in attributes.items():
            iri = self._attributes.get(name) or self._attribute(name)
            if iri in values:
                raise self._error(f"the attribute {iri} occurs twice")
            if iri:
                values[iri] = value
        return values

    def _scope(self, attributes: dict[str, str], parent: _Element) -> tuple[str | None, str]:
        """The base and the language of an element; takes their attributes away."""
        base, language = parent.base, parent.language
        if (tag := attributes.pop(_XML_LANGUAGE, None)) is not None:
            try:
                language = _language(tag)
            except ValueError as error:
                raise self._error(f"xml:lang: {error}") from None
        if (iri := attributes.pop(_XML_BASE, None)) is not None and (iri or base is not None):
            base = self._iri(iri, base)[1:-1]
        return base, language

    def _property_attributes(
        self, subject: str, attributes: dict[str, str], base: str | None, language: str
    ) -> None:
        for predicate, value in attributes.items():
            if predicate in _NOT_ATTRIBUTES:
                raise self._misplaced(predicate)
            if predicate == _TYPE:
                self._triple(subject, _TYPE, self._iri(value, base))
            else:
                self._triple(subject, predicate, _literal(value, language and f"@{language}"))

    def _misplaced(self, attribute: str) -> SyntaxError:
        if attribute in _RDF_12:
            return self._error(f"{attribute}: RDF 1.2 is not supported")
        return self._error(f"{attribute} cannot be an attribute here")

    def _iri(self, value: str, base: str | None) -> str:
        if _ABSOLUTE.fullmatch(value):
            return f"<{value}>"
        try:
            return _resolved(value, base)
        except SyntaxError as error:
            raise self._error(f"{fault_of(error, 0).reason}: {value[:200]!r}") from None

    def _id(self, value: str, base: str | None) -> str:
        if not _NAME.fullmatch(value):
            raise self._error(f"rdf:ID must be a name: {value[:200]!r}")
        iri = self._iri(f"#{value}", base)
        if iri in self._ids:
            raise self._error(f"rdf:ID has been used before: {iri}")
        self._ids.add(iri)
        return iri

    def _node_id(self, value: str) -> str:
        if not _NAME.fullmatch(value):
            raise self._error(f"rdf:nodeID must be a name: {value[:200]!r}")
        return self._nodes.get(value) or self._nodes.setdefault(value, self._blank())

    def _blank(self) -> str:
        self._blanks += 1
        return f"_:b{self._blanks}"

    # Statements.

    def _state(self, element: _Element, object_: str) -> None:
        """The statement that a property element is, and its reification."""
        self._triple(element.subject, element.predicate, object_)
        if element.statement:
            self._triple(element.statement, _TYPE, _STATEMENT)
            self._triple(element.statement, _SUBJECT, element.subject)
            self._triple(element.statement, _PREDICATE, element.predicate)
            self._triple(element.statement, _OBJECT, object_)

    def _triple(self, subject: str, predicate: str, object_: str) -> None:
        line = f"{subject} {predicate} {object_} .\n"
        self._room -= len(line)
        if self._room < 0:
            raise self._too_large()
        self._lines.append(line)

    def _too_large(self) -> SyntaxError:
        return self._error(f"its statements are more than {_OUTPUT_FACTOR} times as large as it is")


def _literal(text: str, suffix: str) -> str:
    if _SPECIAL.search(text):
        text = text.translate(_ESCAPES)
    return f'"{text}"{suffix}'


@lru_cache(maxsize=1 << 14)
def _resolved(value: str, base: str | None) -> str:
    """An IRI against a base (RFC 3986).

    Raises:
        SyntaxError: it is none.
    """
    if _INVALID.search(value):
        raise SyntaxError("a character that no IRI has", (None, 0, 0, None))
    text = f"<{value}> <urn:p> <urn:o> ."
    [quad] = pyoxigraph.parse(text, RdfFormat.TURTLE, base_iri=base)
    return str(quad.subject)


@lru_cache(maxsize=1 << 10)
def _language(tag: str) -> str:
    """A language tag in lower case; '' stays '', which is no language.

    Raises:
        ValueError: it is none.
    """
    return tag and (pyoxigraph.Literal("", language=tag).language or "").lower()


def _xml_reason(error: expat.ExpatError) -> str:
    reason = expat.ErrorString(error.code) or str(error)
    if error.code == expat.errors.codes[expat.errors.XML_ERROR_UNDEFINED_ENTITY]:
        return f"{reason} (what is outside of the document is never read)"
    return reason
