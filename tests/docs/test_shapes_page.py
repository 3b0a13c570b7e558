"""The example of docs/shapes.md works as it is printed, with the shapes that it shows."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from setup.steps import ROOT, VENV
from tests.support.readme import check_example

PAGE = "docs/shapes.md"


@pytest.mark.usefixtures("slow")
def test_a_broken_delivery_is_stopped_as_the_page_shows(tmp_path: Path) -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    (shapes,) = re.findall(r"```turtle\n(.*?)```", page, re.DOTALL)
    (tmp_path / "rooms.ttl").write_text(shapes)
    path = f"{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}"
    check_example(tmp_path, os.environ | {"PATH": path}, page=PAGE)
