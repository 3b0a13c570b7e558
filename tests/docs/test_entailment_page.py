"""The example of docs/entailment.md works as it is printed, with the files that it shows."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from setup.steps import ROOT, VENV
from tests.support.readme import check_example

PAGE = "docs/entailment.md"
_FILES = {
    "turtle": ("plant.ttl",),
    "sparql": ("assets.rq", "links.rq", "connected.rq", "equipment.rq"),
    "prolog": ("reach.lars",),
}
"""The files that the page shows, by language and in order."""


@pytest.mark.usefixtures("slow")
def test_what_follows_is_printed_as_the_page_shows(tmp_path: Path) -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    for language, names in _FILES.items():
        texts = re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)
        for name, text in zip(names, texts, strict=True):
            (tmp_path / name).write_text(text)
    path = f"{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}"
    check_example(tmp_path, os.environ | {"PATH": path}, page=PAGE)
