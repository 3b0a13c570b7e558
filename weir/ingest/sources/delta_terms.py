"""The terms of a table's rows: checked, and spelled as Weir's tables spell them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from weir.ingest.file_rows import SCHEMA, record_batch
from weir.ingest.netting import QUAD
from weir.rdf.blank_nodes import scoped_label
from weir.rdf.parse_events import cut
from weir.rdf.terms import POSITIONS, TermError, canonical_term

Batches = Iterable[pa.RecordBatch]
UNCHECKED = ("ordinal", "line", "insert", *QUAD, "time")


def respelling(default_graph: str) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """The function that gives quads their one spelling; rows that are no quads stay as they are."""

    def respelled(row: dict[str, Any]) -> dict[str, Any]:
        try:
            return row | _canonical(row, default_graph)
        except TermError:
            return row

    def respell(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = [respelled(row) for row in batch.to_pylist()]
            yield pa.RecordBatch.from_pylist(rows, schema=batch.schema)

    return respell


def checking(
    scope: str, default_graph: str, document: int, raw_bytes: int
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """The function that turns rows of `UNCHECKED` into changes and rejections.

    Args:
        scope: within which a blank node's label means one node.
        default_graph: of quads that name none.
        document: the number of the table's content.
        raw_bytes: how much of a rejected row is recorded.
    """

    def check(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            good: list[dict[str, object]] = []
            bad: list[dict[str, object]] = []
            for row in batch.to_pylist():
                try:
                    good.append(row | _scoped(_canonical(row, default_graph), scope))
                except TermError as error:
                    raw = " ".join(row[name] for name in QUAD[1:] + QUAD[:1])
                    shown = cut(raw.encode(), raw_bytes)
                    bad.append({"ordinal": row["ordinal"], "reason": str(error), "raw": shown})
            yield _rows("change", good, UNCHECKED, document=document)
            yield _rows("rejection", bad, ("ordinal", "reason", "raw"), file="", line=0, column=0)

    return check


def _canonical(row: dict[str, str], default_graph: str) -> dict[str, str]:
    terms: dict[str, str] = {}
    for position in POSITIONS:
        try:
            terms[position] = canonical_term(row[position], position)
        except TermError as error:
            raise TermError(f"{position}: {error}") from None
    return terms | {"graph": terms["graph"] or default_graph}


def _scoped(terms: dict[str, str], scope: str) -> dict[str, str]:
    """The quad with the labels that its blank nodes have in the tables."""
    return {
        position: scoped_label(scope, term) if term.startswith("_:") else term
        for position, term in terms.items()
    }


def _rows(
    part: str, rows: list[dict[str, object]], columns: Sequence[str], **same: object
) -> pa.RecordBatch:
    arrays = {
        name: pa.array([row[name] for row in rows], SCHEMA.field(name).type) for name in columns
    }
    return record_batch(part, len(rows), **arrays, **same)
