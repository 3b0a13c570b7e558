"""Explains the SERVICE blocks of a query: what each asks of its remote, by which keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from weir.definitions.services import AskedBlock


def explain_services(blocks: Iterable[AskedBlock]) -> Iterator[str]:
    """The lines about the SERVICE blocks of a query; none if it has none."""
    listed = [*blocks]
    if not listed:
        return
    yield "remotes:"
    for block in listed:
        yield f"  {block.remote}, pattern {block.pattern}:"
        yield f"      block: {{ {block.text} }}"
        if block.key:
            yield f"      key: {_variables(block.key)}, the rows of {block.node}, its partner"
        else:
            yield "      key: none; it is asked for as a whole (its partner shares no variable)"
        for bound in block.bounds:
            yield f"      filter: ?{bound.variable} {bound.comparison} {bound.threshold:g}"
        for condition in block.pushing.pushed:
            yield f"      given to the remote: FILTER({condition})"
        for condition, why in block.pushing.kept:
            yield f"      not given to it: FILTER({condition}): {why}"
        if block.top is not None:
            order = "largest" if block.top.descending else "least"
            yield f"      limit: the {block.top.count} {order} of ?{block.top.variable}"
    yield "      terms are joined as they are written: 1 and 01 are two keys"
    yield ""


def _variables(names: Iterable[str]) -> str:
    return " ".join(f"?{name}" for name in names)
