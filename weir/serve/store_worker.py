"""The child process that changes a store of the mirror: it takes quads away and adds others.

Messages are `o` and the folder, which has the store `graph` and the store `spellings`; `-` or `+`
and lines of N-Quads that vanish or appear; `c`, which closes. Each is answered by an empty frame.

Oxigraph keeps numbers, truth values and times by their values: `"01"^^xsd:integer` becomes
`"1"^^xsd:integer`. Two quads of the lake that differ in spelling only are then one quad, which goes
when the last of them does. The store `spellings` has the quads with another spelling than
Oxigraph's, and those that equal one of them, as plain texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import IO

import pyoxigraph as ox

from weir.sandbox.frames import write_frame
from weir.sandbox.serving import serve

_TYPED = b'"^^<http://www.w3.org/2001/XMLSchema#'
_INTEGER = re.compile(
    rb'"(?:0|-?[1-9][0-9]{0,17})"\^\^<http://www.w3.org/2001/XMLSchema#integer>(?: <[^<>]*>)? \.\Z'
)
"""How a line ends whose object is spelled as Oxigraph spells it, as most are."""
_Pair = tuple[ox.Quad, ox.Quad]
"""A quad as it is written, and as Oxigraph has it."""


class StoreWriter:
    """Changes the stores in a folder, which are created if they are missing.

    Args:
        folder: of the stores.
    """

    def __init__(self, folder: Path) -> None:
        self._graph = ox.Store(folder / "graph")
        self._spellings = ox.Store(folder / "spellings")

    def remove(self, lines: bytes) -> None:
        """Take quads away; graphs that have no quad any more are gone, too."""
        plain, spelled = self._parted(lines)
        graphs = dict.fromkeys(
            quad.graph_name for quad in self._without_spellings(plain, self._remove_spelling)
        )
        for exact, own in spelled:
            self._remove_spelling(exact, own)
            graphs[own.graph_name] = None
        for graph in graphs:
            is_empty = next(self._graph.quads_for_pattern(None, None, None, graph), None) is None
            if is_empty and not isinstance(graph, ox.DefaultGraph):
                self._graph.remove_graph(graph)

    def add(self, lines: bytes) -> None:
        """Add quads."""
        plain, spelled = self._parted(lines)
        with_spellings: list[_Pair] = []
        if self._has_spellings:
            typed = [quad for quad in plain if _is_typed(quad)]
            with_spellings = [(quad, quad) for quad in typed if self._known(quad)]
        if len(plain) > 10_000:
            self._graph.bulk_extend(plain)
        else:
            self._graph.extend(plain)
        for exact, own in (*with_spellings, *spelled):
            self._add_spelling(exact, own)

    def close(self) -> None:
        """Write all to the disk."""
        for store in (self._graph, self._spellings):
            store.flush()
        del self._graph, self._spellings

    @property
    def _has_spellings(self) -> bool:
        return next(self._spellings.quads_for_pattern(None, None, None), None) is not None

    def _parted(self, lines: bytes) -> tuple[list[ox.Quad], list[_Pair]]:
        """The quads that are written as Oxigraph has them, and the others."""
        doubtful = [
            line for line in lines.splitlines() if _TYPED in line and not _INTEGER.search(line)
        ]
        quads = [*_parsed(lines)]
        if not doubtful:
            return quads, []
        written = [*_parsed(b"\n".join(doubtful))]
        pairs = [pair for pair in zip(written, _own(written), strict=True) if pair[0] != pair[1]]
        differing = {exact for exact, _ in pairs}
        return [quad for quad in quads if quad not in differing], pairs

    def _without_spellings(
        self, quads: Iterable[ox.Quad], otherwise: Callable[[ox.Quad, ox.Quad], None]
    ) -> Iterator[ox.Quad]:
        """Remove quads, and give them; those with other spellings are left to `otherwise`."""
        has_spellings = self._has_spellings
        for quad in quads:
            if has_spellings and _is_typed(quad):
                otherwise(quad, quad)
            else:
                self._graph.remove(quad)
            yield quad

    def _known(self, own: ox.Quad) -> Sequence[ox.Quad]:
        """The spellings of a quad that hold; none if there is no other than Oxigraph's."""
        key = _spelling(own, own)
        return [*self._spellings.quads_for_pattern(None, None, None, key.graph_name)]

    def _add_spelling(self, exact: ox.Quad, own: ox.Quad) -> None:
        if not self._known(own) and own in self._graph:
            self._spellings.add(_spelling(own, own))
        self._spellings.add(_spelling(exact, own))
        self._graph.add(own)

    def _remove_spelling(self, exact: ox.Quad, own: ox.Quad) -> None:
        gone = _spelling(exact, own)
        left = [quad for quad in self._known(own) if quad != gone]
        self._spellings.remove(gone)
        if not left:
            self._graph.remove(own)


def _parsed(lines: bytes) -> Iterator[ox.Quad]:
    # The terms were checked when they were ingested.
    return ox.parse(lines, ox.RdfFormat.N_QUADS, lenient=True)


def _is_typed(quad: ox.Quad) -> bool:
    return isinstance(quad.object, ox.Literal) and "XMLSchema#" in quad.object.datatype.value


def _own(quads: Sequence[ox.Quad]) -> Iterator[ox.Quad]:
    """The quads as Oxigraph has them."""
    number = ox.NamedNode("urn:number")
    store = ox.Store()
    store.extend(
        ox.Quad(ox.NamedNode(f"urn:{i}"), number, quad.object) for i, quad in enumerate(quads)
    )
    by_number = {quad.subject.value: quad.object for quad in store}
    for i, quad in enumerate(quads):
        own = by_number[f"urn:{i}"]
        yield ox.Quad(quad.subject, quad.predicate, own, quad.graph_name)


def _spelling(exact: ox.Quad, own: ox.Quad) -> ox.Quad:
    """How a spelling is stored: in a graph of all spellings of a quad."""
    name = blake2b(str(own).encode(), digest_size=16).hexdigest()
    graph = ox.NamedNode(f"urn:spellings:{name}")
    return ox.Quad(graph, graph, ox.Literal(str(exact.object)), graph)


def main() -> None:
    """Answer messages until there are no more."""
    writer: StoreWriter | None = None

    def answer(message: bytes, output: IO[bytes]) -> None:
        nonlocal writer
        kind, content = message[:1], message[1:]
        if kind == b"o":
            writer = StoreWriter(Path(content.decode()))
        assert writer is not None, "the folder comes first"
        if kind == b"-":
            writer.remove(content)
        elif kind == b"+":
            writer.add(content)
        elif kind == b"c":
            writer.close()
        write_frame(output)

    serve(answer)


if __name__ == "__main__":
    main()
