"""Histories of a dataset: the changes of each epoch, and the states between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.support.generators.basic_cases import Quad

Change = tuple[frozenset[Quad], frozenset[Quad]]
"""The quads that vanish and those that appear in an epoch."""


def states(history: Sequence[Change]) -> Iterator[frozenset[Quad]]:
    """The dataset after each epoch."""
    present: frozenset[Quad] = frozenset()
    for vanish, appear in history:
        present = (present - vanish) | appear
        yield present
