"""docs/python.md: its lines do what it says, and it names all that there is."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

import weir
from tests.conftest import PROJECT
from weir.cli import main

PAGE = (PROJECT / "docs/python.md").read_text()


def test_the_lines_of_the_page_print_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "museum"]) == 0
    code = PAGE.replace("```", "")
    lines = doctest.DocTestParser().get_doctest(code, {}, "python.md", "docs/python.md", 0)
    printed: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    outcome = runner.run(lines, out=printed.append)
    assert outcome.attempted > 15
    assert not outcome.failed, "".join(printed)


@pytest.mark.parametrize("owner", [weir.Project, weir.Answer])
def test_the_page_names_what_can_be_called(owner: type) -> None:
    public = {name for name in vars(owner) if not name.startswith("_")}
    named = {*re.findall(r"\b(\w+)\b", PAGE)}
    assert public - {"name", "close", "settings"} <= named


def test_the_page_names_what_the_package_offers() -> None:
    assert {*weir.__all__} - {"Answer", "Run"} <= {*re.findall(r"weir\.(\w+)", PAGE)}
