"""Whether the tests of a mutant fail in a copy of the tree that has it."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.mutants.mutant import Mutant
from tests.support.laws import FIRST_SEED, FRACTION

PROJECT = Path(__file__).parents[2]
TIMEOUT = 900
"""Seconds; a mutant may keep a fixpoint from ending."""
COPIED = ("weir", "lake", "expectations", "jobs", "tests", "docs")
_LIBRARIES = (
    "pytest",
    "deltalake",
    "duckdb",
    "great_expectations",
    "pyarrow.dataset",
    "pydantic_settings",
    "pyoxigraph",
    "pyspark.sql",
    "rdflib",
    "sqlglot",
    "typer",
)
"""What the tests import of others; none of them starts a thread."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutant: the first test that failed, and after how many seconds."""

    name: str
    failure: str | None
    seconds: float

    def __str__(self) -> str:
        word = "survived" if self.failure is None else "killed"
        return f"{word:9}{self.seconds:5.0f} s  {self.name:70}{self.failure or ''}"


def verdict(mutant: Mutant, lane: str | None) -> Verdict:
    """Run the tests of a mutant in a tree that has it."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        for name in COPIED:
            shutil.copytree(PROJECT / name, tree / name, symlinks=True)
        file = tree / mutant.path
        file.write_text(mutant.apply(file.read_text()))
        failure = first_failure(tree, mutant.tests, lane)
    return Verdict(mutant.name, failure, time.monotonic() - start)


def first_failure(tree: Path, files: Sequence[str], lane: str | None) -> str | None:
    """The first test of some files that fails in a tree; None if all pass.

    They run in a fork of this process, which has imported the libraries, and nothing of ours.

    Raises:
        RuntimeError: they could not be run.
    """
    for library in _LIBRARIES:
        import_module(library)
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.environ["WEIR_SHARED"] = str(_shared())
            os.environ.setdefault(FIRST_SEED, "0")
            if lane is None:
                os.environ[FRACTION] = "1"
            os.chdir(tree)
            for name in [*sys.modules]:
                if name.partition(".")[0] in COPIED:
                    del sys.modules[name]
            sys.path.insert(0, str(tree))
            signal.alarm(TIMEOUT)
            os.write(writer, (_failed_test(files, lane) or "").encode())
            os._exit(0)
        finally:
            # What was raised must not go on as if this was the first process.
            traceback.print_exc()
            os._exit(1)
    os.close(writer)
    with open(reader, encoding="utf-8") as pipe:  # noqa: PTH123 - a descriptor
        failure = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return f"ended by {signal.Signals(os.WTERMSIG(status)).name}"
    if status:
        raise RuntimeError(f"the tests of {tree} could not be run")
    return failure or None


@dataclass(slots=True, eq=False)
class _Failed:
    """A plugin of pytest: the name of the first test that failed."""

    name: str = ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.name = self.name or report.nodeid.rpartition("::")[2]


def _failed_test(files: Sequence[str], lane: str | None) -> str | None:
    import pytest

    failed = _Failed()
    # The copy may be below a folder with a configuration of pytest.
    options = ["-q", "-x", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", "."]
    # Files of several folders have one name.
    options += ["--import-mode=importlib", "-m", "not spark"]
    options += ["--lane", lane] if lane else []
    if pytest.main([*options, *files], plugins=[failed]):
        return failed.name or "the tests cannot run"
    return None


def _shared() -> Path:
    return Path(os.environ.get("WEIR_SHARED", PROJECT.parent / "shared")).absolute()
