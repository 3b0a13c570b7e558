"""The examples of docs/review.md work as they are printed, with the script that it shows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from setup.steps import ROOT, VENV
from tests.support.readme import check_example

PAGE = "docs/review.md"


@pytest.mark.usefixtures("slow")
def test_the_review_of_a_pull_request_prints_what_it_shows(tmp_path: Path) -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    (tmp_path / "review.sh").write_text(page.partition("```sh\n")[2].partition("```")[0])
    who = {
        f"GIT_{role}_{key}": "a" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")
    }
    path = f"{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}"
    check_example(tmp_path, os.environ | who | {"PATH": path}, page=PAGE)
