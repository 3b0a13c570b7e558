"""JSON-LD to statements: PyLD expands the document, and the expanded form is written as quads.

https://www.w3.org/TR/json-ld11-api/#deserialize-json-ld-to-rdf-algorithm, which silently leaves out
values that are not RDF: a relative IRI, a blank node as a predicate, an invalid language tag. Here
each of them is reported as `Dropped`. Values that expansion leaves out are not reported: keys that
no context maps to an IRI, null, values outside of any node.
"""

from __future__ import annotations

import json
import math
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from weir.rdf.limits import ParseLimits
from weir.rdf.spelling import as_iri, as_language, as_literal

_ITEMS = 500
"""Items of a graph that are expanded together; the expanded form takes ten times the text."""
_FRAMES = 8
"""The most Python calls per level of a document."""
_MOST_NESTING = 10_000
"""The deepest nesting that can be read, even if the limit is higher."""
_SHOWN = 200
"""The most characters of a key in an error."""

_NO_BASE_SCHEME = "weir-without-base:"
_NO_BASE = f"{_NO_BASE_SCHEME}//none/"
"""The base of a document without one: PyLD would invent one."""

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_TYPE, _FIRST, _REST, _NIL = (f"<{_RDF}{name}>" for name in ("type", "first", "rest", "nil"))
_LANG_STRING = f"{_RDF}langString"
_ERRORS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_LEAST_DOUBLE = 1e21
"""An integer of at least this size is written as a double."""
_ZEROS = re.compile(r"(\d)0*E\+?(-)?0*(\d)")

Contexts = Mapping[str, str]
"""The path of a local file by the IRI of the remote context that it has."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A value that is not RDF and so gives no statement: the reason, and the value."""

    reason: str
    raw: str


def read_json_ld(
    text: bytes, base: str | None, contexts: Contexts, limits: ParseLimits
) -> Iterator[bytes | Dropped]:
    """The statements of a document in batches of canonical N-Quads, and values that give none.

    Args:
        text: the document, not nested deeper than the limit.
        base: IRI against which relative IRIs are resolved; if None, they are not RDF.
        contexts: the remote contexts that the document may name.
        limits: of the nesting, and of the size of contexts.

    Raises:
        SyntaxError: the document is not JSON-LD; with line and column if it is not JSON.
        OSError: the file of a context cannot be read.
    """
    expand = _Expansion(base, contexts, limits)
    depth = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + _FRAMES * min(limits.nesting, _MOST_NESTING))
    statements = _Statements()
    try:
        for items in _parts(_loads(text)):
            statements.add(expand(items))
            yield from expand.dropped()
            yield from statements.take()
    finally:
        sys.setrecursionlimit(depth)


def _loads(text: bytes) -> Any:
    try:
        return json.loads(text.decode(), object_pairs_hook=_object, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise _fault(error.msg, error.lineno, error.colno) from None
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise _fault("it is no UTF-8", line) from None
    except ValueError:
        raise _fault("a number of more than 4,300 digits") from None
    except RecursionError:
        raise _fault("nested deeper than Python reads it") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        twice = next(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
        raise _fault(f"a key occurs twice in one object: {twice[:_SHOWN]!r}")
    return members


def _no_number(text: str) -> None:
    raise _fault(f"{text} is no number of JSON")


def _fault(reason: str, line: int = 0, column: int = 0) -> SyntaxError:
    return SyntaxError(reason, (None, line, column, None))


def _parts(document: Any) -> Iterator[Any]:
    """The document in parts with the same statements, since a graph may be as large as a dump."""
    match document:
        case list():
            yield from _slices(document)
        case {"@graph": list(items), **others} if items and others.keys() <= {"@context", "@id"}:
            for part in _slices(items):
                yield others | {"@graph": part}
        case dict():
            yield document
        case _:
            raise _fault("a document is an object or an array")


def _slices(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (items[start : start + _ITEMS] for start in range(0, len(items), _ITEMS))


class _Expansion:
    """Expands parts of one document.

    Args:
        base: of the document.
        contexts: the remote contexts that it may name.
        limits: of the size of contexts.
    """

    def __init__(self, base: str | None, contexts: Contexts, limits: ParseLimits) -> None:
        # Importing PyLD takes as long as reading a thousand small documents of other formats.
        from cachetools import LRUCache
        from pyld.context_resolver import ContextResolver
        from pyld.jsonld import JsonLdError

        from weir.rdf.json_ld_processor import Processor

        load = partial(_remote, contexts, limits.document_bytes)
        self._error = JsonLdError
        self._expand = Processor(on_property_dropped=self._drop).expand
        self._keys: list[str] = []
        self._options = {
            "base": base or _NO_BASE,
            "documentLoader": load,
            "contextResolver": ContextResolver(LRUCache(100), load),
        }

    def __call__(self, part: Any) -> list[dict[str, Any]]:
        """A part of the document in expanded form."""
        try:
            with warnings.catch_warnings(action="ignore"):
                expanded: list[dict[str, Any]] = self._expand(part, self._options)
        except self._error as error:
            raise _cause(error) from None
        except RecursionError:
            raise _fault("contexts that contain each other without end") from None
        except _ERRORS as error:
            # PyLD does not check the types of all values of a document and its contexts.
            raise _fault(f"it cannot be expanded: {type(error).__name__}: {error}") from error
        return expanded

    def dropped(self) -> Iterator[Dropped]:
        """The keys, left out since the last call, that look like IRIs."""
        for key in self._keys:
            yield Dropped("a key that is no IRI", key)
        self._keys = []

    def _drop(self, key: str | None) -> None:
        if key is not None and ":" in key:
            self._keys.append(key)


def _remote(contexts: Contexts, size: int, iri: str, options: object) -> dict[str, Any]:
    """A remote context, as a document loader of PyLD returns it."""
    del options
    if iri not in contexts and iri.startswith(_NO_BASE_SCHEME):
        name = iri.removeprefix(_NO_BASE)
        raise _fault(f"the context {name} is a relative IRI, and there is no base (`base_iri`)")
    if iri not in contexts:
        raise _fault(
            f"the remote context {iri} is not fetched: name a local file that has it, under"
            " `contexts` in sources.yml"
        )
    try:
        with Path(contexts[iri]).open("rb") as file:
            text = file.read(size + 1)
    except OSError as error:
        reason = f"the context {iri}, {contexts[iri]}: {error.strerror}"
        raise OSError(error.errno, reason) from None
    if len(text) > size:
        raise _fault(f"the context {iri} has more than {size} bytes")
    try:
        document = _loads(text)
    except SyntaxError as error:
        place = f", line {error.lineno}" if error.lineno else ""
        raise _fault(f"the context {iri}, {contexts[iri]}{place}: {error.msg}") from None
    if not isinstance(document, dict) or "@context" not in document:
        raise _fault(f"the context {iri}, {contexts[iri]}: it is no object with an @context")
    return {"contentType": None, "contextUrl": None, "documentUrl": iri, "document": document}


def _cause(error: BaseException) -> SyntaxError | OSError:
    """The innermost cause of an error."""
    reasons: list[str] = []
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, SyntaxError | OSError):
            return cause
        reason = str(cause.args[0]) if cause.args else type(cause).__name__
        iri = (getattr(cause, "details", None) or {}).get("iri")
        reasons.append(f"{reason} <{iri}>" if isinstance(iri, str) else reason)
        cause = cause.__cause__
    # The innermost says what is wrong, the outermost only what PyLD was doing.
    return _fault(" ".join(reasons[-1].split()))


class _Statements:
    """Statements of expanded documents, with new names for blank nodes."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._dropped: list[Dropped] = []
        self._names: dict[str, str] = {}
        self._issued = 0

    def add(self, nodes: Iterable[dict[str, Any]]) -> None:
        """Add the statements of some nodes of the default graph."""
        for node in nodes:
            self._node(node, "")

    def take(self) -> Iterator[bytes | Dropped]:
        """The statements and dropped values that were added since the last call."""
        try:
            text = "".join(self._lines).encode()
        except UnicodeEncodeError:
            text = b"".join(self._encoded())
        yield from self._dropped
        if text:
            yield text
        self._lines, self._dropped = [], []

    def _encoded(self) -> Iterator[bytes]:
        for line in self._lines:
            try:
                yield line.encode()
            except UnicodeEncodeError:
                self._drop("half of a surrogate pair", line)

    def _drop(self, reason: str, value: object) -> None:
        raw = value if isinstance(value, str) else json.dumps(value)
        self._dropped.append(Dropped(reason, raw.strip()))

    def _say(
        self, subject: str | None, predicate: str | None, object_: str | None, graph: str | None
    ) -> None:
        if predicate is None or object_ is None:
            # The dropped value was reported.
            return
        if subject is None or graph is None:
            what = "subject" if subject is None else "graph"
            self._drop(f"the {what} of a statement is no RDF", f"{predicate} {object_}")
            return
        self._lines.append(f"{subject} {predicate} {object_}{graph} .\n")

    def _node(self, node: dict[str, Any], graph: str | None) -> str | None:
        """Write the statements of a node; returns its term, None if it has no name in RDF.

        Args:
            node: in expanded form.
            graph: the end of its statements; None if their graph has no name in RDF.
        """
        subject = self._resource(node["@id"]) if "@id" in node else self._blank()
        for key, values in node.items():
            match key:
                case "@type":
                    for name in values:
                        self._say(subject, _TYPE, self._resource(name), graph)
                case "@graph":
                    inner = f" {subject}" if subject else None
                    for inside in values:
                        self._node(inside, inner)
                case "@included":
                    if not isinstance(values, list) or not all(map(_is_object, values)):
                        raise _fault(f"the value of @included is no node: {values!r:.{_SHOWN}}")
                    for other in values:
                        self._node(other, graph)
                case "@reverse":
                    for name, sources in values.items():
                        predicate = self._predicate(name)
                        for source in sources:
                            self._say(self._node(source, graph), predicate, subject, graph)
                case _ if not key.startswith("@"):
                    predicate = self._predicate(key)
                    for value in values:
                        self._say(subject, predicate, self._object(value, graph), graph)
        return subject

    def _object(self, value: dict[str, Any], graph: str | None) -> str | None:
        if "@value" in value:
            return self._literal(value)
        if "@list" in value:
            return self._list(value["@list"], graph)
        return self._node(value, graph)

    def _list(self, items: Sequence[dict[str, Any]], graph: str | None) -> str:
        if not items:
            return _NIL
        cells = [self._blank() for _ in items]
        for cell, after, item in zip(cells, [*cells[1:], _NIL], items, strict=True):
            self._say(cell, _FIRST, self._object(item, graph), graph)
            self._say(cell, _REST, after, graph)
        return cells[0]

    def _literal(self, value: dict[str, Any]) -> str | None:
        content, datatype, language = value["@value"], value.get("@type"), value.get("@language")
        try:
            if not isinstance(datatype, str | None):
                raise ValueError("a datatype that is no IRI")
            if datatype == "@json":
                return as_literal(_canonical_json(content), f"^^<{_RDF}JSON>")
            if language is not None:
                return as_literal(content, f"@{as_language(language)}")
            lexical, native = _lexical(content, datatype)
            datatype = datatype or native
            if datatype == f"{_XSD}string":
                return as_literal(lexical, "")
            if datatype == _LANG_STRING:
                raise ValueError(f"a literal of <{datatype}> needs a language tag")
            return as_literal(lexical, f"^^{as_iri(datatype, None)}")
        except (SyntaxError, ValueError, ArithmeticError) as error:
            self._drop(error.msg if isinstance(error, SyntaxError) else str(error), value)
            return None

    def _predicate(self, name: str) -> str | None:
        if name.startswith("_:"):
            self._drop("a blank node cannot be a predicate", name)
            return None
        return self._resource(name)

    def _resource(self, name: str | None) -> str | None:
        if name is None:
            self._drop("an @id that is null", "@id")
            return None
        if name.startswith("_:"):
            if name not in self._names:
                self._names[name] = self._blank()
            return self._names[name]
        if name.startswith(_NO_BASE_SCHEME):
            self._drop(
                "a relative IRI, and there is no base",
                name.removeprefix(_NO_BASE).removeprefix(_NO_BASE_SCHEME),
            )
            return None
        try:
            return as_iri(name, None)
        except SyntaxError as error:
            self._drop(error.msg, name)
            return None

    def _blank(self) -> str:
        self._issued += 1
        return f"_:b{self._issued}"


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _lexical(content: Any, datatype: str | None) -> tuple[str, str]:
    """The lexical form of a value, and its datatype if none is declared."""
    match content:
        case bool():
            return ("true" if content else "false"), f"{_XSD}boolean"
        case int() | float():
            if math.isinf(content):
                raise ValueError("a number that is larger than any of xsd:double")
            whole = content == int(content) and abs(content) < _LEAST_DOUBLE
            if whole and datatype != f"{_XSD}double":
                return str(int(content)), f"{_XSD}integer"
            return _ZEROS.sub(r"\1E\2\3", f"{float(content):1.15E}"), f"{_XSD}double"
        case _:
            return content, f"{_XSD}string"


def _canonical_json(content: Any) -> str:
    # A dependency of PyLD.
    from c14n.Canonicalize import canonicalize

    text: bytes = canonicalize(content)
    return text.decode()
