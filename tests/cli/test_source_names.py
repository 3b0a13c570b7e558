"""Sources that are declared no longer, and queries with another name, by the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.command_line import Weir

pytestmark = pytest.mark.usefixtures("initialised")


def test_the_command_line_says_what_stays_and_drops_it(weir: Weir) -> None:
    weir("run")
    sources = Path("sources.yml")
    sources.write_text(sources.read_text().replace("museum", "musee"))
    said = "no longer declared, and its 5 quads stay"
    assert said in weir("run").out
    assert said in weir("status").out
    assert said in weir("doctor").out
    dropped = weir("drop", "--source", "museum", "--yes")
    assert (dropped.code, "Retracted 5 quads of museum as epoch 3" in dropped.out) == (0, True)
    again = weir("run", "--output", "json")
    assert (again.code, again.json["errors"], again.json["warnings"]) == (0, [], [])
    assert said not in weir("status").out
    shown = weir("show", "exhibits", "--output", "json").json
    assert [row["weight"] for row in shown] == [1, 1]
    checked = weir("sql", "SELECT DISTINCT success FROM quality", "--output", "json").json
    assert checked == [{"success": True}]


def test_the_command_line_renames_a_query_with_its_history(weir: Weir) -> None:
    weir("run")
    before = weir("log", "exhibits", "--output", "json").json
    renamed = weir("rename", "exhibits", "on_show")
    assert renamed.code == 0
    assert "exhibits goes on as on_show, " in renamed.out
    assert weir("log", "on_show", "--output", "json").json == before
    assert weir("run", "--output", "json").json["queries"] == []
    for options in (("on_show",), ("a", "b", "--source", "museum")):
        refused = weir("rename", *options)
        assert (refused.code, "it renames a query or a source" in refused.err) == (2, True)


def test_the_command_line_renames_a_source_without_a_change_of_answers(weir: Weir) -> None:
    weir("run")
    sources = Path("sources.yml")
    sources.write_text(sources.read_text().replace("museum", "musee"))
    assert weir("rename", "--source", "museum", "musee").code == 0
    run = weir("run", "--output", "json")
    assert (run.code, run.json["queries"], run.json["warnings"]) == (0, [], [])
    states = {
        row["source"]: row["state"] for row in weir("status", "--output", "json").json["sources"]
    }
    assert states == {"musee": "current"}
