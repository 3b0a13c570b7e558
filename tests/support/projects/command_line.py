"""The command line called in this process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from jobs.cli import main


@dataclass(frozen=True, slots=True)
class Called:
    """What a call did."""

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
