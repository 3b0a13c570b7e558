"""remotes.yml: its keys, and the place of every mistake."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from weir.errors import ConfigurationError
from weir.remotes.declarations import Remote, load_remotes
from weir.remotes.names import declared_remotes
from weir.remotes.policies.policies import Aggregated, Alone, Lru

GOOD = """remotes:
  - name: wd
    iri: https://wd.example.org/sparql
    connection: wd_http
    every: PT1M
    budget: {keys: 30, requests: 3, bytes: 500kB, seconds: 10}
    policy: {name: LRU.F+, alpha: 0.3}
    warn_after: 10m
    error_after: PT1H
    min_fresh: 0.9
    contact: graph@example.org
  - name: local
    iri: http://localhost:3030/ds
    policy: LRU
    contact: graph@example.org
    allow: [127.0.0.1/32]
    ports: [3030]
"""


def load(tmp_path: Path, text: str) -> dict[str, Remote]:
    file = tmp_path / "remotes.yml"
    file.write_text(text)
    return {remote.name: remote for remote in load_remotes(file).values()}


def test_remotes_are_read_with_their_budget_and_policy(tmp_path: Path) -> None:
    remotes = load(tmp_path, GOOD)
    wd, local = remotes["wd"], remotes["local"]
    assert (wd.term, wd.budget.bytes) == ("<https://wd.example.org/sparql>", 500_000)
    assert isinstance(wd.rule.rule, Aggregated)
    assert local.rule.rule == Alone(Lru())
    assert (local.budget.keys, local.every) == (50, "PT10M")


def test_without_a_file_there_are_no_remotes(tmp_path: Path) -> None:
    assert not load_remotes(tmp_path / "remotes.yml")


@pytest.mark.parametrize("text", ["", "# None yet.\n"], ids=["empty", "comment"])
def test_in_a_file_without_content_there_are_no_remotes(tmp_path: Path, text: str) -> None:
    (tmp_path / "remotes.yml").write_text(text)
    assert (load_remotes(tmp_path / "remotes.yml"), declared_remotes(tmp_path / "remotes.yml")) == (
        {},
        (),
    )


@pytest.mark.parametrize(
    ("written", "size"), [("20 MB", 20_000_000), ("20KB", 20_000), ("20000B", 20_000)]
)
def test_a_size_is_written_with_its_unit(tmp_path: Path, written: str, size: int) -> None:
    remotes = load(tmp_path, GOOD.replace("500kB", written))
    assert remotes["wd"].budget.bytes == size


@pytest.mark.parametrize(
    ("right", "wrong", "place", "message"),
    [
        ("keys: 30", "key: 30", "6:14", "budget.key: unknown key"),
        ("keys: 30", "keys: 0", "6:14", "budget.keys: it must be at least 1"),
        ("bytes: 500kB", "bytes: 1 XB", "6:37", "not a size"),
        ("    connection: wd_http", "    password: secret", "4:5", "password: unknown key"),
        ("https://wd.example.org", "https://me:pw@wd.example.org", "3:5", "name a `connection`"),
        ("org/sparql", "org/sparql?api_key=1", "3:5", "name a `connection`"),
        ("https://wd.example.org", "ftp://wd.example.org", "3:5", "not an http or https IRI"),
        ("every: PT1M", "every: P1M", "5:5", "no fixed length"),
        ("name: LRU.F+", "name: LRU.G", "7:5", "is not a policy"),
        ("alpha: 0.3", "alpha: 3", "7:28", "alpha is 3"),
        ("error_after: PT1H", "error_after: PT1M", "2:5", "later than `error_after`"),
        ("    warn_after: 10m\n", "", "2:5", "needs `warn_after`"),
        ("name: local", "name: wd", "12:5", "two remotes are named wd"),
        ("http://localhost:3030/ds", "https://wd.example.org/sparql", "13:5", "two remotes are"),
        ("127.0.0.1/32", "localhost", "16:5", "not appear to be an IPv4 or IPv6 network"),
        ("remotes:", "remote:", "1:1", "remote: unknown key"),
        ("ports: [3030]", "ports: [3030", "18:1", "not YAML"),
    ],
)
def test_a_mistake_is_reported_with_its_place(
    tmp_path: Path, right: str, wrong: str, place: str, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(message)) as caught:
        load(tmp_path, GOOD.replace(right, wrong, 1))
    assert caught.value.where == f"{tmp_path / 'remotes.yml'}:{place}"
