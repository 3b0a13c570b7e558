"""docs/tutorial.md: every command prints what it shows, and the notebook of the demo draws."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import altair
import pytest

from setup.steps import ROOT, VENV
from tests.support.readme import check_example
from weir.cli import main


@pytest.mark.usefixtures("slow")
def test_the_tutorial_prints_what_it_shows(tmp_path: Path) -> None:
    who = {
        f"GIT_{role}_{key}": "a" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")
    }
    path = f"{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | who | {"PATH": path, "PYTHONPATH": str(ROOT)}
    check_example(tmp_path, environment, page="docs/tutorial.md")


@pytest.mark.usefixtures("slow")
def test_the_notebook_ends_with_a_chart_of_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["init", str(tmp_path / "museum")]) == 0
    monkeypatch.chdir(tmp_path)
    cells = json.loads((ROOT / "demo/answers.ipynb").read_text())["cells"]
    names: dict[str, Any] = {}
    *lines, last = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    try:
        for code in lines:
            exec(code, names)  # noqa: S102  (our own)
        chart = eval(last, names)  # noqa: S307
    finally:
        names["project"].close()
    assert isinstance(chart, altair.Chart)
    assert {*names["rooms"].room} == {"1", "2"}
    assert chart.to_dict()["mark"] == {"type": "bar"}
