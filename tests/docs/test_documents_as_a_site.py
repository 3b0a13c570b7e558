"""`make docs`: the documents are a site whose links lead somewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from setup.steps import ROOT

pytestmark = pytest.mark.usefixtures("slow")


def test_all_links_and_anchors_of_the_documents_lead_somewhere(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    warnings = [line for line in done.stderr.splitlines() if line.startswith("WARNING")]
    assert warnings == []
    assert done.returncode == 0, done.stderr
    pages = {file.name for file in tmp_path.glob("*.html")}
    documents = {f"{file.stem}.html" for file in (ROOT / "docs").glob("*.md")}
    assert documents <= pages
    assert "Weir keeps the answers" in (tmp_path / "index.html").read_text()
