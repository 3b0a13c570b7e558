"""The stages of a run, and which lakes they open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from jobs.ingest_changes import ingest_changes
from jobs.maintain_queries import maintain_queries
from jobs.publish_answers import publish_answers
from jobs.settings import Settings
from jobs.validate_answers import validate_answers
from lake.lake import Lake

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
    open_lake = Settings.open_lake

    def opening(settings: Settings) -> Lake:
        lakes.append(open_lake(settings))
        return lakes[-1]

    with monkeypatch.context() as patched:
        patched.setattr(Settings, "open_lake", opening)
        yield lakes
