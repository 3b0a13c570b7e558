"""The child process that evaluates queries of strangers over a store that it only reads.

A message is a `Question` as JSON; frames of `+` and bytes of the result answer it, then one of `.`
and JSON: the media type, or the status and the reason why there is none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, TypeAlias

import pyoxigraph as ox

from weir.sandbox.frames import write_frame
from weir.sandbox.limits import limit_seconds
from weir.sandbox.serving import serve
from weir.sparql.frontend.errors import QuerySyntaxError, UnsupportedQuery
from weir.sparql.frontend.lexer import Token, tokenize

MERGED_QUADS = 200_000
"""Most quads of several graphs that are one default graph: they are merged for the query."""
DAMAGED = 0
"""Instead of the status, if the store is not what was written."""
_FRAME = 1 << 16
_CODE_POINT = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))")
_FORMS = ("SELECT", "ASK", "CONSTRUCT", "DESCRIBE")
_RESULTS = {
    "application/sparql-results+json": ox.QueryResultsFormat.JSON,
    "application/sparql-results+xml": ox.QueryResultsFormat.XML,
    "text/csv": ox.QueryResultsFormat.CSV,
    "text/tab-separated-values": ox.QueryResultsFormat.TSV,
}
_GRAPHS = {
    "text/turtle": ox.RdfFormat.TURTLE,
    "application/n-triples": ox.RdfFormat.N_TRIPLES,
    "application/rdf+xml": ox.RdfFormat.RDF_XML,
    "application/ld+json": ox.RdfFormat.JSON_LD,
}
Results: TypeAlias = "ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples"


@dataclass(frozen=True, slots=True)
class Question:
    """A query and how it is to be answered.

    Attributes:
        store: the folder of the store.
        text: of the query.
        default_graphs: IRIs that take the place of FROM; empty with no `named_graphs`: what the
            query says.
        named_graphs: IRIs that take the place of FROM NAMED.
        results: the media type of solutions and truth values; None if none is accepted.
        graphs: the media type of triples; None if none is accepted.
        seconds: of processor time at most.
        most_bytes: of the result.
    """

    store: str
    text: str
    default_graphs: Sequence[str]
    named_graphs: Sequence[str]
    results: str | None
    graphs: str | None
    seconds: int
    most_bytes: int


class Refused(Exception):  # noqa: N818  (named after what happens)
    """There is no result.

    Args:
        status: of HTTP.
        why: in a sentence.
    """

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


def unescaped(text: str) -> str:
    r"""The text of a query without `\u0000`, which may be anywhere in it, also in keywords."""

    def character(match: re.Match[str]) -> str:
        code = int(match[1] or match[2], 16)
        # Oxigraph refuses the others.
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else match[0]

    return _CODE_POINT.sub(character, text)


def answered(store: ox.Store, question: Question, write: Callable[[bytes], None]) -> str:
    """Evaluate a query and write its result; gives the media type.

    Raises:
        Refused: it cannot be answered, or has too large a result.
    """
    try:
        results = _evaluated(store, question)
        is_graph = isinstance(results, ox.QueryTriples)
        media = question.graphs if is_graph else question.results
        if media is None:
            offered = ", ".join(_GRAPHS if is_graph else _RESULTS)
            raise Refused(406, f"its result can be had as {offered}")
        output: Any = _Limited(write, question.most_bytes)
        results.serialize(output, _GRAPHS[media] if is_graph else _RESULTS[media])  # type: ignore[arg-type]
        output.flush()
    except (SyntaxError, ValueError) as error:
        raise Refused(400, f"the query is wrong: {_said(error)}") from error
    except (OSError, RuntimeError) as error:
        if "corruption" in str(error).lower():
            raise Refused(DAMAGED, str(error)) from error
        raise Refused(400, f"the query cannot be evaluated: {str(error)[:1000]}") from error
    return media


def _store(folder: str) -> ox.Store:
    try:
        return ox.Store.read_only(folder)
    except (OSError, RuntimeError) as error:
        raise Refused(DAMAGED, str(error)) from error


def _evaluated(store: ox.Store, question: Question) -> Results:
    text = unescaped(question.text)
    lowered = text.lower()
    read: list[Token] = []
    if "service" in lowered or "from" in lowered:
        read = _tokens(text)
    if any(token.is_word("SERVICE") for token in read):
        raise Refused(400, "SERVICE is refused: this endpoint sends no requests")
    defaults: Sequence[Any] = [ox.NamedNode(iri) for iri in question.default_graphs]
    named: Sequence[Any] = [ox.NamedNode(iri) for iri in question.named_graphs]
    if not defaults and not named:
        defaults, named = _dataset(read)
        if not defaults and not named:
            return store.query(question.text)
    if len(defaults) > 1:
        store = _merged(store, defaults, named)
        defaults = [ox.DefaultGraph()]
    return store.query(question.text, default_graph=[*defaults], named_graphs=[*named])


def _said(error: Exception) -> str:
    """What Oxigraph says of a query, without the list of all that its grammar allows there."""
    said = str(error)[:1000]
    place, is_prefix, _ = said.partition("expected one of Prefix not found")
    return f"{place}a prefix is not declared" if is_prefix else said


def _tokens(text: str) -> list[Token]:
    try:
        return [*tokenize(text)]
    except (QuerySyntaxError, UnsupportedQuery) as error:
        raise Refused(400, f"the query is wrong: {str(error)[:1000]}") from error


def _dataset(read: Sequence[Token]) -> tuple[list[ox.NamedNode], list[ox.NamedNode]]:
    """The graphs of FROM and of FROM NAMED."""
    graphs: dict[bool, list[str]] = {False: [], True: []}
    words = [*read, None, None]
    start = next((i for i, token in enumerate(read) if token.is_word(*_FORMS)), 0)
    for i, token in enumerate(read):
        if token.text == "{":
            break
        if token.is_word("FROM"):
            named = (after := words[i + 1]) is not None and after.is_word("NAMED")
            iri = words[i + 1 + named]
            if iri is not None:
                graphs[named].append(iri.text)
    if not any(graphs.values()):
        return [], []
    prologue = " ".join(token.text for token in read[:start])
    return _resolved(prologue, graphs[False]), _resolved(prologue, graphs[True])


def _resolved(prologue: str, iris: Iterable[str]) -> list[ox.NamedNode]:
    """IRIs, relative or by prefix, as Oxigraph understands them after a prologue."""
    text = f"{prologue} SELECT ?g {{ VALUES ?g {{ {' '.join(iris)} }} }}"
    solutions: Any = ox.Store().query(text)
    return [*dict.fromkeys(solution["g"] for solution in solutions)]


def _merged(
    store: ox.Store, defaults: Iterable[ox.NamedNode], named: Iterable[ox.NamedNode]
) -> ox.Store:
    """A store with the merge of graphs as its default graph: Oxigraph would repeat triples.

    Raises:
        Refused: the graphs have too many quads.
    """

    def quads() -> Iterator[ox.Quad]:
        for graph in defaults:
            for quad in store.quads_for_pattern(None, None, None, graph):
                yield ox.Quad(quad.subject, quad.predicate, quad.object, ox.DefaultGraph())
        for graph in named:
            yield from store.quads_for_pattern(None, None, None, graph)

    all_of, merged = quads(), ox.Store()
    merged.extend(islice(all_of, MERGED_QUADS))
    if next(all_of, None) is not None:
        raise Refused(
            400,
            f"its graphs have more than {MERGED_QUADS:,} quads, and several graphs are merged for"
            " a query: name one, or use GRAPH",
        )
    return merged


class _Limited:
    """A file whose content goes on in frames.

    Raises:
        Refused: it has too many bytes.
    """

    def __init__(self, write: Callable[[bytes], None], most: int) -> None:
        self._write, self._most, self._left = write, most, most
        self._parts: list[bytes] = []
        self._size = 0

    def write(self, content: bytes) -> int:
        """Take bytes."""
        self._left -= len(content)
        if self._left < 0:
            raise Refused(
                400, f"the result has more than {self._most:,} bytes: use LIMIT, or ask for less"
            )
        self._parts.append(bytes(content))
        self._size += len(content)
        if self._size >= _FRAME:
            self.flush()
        return len(content)

    def flush(self) -> None:
        """Send what was taken."""
        if self._parts:
            self._write(b"".join(self._parts))
        self._parts, self._size = [], 0


def _identity(store: str) -> object:
    """Another one for a store that was made again at the same place."""
    folder = Path(store).parent.stat()
    return store, folder.st_ino, folder.st_ctime_ns


def main() -> None:
    """Answer questions until there are no more."""
    opened: tuple[object, ox.Store] | None = None

    def answer(message: bytes, output: IO[bytes]) -> None:
        nonlocal opened
        question = Question(**json.loads(message))
        limit_seconds(question.seconds)
        end: Mapping[str, object]
        try:
            identity = _identity(question.store)
            if opened is None or opened[0] != identity:
                opened = None
                opened = identity, _store(question.store)
            media = answered(opened[1], question, lambda part: write_frame(output, b"+", part))
            end = {"media": media}
        except Refused as error:
            end = {"status": error.status, "why": str(error)}
        write_frame(output, b".", json.dumps(end).encode())

    serve(answer)


if __name__ == "__main__":
    main()
