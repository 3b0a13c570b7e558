"""Parsers of a test process that take over the child process of the one before.

Starting one takes longer than parsing what a test has; a run of the product starts it once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from weir.rdf.limits import ParseLimits
from weir.rdf.parser_process import ParserProcess, _Child

_IDLE: defaultdict[ParseLimits, list[_Child]] = defaultdict(list)


class ReusedParser(ParserProcess):
    """A parser whose child process stays for the next parser with the same limits.

    A child that died, or was not heard to the end, is closed by `parse` already.
    """

    def __init__(self, limits: ParseLimits, store: Mapping[str, str] | None = None) -> None:
        super().__init__(limits, store)
        if _IDLE[limits]:
            self._child = _IDLE[limits].pop()

    def __exit__(self, *error: object) -> None:
        if self._child is not None:
            _IDLE[self._limits].append(self._child)
            self._child = None


def close_idle() -> None:
    """End all children that wait."""
    for children in _IDLE.values():
        while children:
            children.pop().close()
