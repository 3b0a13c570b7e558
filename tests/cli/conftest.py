"""A project folder with a lake written by hand, and calls of the command line in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.command_line import Weir
from tests.support.projects.handmade import HandMadeLake, empty_lake


@pytest.fixture
def weir(capsys: pytest.CaptureFixture[str]) -> Weir:
    return Weir(capsys)


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HandMadeLake:
    """An empty lake; its project is the current folder."""
    monkeypatch.chdir(tmp_path)
    return empty_lake(tmp_path)
