"""The examples of docs/export.md work as they are printed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from setup.steps import VENV
from tests.support.readme import check_example


@pytest.mark.usefixtures("slow")
def test_the_exports_of_the_page_are_as_it_shows(tmp_path: Path) -> None:
    path = f"{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}"
    check_example(tmp_path, os.environ | {"PATH": path}, page="docs/export.md")
