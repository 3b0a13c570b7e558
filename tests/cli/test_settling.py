"""A source whose file has not settled waits; once it has settled, the next run ingests it."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.projects.command_line import Weir
from weir.errors import EXIT_QUALITY

FILES = Path("data/versions")
SETTLE = 600


@pytest.fixture(autouse=True)
def project(museum: None) -> None:
    """The project of `weir init`, whose file shall settle."""
    del museum
    declared = Path("sources.yml")
    declared.write_text(
        declared.read_text().replace("kind: snapshots", f"kind: snapshots\n    settle: {SETTLE}")
    )
    written("001.ttl", seconds_ago=1)


def written(name: str, *, seconds_ago: float) -> datetime:
    """Make it the time at which a file was written."""
    at = time.time() - seconds_ago
    os.utime(FILES / name, (at, at))
    return datetime.fromtimestamp(at, UTC)


def source(weir: Weir) -> Any:
    (only,) = weir("status", "--output", "json").json["sources"]
    return only


def test_a_waiting_source_says_when_its_file_was_written(weir: Weir) -> None:
    at = written("001.ttl", seconds_ago=60)
    settling = source(weir)
    assert (settling["state"], settling["pending"]) == ("waiting", 0)
    expected = f"001.ttl was written at {at:%Y-%m-%d %H:%M:%S} UTC (settle: {SETTLE})"
    assert settling["reason"].endswith(expected)


def test_a_source_whose_file_has_settled_is_behind(weir: Weir) -> None:
    weir("ingest")
    written("001.ttl", seconds_ago=SETTLE + 1)
    settled = source(weir)
    assert (settled["state"], settled["pending"]) == ("behind", 1)
    assert (settled["reason"], settled["since"]) == (None, None)


def test_a_source_whose_file_has_settled_is_a_fault(weir: Weir) -> None:
    weir("ingest")
    written("001.ttl", seconds_ago=SETTLE + 1)
    called = weir("status", "--fail-on", "behind")
    assert called.code == EXIT_QUALITY
    assert "behind museum: the next run ingests more" in " ".join(called.err.split())


def test_a_source_waits_since_a_run_first_found_its_file(weir: Weir) -> None:
    weir("ingest")
    since = source(weir)["since"]
    written("001.ttl", seconds_ago=30)
    weir("ingest")
    assert since is not None
    assert source(weir)["since"] == since


def test_the_wait_of_a_file_that_no_run_has_found_has_no_beginning(weir: Weir) -> None:
    weir("ingest")
    (FILES / "001.ttl").rename(FILES / "002.ttl")
    settling = source(weir)
    assert (settling["state"], settling["since"]) == ("waiting", None)


def test_a_source_is_behind_if_a_version_has_settled_and_the_next_one_has_not(weir: Weir) -> None:
    (FILES / "002.ttl").write_text((FILES / "001.ttl").read_text())
    written("001.ttl", seconds_ago=SETTLE + 1)
    assert (source(weir)["state"], source(weir)["pending"]) == ("behind", 1)
    assert weir("ingest").code == 0
    assert (source(weir)["state"], source(weir)["pending"]) == ("waiting", 0)
