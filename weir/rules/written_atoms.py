"""The atoms that a program writes back as a stream: the triples of each."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from weir.compute.sql import alias, column, columns, rows_of, select, text, union_all
from weir.engine.graph import POSITIONS
from weir.lars.columns import predicate_term
from weir.lars.program import Program, WrittenAtom
from weir.sparql.algebra.expressions import Constant, Variable
from weir.sparql.algebra.patterns import TriplePattern
from weir.timeline.elements import LOG


def written_triples(program: Program, stored: Mapping[str, str], embeddings: str) -> exp.Query:
    """The triples of the atoms in a relation of embeddings: `POSITIONS`, `LOG`.

    Two atoms may give one triple: it is there as long as one of them is.

    Args:
        program: writes a stream.
        stored: by answer column, that of the embedding table.
        embeddings: of the program.
    """
    first, *arguments = (stored[name] for name in program.answer_columns)

    def cell(node: Constant | Variable, written: WrittenAtom) -> exp.Expr:
        if isinstance(node, Constant):
            return text(node.term)
        return column(arguments[written.arguments.index(node.name)])

    def rows(written: WrittenAtom, triple: TriplePattern) -> exp.Query:
        cells = zip(POSITIONS, triple.nodes, strict=True)
        return select(
            *(alias(cell(node, written), name) for name, node in cells),
            *columns(LOG),
            from_=rows_of(embeddings),
            where=[column(first).eq(text(predicate_term(written.predicate)))],
        )

    parts = [rows(atom, triple) for atom in program.written for triple in atom.triples]
    return union_all(parts)
