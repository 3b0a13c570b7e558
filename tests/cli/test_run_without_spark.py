"""A run over few changes starts no JVM, and parses no query twice."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.support.projects.command_line import Weir
from weir.definitions import catalog

pytestmark = pytest.mark.usefixtures("initialised")

FIRST, SECOND = Path("data/versions/001.ttl"), Path("data/versions/002.ttl")


def test_new_versions_are_answered_checked_and_published_without_spark(weir: Weir) -> None:
    first = weir("run", "--output", "json")
    assert (first.code, first.json["errors"]) == (0, [])
    SECOND.write_text(FIRST.read_text().replace('vase"@en ; :room "1"', 'vase"@en ; :room "2"'))
    second = weir("run", "--output", "json")
    assert (second.code, second.json["errors"]) == (0, [])
    assert [(q["mode"], q["rows"]) for q in second.json["queries"]] == [("incremental", 2)]
    checked = weir("sql", "SELECT DISTINCT success FROM quality", "--output", "json").json
    assert checked == [{"success": True}]


def test_a_run_that_finds_nothing_new_needs_no_spark(weir: Weir) -> None:
    weir("run")
    again = weir("run", "--output", "json")
    assert again.code == 0
    assert [stage["stage"] for stage in again.json["stages"]] == ["ingest"]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often queries are parsed and lowered, from an empty cache of the process."""
    counts: Counter[str] = Counter()
    for name in ("weir.sparql.frontend.translate.translate", "weir.plan.lower.lower"):
        _count(monkeypatch, name, counts)
    catalog._compiled.cache_clear()
    return counts


def _count(monkeypatch: pytest.MonkeyPatch, name: str, counts: Counter[str]) -> None:
    module, _, function = name.rpartition(".")
    called = getattr(import_module(module), function)

    def counting(*arguments: Any, **options: Any) -> Any:
        counts[function] += 1
        return called(*arguments, **options)

    monkeypatch.setattr(name, counting)


def test_a_whole_run_parses_and_lowers_each_query_once(weir: Weir, counted: Counter[str]) -> None:
    Path("queries/titles.rq").write_text("SELECT ?t { ?x <http://example.org/title> ?t }")
    assert weir("run").code == 0
    assert counted == {"translate": 2, "lower": 2}
    weir("status")
    weir("explain", "titles")
    assert counted == {"translate": 2, "lower": 2}


def test_the_next_process_parses_only_what_was_edited(weir: Weir, counted: Counter[str]) -> None:
    Path("queries/titles.rq").write_text("SELECT ?t { ?x <http://example.org/title> ?t }")
    weir("run")
    counted.clear()
    # As in a new process, which has only the folder of compiled queries.
    catalog._compiled.cache_clear()
    SECOND.write_text(FIRST.read_text().replace('vase"@en ; :room "1"', 'vase"@en ; :room "2"'))
    assert weir("run").code == 0
    assert counted == {}
    catalog._compiled.cache_clear()
    Path("queries/titles.rq").write_text("SELECT DISTINCT ?t { ?x <http://example.org/title> ?t }")
    assert weir("run").code == 0
    assert counted == {"translate": 1, "lower": 1}
