"""The examples of docs/checks.md work as they are printed, with the files that it shows."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from setup.steps import ROOT, VENV
from tests.support.readme import check_example

PAGE = "docs/checks.md"


@pytest.mark.usefixtures("slow")
def test_checks_and_tests_print_what_the_page_shows(tmp_path: Path) -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    files = re.findall(r"```(?:yaml|sparql)\n(.*?)```", page, re.DOTALL)
    names = (
        *("museum.yml", "tests.yml", "hot.rq", "hot.yml"),
        *("traversals.yml", "names.rq", "names.yml"),
    )
    for name, text in zip(names, files, strict=True):
        (tmp_path / name).write_text(text)
    path = f"{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}"
    check_example(tmp_path, os.environ | {"PATH": path}, page=PAGE)
