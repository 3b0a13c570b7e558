"""The stages of a run, and which lakes they open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from weir.ingest.stage import ingest_changes
from weir.lake.lake import Lake
from weir.maintain.stage import maintain_queries
from weir.project import open_lake
from weir.publish.stage import publish_answers
from weir.settings import Settings
from weir.validate.stage import validate_answers

STAGES: Mapping[str, Callable[..., Any]] = {
    "ingest": ingest_changes,
    "maintain": maintain_queries,
    "validate": validate_answers,
    "publish": publish_answers,
}
"""In the order of a run."""


@contextmanager
def opened_lakes(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Lake]]:
    """The lakes that are opened meanwhile; each has counted how often it opened a table."""
    lakes: list[Lake] = []

    def opening(settings: Settings) -> Lake:
        lakes.append(open_lake(settings))
        return lakes[-1]

    with monkeypatch.context() as patched:
        patched.setattr("weir.project.open_lake", opening)
        yield lakes
