"""Collects the rows of one block of an RDF Patch, and gives their quads in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyoxigraph import RdfFormat

from weir.rdf.canonical_nquads import Mask, Terms, canonical
from weir.rdf.jena_lines import read_jena_lines
from weir.rdf.limits import ParseLimits
from weir.rdf.lines import Block, overlong_faults
from weir.rdf.statements import Fault, Quads, Statement, read_quads

_ADD = ord("A")


@dataclass(frozen=True, slots=True)
class Bound:
    """A TX, TC or TA, the index of its line, and how many changes of that line precede it."""

    keyword: bytes
    row: int
    before: int


class BlockRows:
    """The rows of a block, collected while it is read.

    The terms of `plain` lines are read by column, `statements` by pyoxigraph; changes of other rows
    are added one by one.
    """

    def __init__(self, block: Block, limits: ParseLimits) -> None:
        self.block = block
        self.inserts: Mask = _letters(block) == _ADD
        self.canonical = canonical(block.lines, prefix="[AD] ")
        self.canonical[list(block.overlong)] = False
        others = np.flatnonzero(~self.canonical)
        self.jena, self._jena_terms = read_jena_lines(
            block.lines, others[~np.isin(others, list(block.overlong))]
        )
        self.plain = self.canonical.copy()
        self.plain[self.jena] = True
        self.statements: list[Statement] = []
        self.faults: list[Fault] = overlong_faults(block, limits)
        self.bounds: list[Bound] = []
        self.cut_off: str | None = None
        self._most_faults = limits.rejected_rows
        self._counted = 0, 1
        self._quads: list[tuple[int, bool, tuple[str, ...]]] = []
        self._line = -1
        self._earlier: set[tuple[str, ...]] = set()
        self._newest: dict[tuple[str, ...], bool] = {}

    def add(self, row: int, inserts: bool, quad: tuple[str, ...]) -> bool:
        """Add a change in the line `row`: graph, subject, predicate, object.

        If a line changes a quad several times, the last change counts.

        Returns:
            False if the change was not added, because a transaction begins or ends in the line
            between two changes of the quad.
        """
        self._go_to(row)
        if quad in self._earlier:
            return False
        self._newest.pop(quad, None)
        self._newest[quad] = inserts
        return True

    def add_bound(self, keyword: bytes, row: int) -> None:
        """Add a TX, TC or TA in the line `row`."""
        self._go_to(row)
        self._keep()
        self.bounds.append(Bound(keyword, row, len(self._earlier)))

    def add_fault(self, offset: int, reason: str) -> int:
        """Add the fault of a row; returns the index of the line with `offset`."""
        lines = self.block.lines
        row = int(np.searchsorted(lines.starts, offset, side="right")) - 1
        # One more than the limit stops the source, so further ones need not be kept.
        if len(self.faults) <= self._most_faults:
            self.faults.append(Fault(row, self._column(row, offset), reason))
        return row

    def _column(self, row: int, offset: int) -> int:
        """The column of an offset, in characters from 1; counts on from the last fault."""
        start, column = self._counted if self._counted[0] <= offset else (0, 1)
        begin = int(self.block.lines.starts[row])
        if start < begin:
            start, column = begin, 1
        column += len(self.block.lines.text[start:offset].decode(errors="replace"))
        self._counted = offset, column
        return column

    def quads(self, limits: ParseLimits) -> tuple[Quads, Mask, list[Fault]]:
        """All quads in the order of their lines, whether each is inserted, and further faults."""
        self._go_to(-1)
        quads, faults = read_quads(
            self.block.lines,
            self.canonical & self.plain,
            len("A "),
            self.statements,
            RdfFormat.N_QUADS,
            limits,
        )
        parts = [(quads, self.inserts[quads.rows])]
        chosen = self.plain[self.jena]
        if chosen.any():
            rows = self.jena[chosen]
            columns = (column.filter(pa.array(chosen)) for column in _columns(self._jena_terms))
            parts.append((Quads(rows, Terms(*columns)), self.inserts[rows]))
        if self._quads:
            numbers, inserts, texts = zip(*self._quads, strict=True)
            columns = (pa.array(column, pa.string()) for column in zip(*texts, strict=True))
            parts.append((Quads(np.array(numbers), Terms(*columns)), np.array(inserts)))
        return *_in_order(parts), faults

    def _go_to(self, row: int) -> None:
        if row != self._line:
            self._keep()
            self._line, self._earlier = row, set()

    def _keep(self) -> None:
        self._quads += ((self._line, inserts, quad) for quad, inserts in self._newest.items())
        self._earlier |= self._newest.keys()
        self._newest = {}


def _columns(terms: Terms) -> tuple[pa.StringArray, ...]:
    return terms.graph, terms.subject, terms.predicate, terms.object


def _in_order(parts: Sequence[tuple[Quads, Mask]]) -> tuple[Quads, Mask]:
    if len(parts) == 1:
        return parts[0]
    rows = np.concatenate([quads.rows for quads, _ in parts])
    order = np.argsort(rows, kind="stable")
    columns = (
        pa.concat_arrays(column).take(pa.array(order))
        for column in zip(*(_columns(quads.terms) for quads, _ in parts), strict=True)
    )
    inserts = np.concatenate([inserts for _, inserts in parts])
    return Quads(rows[order], Terms(*columns)), inserts[order]


def _letters(block: Block) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    # The first byte of every line; an empty line has its line feed.
    return np.frombuffer(block.lines.text, np.uint8)[block.lines.starts]
