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
    """Blank nodes of one label in one scope are one node."""
    for event in events:
        if isinstance(event, Changes):
            yield Changes(_renamed(event.batch, lambda label: scoped_label(scope, label)))
        else:
            yield event


def label_by_content(
    events: Iterable[ParseEvent], scope: str, blank_nodes: BlankNodes
) -> Iterator[ParseEvent]:
    """Blank nodes have the labels that they have in every version of the document.

    Changes with blank nodes come last: no label is known before the whole document is.

    Args:
        events: of the document.
        scope: within which a blank node is one node.
        blank_nodes: whether each is a node of its own, or those of equal content one.
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
    """One label for the nodes of equal content, but for those that name graphs."""
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
