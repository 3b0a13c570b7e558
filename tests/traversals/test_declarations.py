"""The declared traversals: what the documents show can be declared, and mistakes have a place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from weir.errors import ConfigurationError
from weir.sparql.algebra.paths import Closure, Link, Sequence, ZeroOrOne
from weir.traversals.declarations import load_traversals, path_of

PAGE = (Path(__file__).parents[2] / "docs/linked-data.md").read_text(encoding="utf-8")
START = "traversals:\n  - name: nose\n    contact: a@b.example\n"


def declared(folder: Path, text: str) -> Path:
    file = folder / "traversals.yml"
    file.write_text(text, encoding="utf-8")
    return file


def test_no_file_declares_no_traversal(tmp_path: Path) -> None:
    assert load_traversals(tmp_path / "traversals.yml") == {}


@pytest.mark.parametrize("text", re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL))
def test_what_the_page_shows_can_be_declared(text: str, tmp_path: Path) -> None:
    assert load_traversals(declared(tmp_path, text))


def test_a_path_is_one_of_sparql() -> None:
    path = path_of("x:a?/x:b*", {"x": "http://x/"})
    assert path == Sequence(ZeroOrOne(Link("<http://x/a>")), Closure(Link("<http://x/b>"), 0))


@pytest.mark.parametrize(
    ("keys", "line", "what"),
    [
        ("    sedes: []\n", 4, "sedes"),
        ("    seeds: [ftp://a.example/]\n", 4, "http or https"),
        ("    seeds: ['https://u:p@a.example/']\n", 4, "connection"),
        ("    seeds: ['https://a.example/?api_key=1']\n", 4, "connection"),
        ("    seeds: [https://a.example/]\n    follow: ['x:a/']\n", 5, "no property path"),
        ("    seeds: [https://a.example/]\n    follow: ['x:a) } #']\n", 5, "no property path"),
        ("    follow: all\n", 2, "seeds"),
        ("    seeds: {query: q, more: 1}\n", 4, "more"),
        ("    seeds: {query: q}\n    connection: c\n", 2, "declared `seeds`"),
        ("    every: PT0S\n", 4, "every"),
        ("    policy: NONE\n", 4, "NONE"),
        ("    allow: [nothing]\n", 4, "nothing"),
        ("    limits: {documents: 0}\n", 4, "documents"),
        ("    warn_after: P2D\n    error_after: P1D\n", 2, "warn_after"),
        ("    min_fresh: 0.5\n", 2, "warn_after"),
    ],
)
def test_a_mistake_has_its_place(keys: str, line: int, what: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as mistake:
        load_traversals(declared(tmp_path, START + keys))
    assert what in str(mistake.value)
    assert f"traversals.yml:{line}:" in mistake.value.where


def test_two_traversals_of_one_name_are_an_error(tmp_path: Path) -> None:
    twice = START + START.partition("\n")[2]
    with pytest.raises(ConfigurationError, match="two traversals are named nose"):
        load_traversals(declared(tmp_path, twice))
