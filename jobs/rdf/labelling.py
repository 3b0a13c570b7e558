"""Stable labels for the blank nodes in the changes of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from jobs.rdf.blank_nodes import content_labels, scoped_label
from jobs.rdf.parse_events import Changes, ParseEvent, Unusable
from jobs.rdf.records import CHANGES
from jobs.rdf.terms import POSITIONS

_NODES = ("subject", "object")


def label_by_name(events: Iterable[ParseEvent], scope: str) -> Iterator[ParseEvent]:
    """Blank nodes of one label in one scope are one node."""
    for event in events:
        if isinstance(event, Changes):
            yield Changes(_renamed(event.batch, lambda label: scoped_label(scope, label)))
        else:
            yield event


def label_by_content(events: Iterable[ParseEvent], scope: str) -> Iterator[ParseEvent]:
    """Blank nodes of one content in one scope are one node.

    Changes with blank nodes come last: no label is known before the whole document is.
    """
    held: list[pa.RecordBatch] = []
    for event in events:
        if isinstance(event, Changes):
            blank = pc.or_(*(pc.starts_with(event.batch.column(node), "_:") for node in _NODES))
            if pc.any(blank).as_py():
                held.append(event.batch.filter(blank))
                yield Changes(event.batch.filter(pc.invert(blank)))
                continue
        yield event
        if isinstance(event, Unusable):
            return
    if held:
        labels = content_labels(
            (
                quad
                for batch in held
                for quad in zip(*(batch.column(c).to_pylist() for c in POSITIONS), strict=True)
            ),
            scope,
        )
        yield from (Changes(_renamed(batch, labels.__getitem__)) for batch in held)


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
