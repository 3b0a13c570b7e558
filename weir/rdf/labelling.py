"""Stable labels for the blank nodes in the changes of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from weir.rdf.blank_nodes import Quad, content_labels, scoped_label
from weir.rdf.counted_labels import counted_labels
from weir.rdf.parse_events import Changes, ParseEvent, Unusable
from weir.rdf.records import CHANGES, BlankNodes
from weir.rdf.terms import POSITIONS

_NODES = ("graph", "subject", "object")


def label_by_name(events: Iterable[ParseEvent], scope: str) -> Iterator[ParseEvent]:
    """Replace labels of blank nodes so that equal labels in one scope are one node."""
    for event in events:
        if isinstance(event, Changes):
            yield Changes(_renamed(event.batch, lambda label: scoped_label(scope, label)))
        else:
            yield event


def label_by_content(
    events: Iterable[ParseEvent], scope: str, blank_nodes: BlankNodes
) -> Iterator[ParseEvent]:
    """Replace labels of blank nodes by labels that are the same in every version of a document.

    Changes with blank nodes come last, because labels depend on the whole document.

    Args:
        events: of the document.
        scope: equal nodes of different scopes get different labels.
        blank_nodes: whether nodes of equal content are different nodes (`count`) or one (`merge`).
    """
    held: list[pa.RecordBatch] = []
    for event in events:
        if isinstance(event, Changes):
            blank = reduce(pc.or_, (pc.starts_with(event.batch[n], "_:") for n in _NODES))
            if pc.any(blank).as_py():
                held.append(event.batch.filter(blank))
                yield Changes(event.batch.filter(pc.invert(blank)))
                continue
        yield event
        if isinstance(event, Unusable):
            return
    if held:
        quads = (
            quad
            for batch in held
            for quad in zip(*(batch[position].to_pylist() for position in POSITIONS), strict=True)
        )
        labels = counted_labels(quads, scope) if blank_nodes == "count" else _merged(quads, scope)
        yield from (Changes(_renamed(batch, labels.__getitem__)) for batch in held)


def _merged(quads: Iterable[Quad], scope: str) -> dict[str, str]:
    """One label for all nodes of equal content, except for nodes that name graphs."""
    known = [*quads]
    graphs = {graph for graph, *_ in known if graph.startswith("_:")}
    masked = (("_:" if g in graphs else g, s, p, o) for g, s, p, o in known)
    merged = content_labels(masked, scope)
    if graphs:
        counted = counted_labels(known, scope)
        merged |= {graph: counted[graph] for graph in graphs}
    return merged


def _renamed(batch: pa.RecordBatch, label: Callable[[str], str]) -> pa.RecordBatch:
    columns = {name: batch.column(name) for name in CHANGES.names}
    for node in _NODES:
        terms = columns[node]
        blank = pc.starts_with(terms, "_:")
        if pc.any(blank).as_py():
            old = terms.filter(blank)
            distinct = old.unique()
            new = pa.array([label(text.as_py()) for text in distinct], pa.string())
            columns[node] = pc.replace_with_mask(
                terms, blank, new.take(pc.index_in(old, value_set=distinct))
            )
    return pa.RecordBatch.from_arrays(list(columns.values()), schema=CHANGES)
