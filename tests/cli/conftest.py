"""A project folder with a lake written by hand, and calls of the command line in it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jobs.cli import main
from tests.support.projects.handmade import HandMadeLake, empty_lake


@dataclass(frozen=True, slots=True)
class Called:
    """The result of a call: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The document on standard output."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Weir:
    """`weir` in the current folder."""

    capture: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str) -> Called:
        self.capture.readouterr()
        code = main(arguments)
        return Called(code, *self.capture.readouterr())


@pytest.fixture
def weir(capsys: pytest.CaptureFixture[str]) -> Weir:
    return Weir(capsys)


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HandMadeLake:
    """An empty lake; its project is the current folder."""
    monkeypatch.chdir(tmp_path)
    return empty_lake(tmp_path)
