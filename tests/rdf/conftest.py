"""Fixtures of the tests of parsing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from weir.rdf.limits import ParseLimits
from weir.rdf.parse import parse
from weir.rdf.parse_events import Changes, Discarded, Rejections, Unusable
from weir.rdf.records import Header, ParseRequest, Rejection

LIMITS = ParseLimits(parse_seconds=30, parse_memory_mb=500)


@dataclass(frozen=True, slots=True)
class Change:
    """A row of `CHANGES`."""

    line: int
    insert: bool
    graph: str
    subject: str
    predicate: str
    object: str


class Parsed:
    """A file, parsed in this process."""

    def __init__(self, request: ParseRequest, limits: ParseLimits) -> None:
        self.changes: list[Change] = []
        self.rejections: list[Rejection] = []
        self.header = Header()
        self.usable = True
        discarded: set[int] = set()
        for piece in parse(request, limits):
            match piece:
                case Changes(batch):
                    self.changes += [Change(**row) for row in batch.to_pylist()]
                case Rejections(batch):
                    self.rejections += [Rejection(**row) for row in batch.to_pylist()]
                case Discarded(since, until):
                    discarded.update(range(since, until))
                case Unusable(rejection):
                    self.rejections.append(rejection)
                    self.usable = False
                case Header():
                    self.header = piece
        self.changes = [c for n, c in enumerate(self.changes) if n not in discarded]

    @property
    def quads(self) -> list[tuple[str, str, str, str]]:
        """Graph, subject, predicate, object of each change."""
        return [(c.graph, c.subject, c.predicate, c.object) for c in self.changes]

    @property
    def rejected_lines(self) -> list[int]:
        """Line numbers of the rejections."""
        return [rejection.line for rejection in self.rejections]


@pytest.fixture
def parse_text(tmp_path: Path) -> Callable[..., Parsed]:
    """Write `content` to a file, parse it here."""

    def run(content: str | bytes, limits: ParseLimits = LIMITS, **request: Any) -> Parsed:
        file = tmp_path / "input"
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return Parsed(ParseRequest(**{"file": str(file), "scope": "s"} | request), limits)

    return run


def rows(table: pa.Table) -> list[Change]:
    """A table of changes as values."""
    return [Change(**row) for row in table.to_pylist()]
