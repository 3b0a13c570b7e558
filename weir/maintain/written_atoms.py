"""The atoms that a program writes back as a stream: the triples of each."""

from __future__ import annotations

from sqlglot import exp

from weir.catalog.maintained import Maintained
from weir.catalog.programs import RegisteredProgram
from weir.compute.sql import alias, column, columns, rows_of, select, text, union_all
from weir.engine.graph import POSITIONS
from weir.lars.columns import predicate_term
from weir.lars.program import WrittenAtom
from weir.sparql.algebra.expressions import Constant, Variable
from weir.sparql.algebra.patterns import TriplePattern
from weir.streams.elements import LOG


def written_triples(query: Maintained, embeddings: str) -> exp.Query:
    """The triples of the atoms in a relation of embeddings: `POSITIONS`, `LOG`.

    Two atoms may give one triple: it is there as long as one of them is.

    Args:
        query: a program that writes a stream.
        embeddings: of the program.
    """
    assert isinstance(query, RegisteredProgram), "its kind says so"
    stored = dict(query.columns)
    first, *arguments = (stored[name] for name in query.program.answer_columns)

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

    parts = [rows(each, triple) for each in query.program.written for triple in each.triples]
    return union_all(parts)
