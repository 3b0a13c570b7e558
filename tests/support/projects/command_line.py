"""The command line called in this process."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from weir.cli import main

_PROGRESS = re.compile(r"\w+ \.\.\.$|\w+: still at work, ")


@dataclass(frozen=True, slots=True)
class Called:
    """What a call did; `err` is the standard error without `progress`."""

    code: int
    out: str
    err: str
    progress: tuple[str, ...] = ()

    @property
    def json(self) -> Any:
        """The document on standard output."""
        return json.loads(self.out)


def files(folder: str) -> dict[str, str]:
    """The files of a folder with the hashes of their content."""
    return {
        str(file): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(Path(folder).rglob("*"))
        if file.is_file()
    }


@dataclass(frozen=True, slots=True)
class Weir:
    """`weir` in the current folder."""

    capture: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str) -> Called:
        self.capture.readouterr()
        code = main(arguments)
        out, err = self.capture.readouterr()
        lines = err.splitlines(keepends=True)
        progress = [line for line in lines if _PROGRESS.match(line)]
        others = "".join(line for line in lines if line not in progress)
        return Called(code, out, others, tuple(map(str.strip, progress)))
