"""Reads folders of RDF Patch without Weir: rows by their first letter, terms by pyoxigraph."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pyoxigraph import RdfFormat, Triple, parse

_SUBJECT, _OBJECT = re.compile(r"^<(_:[^<>]*)>"), re.compile(r"<(_:[^<>]*)> \.$")
Graph = frozenset[Triple]


def triples_of(lines: Sequence[str]) -> Graph:
    """The triples of lines of N-Triples."""
    return frozenset(quad.triple for quad in parse("\n".join(lines), RdfFormat.N_TRIPLES))


def changes_in(file: Path) -> Iterator[tuple[str, Triple]]:
    """The rows A and D of a patch, which has one transaction."""
    head, begin, rows = file.read_text().partition("TX .\n")
    assert begin, head
    *changes, end = rows.removesuffix("\n").split("\n")
    assert (end, rows[-1]) == ("TC .", "\n")
    for row in changes:
        line = _OBJECT.sub(r"\1 .", _SUBJECT.sub(r"\1", row[2:]))
        (triple,) = triples_of([line])
        yield row[:2], triple


def replayed(folder: Path) -> dict[int, Graph]:
    """By epoch with a file, the graph after its patches, from empty on.

    Each patch must follow from the one before, and change something.
    """
    graph: set[Triple] = set()
    states = {}
    for file in sorted(folder.glob("*.rdfp")):
        changes = [*changes_in(file)]
        assert changes, file
        for code, triple in changes:
            assert (code, triple in graph) in {("A ", False), ("D ", True)}, (file, code, triple)
            (graph.add if code == "A " else graph.discard)(triple)
        states[int(file.name[:12])] = frozenset(graph)
    return states


def at(states: dict[int, Graph], epoch: int) -> Graph:
    """The graph at an epoch."""
    return states[max(known)] if (known := [e for e in states if e <= epoch]) else frozenset()
