"""Results of files from the driver and from Spark are the same."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from weir.ingest.file_rows import SCHEMA
from weir.ingest.rows import _result


@pytest.fixture
def far_from_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine whose local time is not UTC."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize("zone", [UTC, None], ids=["as Arrow has it", "as Spark collects it"])
def test_the_time_of_a_change_set_is_the_same_wherever_it_was_parsed(
    far_from_utc: None, zone: object
) -> None:
    del far_from_utc
    at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    # Spark returns local times without a time zone.
    given = at if zone else at.astimezone().replace(tzinfo=None)
    row = dict.fromkeys(SCHEMA.names) | {"event_time": given}
    assert _result(row).header.event_time == at
    assert (given == at) is bool(zone)
