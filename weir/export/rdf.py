"""The published answer of a CONSTRUCT query, or the report of shapes, as Turtle or N-Triples.

Equal states give equal bytes: triples are sorted, and Turtle has the prefixes of the query and of
the project. The template of a CONSTRUCT names no graph, so that there is no TriG and no N-Quads.
Blank nodes keep the labels that they have in the lake, which are those of all epochs and patches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import IO

import pyoxigraph

from weir.answers.prefixes import prefixes_of
from weir.export.formats import Format
from weir.export.triples import published_triples
from weir.project import Project

_BATCH = 10_000


@dataclass(frozen=True, slots=True)
class WrittenState:
    """What was written: the number of triples, and the epoch at which they hold."""

    triples: int
    epoch: int


def write_rdf(
    project: Project,
    query: str,
    output: IO[bytes],
    format_: Format = Format.turtle,
    epoch: int | None = None,
) -> WrittenState:
    """Write the published answer of a CONSTRUCT query, or the report of shapes.

    The memory that is used is that of the connection to DuckDB, `duckdb.memory`.

    Args:
        project: has it.
        query: its name.
        output: a file, opened to write bytes.
        format_: how triples are written.
        epoch: an earlier one than the newest at which it is published.

    Raises:
        QualityError: it is held back, and none was published before.
        ConfigurationError: there is no such query or no such epoch, or it is no CONSTRUCT.
    """
    with published_triples(project, query, or_report=True) as triples:
        at = triples.known_epoch(epoch, "--at", or_report=True)
        is_report = triples.is_report_at(epoch)
        counted = _Counted(triples.report_at(at) if is_report else triples.at(at))
        if format_ is Format.ntriples:
            for text in _texts(counted):
                output.write(text.encode())
        else:
            write_turtle(counted, output, prefixes_of(project.settings, query))
        return WrittenState(counted.number, at)


def write_turtle(lines: Iterable[str], output: IO[bytes], prefixes: Mapping[str, str]) -> None:
    """Write lines of N-Triples as Turtle.

    Args:
        lines: triples whose terms were checked.
        output: a file, opened to write bytes.
        prefixes: IRIs by prefix; those that Turtle does not allow are left out.
    """
    triples = (
        quad.triple
        for text in _texts(lines)
        for quad in pyoxigraph.parse(text, pyoxigraph.RdfFormat.N_TRIPLES, lenient=True)
    )
    usable = dict(_usable(prefixes))
    pyoxigraph.serialize(triples, output, pyoxigraph.RdfFormat.TURTLE, prefixes=usable)


class _Counted:
    """Lines that are counted while they are read."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines, self.number = lines, 0

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.number += 1
            yield line


def _texts(lines: Iterable[str]) -> Iterator[str]:
    """Lines, joined."""
    remaining = iter(lines)
    while some := [*islice(remaining, _BATCH)]:
        yield "\n".join([*some, ""])


def _usable(prefixes: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Those that Turtle allows: the file of a query may have been broken since it was published."""
    for prefix, iri in sorted(prefixes.items()):
        try:
            [*pyoxigraph.parse(f"@prefix {prefix}: <{iri}> .", pyoxigraph.RdfFormat.TURTLE)]
        except SyntaxError:
            continue
        yield prefix, iri
