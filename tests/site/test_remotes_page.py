"""The page of remotes: from the tables to what its template and its charts show."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.replicas.written import REMOTES, RemoteTables, remote_project
from weir.project import open_lake
from weir.refresh.current import current_states
from weir.site.remotes_page import remotes_page


@pytest.fixture
def tables(tmp_path: Path) -> RemoteTables:
    return remote_project(tmp_path)


def page(tables: RemoteTables, now: datetime) -> tuple[dict[str, Any], dict[str, Any]]:
    lake, states = open_lake(tables.settings), current_states(tables.settings, now)
    return remotes_page(tables.settings, lake, states, now)


def test_a_remote_has_its_facts_charts_and_stalest_keys(tables: RemoteTables) -> None:
    tables.refresh({"a": ('"1"',), "b": ('"1"',)}, stale_sampled=0.5)
    tables.refresh({"a": None, "c": ('"1"',)}, state="warn")
    values, data = page(tables, tables.evaluation(2) + timedelta(minutes=1))
    (remote,) = values["remotes"]
    assert remote["state"] == "warn"
    assert remote["facts"]["keys used"] == "2 of 20"
    titles = [data["charts"][chart]["title"]["text"] for chart in remote["charts"]]
    assert titles == [
        "Age over time",
        "Share of the keys that is older (CCDF)",
        "Budget and staleness",
        "Outcomes",
        "Heat map of age",
    ]
    assert len(remote["stalest"]) == 3


def test_a_remote_that_was_never_evaluated_says_so(tables: RemoteTables) -> None:
    values, data = page(tables, tables.evaluation(1))
    assert values["verdict"] == "1 never evaluated"
    assert data == {"charts": {}}


def test_the_headline_hides_no_remote_that_is_not_fresh(tables: RemoteTables) -> None:
    second = REMOTES.partition("\n")[2].replace("wd", "unused")
    (tables.folder / "remotes.yml").write_text(REMOTES.replace("min_fresh: 0.5", "") + second)
    now = tables.evaluation(1) + timedelta(minutes=1)
    until = now + timedelta(minutes=15)
    tables.refresh({"a": None}, not_before=until, not_before_reason="throttled", share_fresh=0.0)
    values, _ = page(tables, now)
    assert values["verdict"] == "1 backing off, 1 unused"
