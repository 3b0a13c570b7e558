"""RDF/XML to statements: expat reads the XML, and its events are parsed by RDF/XML's grammar.

https://www.w3.org/TR/rdf-syntax-grammar/; docstrings name its productions. What the grammar does
not allow is an error, even where other readers silently leave it out. pyoxigraph leaves out an
rdf:type that is the only attribute of a property element, attributes beside rdf:parseType, and the
whole content of a property element with an unknown rdf:parseType.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from xml.parsers import expat

from weir.rdf.spelling import as_iri, as_language, as_literal
from weir.rdf.statements import TRIPLE_TERM
from weir.rdf.xml_literal import XML, XmlLiteral
from weir.rdf.xml_parser import (
    SEPARATOR,
    ExternalSubset,
    fault,
    is_name,
    new_parser,
    read_blocks,
    standalone,
)

_OUTPUT_BYTES = 8 << 20
_OUTPUT_FACTOR = 100
"""The statements may have `_OUTPUT_FACTOR` times the bytes of the document, and `_OUTPUT_BYTES`
more. expat limits entities alike, but a long namespace can also make a short document large."""
_NAMES = 10_000
"""The IRIs of so many names of elements and attributes are remembered."""

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_XML_SCHEMA_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
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


def read_rdf_xml(text: bytes, base: str | None, nesting: int) -> Iterator[bytes]:
    """The statements of a document in batches of canonical N-Triples.

    Args:
        text: the document.
        base: IRI against which relative IRIs are resolved; if None, they are errors.
        nesting: the deepest nesting of elements.

    Raises:
        SyntaxError: the document is not RDF/XML, exceeds a limit, or needs external entities; with
            the line, and the column in characters from 1.
    """
    room = _OUTPUT_BYTES + _OUTPUT_FACTOR * len(text)
    try:
        yield from _Reader(new_parser(), base, nesting, room).read(text)
    except ExternalSubset as subset:
        text = standalone(text, subset.encoding)
        yield from _Reader(new_parser("utf-8"), base, nesting, room).read(text)


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

    Attributes:
        content: what it may contain.
        base: in scope.
        language: in scope.
        subject: of its property elements, or of its statement if it is a property element.
        predicate: of its statement.
        object: of its statement, if already known; for a collection, the newest cell.
        suffix: the language or datatype after the text of a literal.
        text: the pieces of its text; None if it must have none.
        statement: the IRI that reifies its statement.
        items: how many rdf:li it had.
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

    def __init__(
        self, parser: expat.XMLParserType, base: str | None, nesting: int, room: int
    ) -> None:
        self._parser = parser
        self._nesting = nesting
        self._room = room
        self._lines: list[str] = []
        self._open = [_Element(_Content.NODES, base, "")]
        self._names: dict[str, str] = {}
        self._attributes: dict[str, str] = {}
        self._ids: set[str] = set()
        self._nodes: dict[str, str] = {}
        self._blanks = 0
        self._literal = XmlLiteral()
        self._read_elements()

    def read(self, text: bytes) -> Iterator[bytes]:
        """The statements of the document, a block at a time."""
        for _ in read_blocks(self._parser, text):
            if self._lines:
                yield "".join(self._lines).encode()
                self._lines.clear()

    def _error(self, reason: str) -> SyntaxError:
        return fault(self._parser, reason)

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
                self._state(element, as_literal(text, element.suffix))
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
            # Files of Europeana and others name their XML Schema here, which is no statement.
            if not name.startswith(f"<{_XML_SCHEMA_INSTANCE}"):
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
                # Any other value means "Literal".
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
        # The property element itself is also open.
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
        self._state(self._open.pop(), as_literal(self._literal.value, _XML_LITERAL))
        self._read_elements()

    # Names, attributes and terms.

    def _name(self, name: str) -> str:
        """The IRI of an element's name."""
        namespace, _, local = name.partition(SEPARATOR)
        if not local:
            raise self._error(f"the element {name} has no namespace")
        return self._remember(self._names, name, namespace + local.partition(SEPARATOR)[0])

    def _attribute(self, name: str) -> str:
        """The IRI of an attribute's name; '' if XML reserves the name."""
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
        """The attributes whose names XML does not reserve, by IRI."""
        values: dict[str, str] = {}
        for name, value in attributes.items():
            iri = self._attributes.get(name) or self._attribute(name)
            if iri in values:
                raise self._error(f"the attribute {iri} occurs twice")
            if iri:
                values[iri] = value
        return values

    def _scope(self, attributes: dict[str, str], parent: _Element) -> tuple[str | None, str]:
        """The base and the language of an element; removes their attributes."""
        base, language = parent.base, parent.language
        if (tag := attributes.pop(_XML_LANGUAGE, None)) is not None:
            try:
                language = as_language(tag) if tag else ""
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
                self._triple(subject, predicate, as_literal(value, language and f"@{language}"))

    def _misplaced(self, attribute: str) -> SyntaxError:
        if attribute in _RDF_12:
            return self._error(f"{attribute}: RDF 1.2 is not supported")
        return self._error(f"{attribute} cannot be an attribute here")

    def _iri(self, value: str, base: str | None) -> str:
        try:
            return as_iri(value, base)
        except SyntaxError as error:
            raise self._error(error.msg) from None

    def _id(self, value: str, base: str | None) -> str:
        if not is_name(value):
            raise self._error(f"rdf:ID must be a name: {value[:200]!r}")
        iri = self._iri(f"#{value}", base)
        if iri in self._ids:
            raise self._error(f"rdf:ID has been used before: {iri}")
        self._ids.add(iri)
        return iri

    def _node_id(self, value: str) -> str:
        if not is_name(value):
            raise self._error(f"rdf:nodeID must be a name: {value[:200]!r}")
        return self._nodes.get(value) or self._nodes.setdefault(value, self._blank())

    def _blank(self) -> str:
        self._blanks += 1
        return f"_:b{self._blanks}"

    # Statements.

    def _state(self, element: _Element, object_: str) -> None:
        """Write the statement of a property element, and its reification."""
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
