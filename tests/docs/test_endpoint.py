"""The page about the endpoint shows what a server answers."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from setup.steps import VENV
from tests.support.readme import check_example


@pytest.mark.usefixtures("slow")
def test_the_endpoint_answers_what_the_page_shows(tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    at_the_end = tmp_path / "at_the_end.sh"
    at_the_end.write_text("trap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n")
    path = f"{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "BASH_ENV": str(at_the_end)}
    check_example(tmp_path, environment, page="docs/endpoint.md")
