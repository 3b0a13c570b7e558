"""Runs mutants and reports which of them the tests kill.

    python -m tests.mutants                     all
    python -m tests.mutants distinct            those whose name contains a word
    python -m tests.mutants --of streams        those of an area (`tests/mutants/areas.py`)
    python -m tests.mutants --of rules --lane test --most 3
                                                by the tests of `make test` alone, three at random

Each mutant is applied to a copy of the tree, in which the tests of its area run until the first
failure, without Spark: all sizes of laws and more (`FRACTION`), or what a lane runs of them. A
mutant that survives shows that a test is missing.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tests.mutants.areas import AREAS
from tests.mutants.mutant import Mutant
from tests.support.laws import FIRST_SEED
from tests.support.laws import FRACTION as FRACTION_VARIABLE

PROJECT = Path(__file__).parents[2]
FRACTION = 1.0
"""Of the sizes of the laws."""
TIMEOUT = 900
"""Seconds; a mutant may keep a fixpoint from ending."""
COPIED = ("jobs", "lake", "expectations", "tests")
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
            shutil.copytree(PROJECT / name, tree / name)
        file = tree / mutant.path
        file.write_text(mutant.apply(file.read_text()))
        failure = first_failure(tree, mutant.tests, lane)
    return Verdict(mutant.name, failure, time.monotonic() - start)


def first_failure(tree: Path, files: Sequence[str], lane: str | None) -> str | None:
    """The first test of some files that fails in a tree; None if all pass.

    They run in a fork of this process, which has imported the libraries, and nothing of ours.
    """
    for library in _LIBRARIES:
        import_module(library)
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.environ["WEIR_SHARED"] = str(_shared())
        os.environ.setdefault(FIRST_SEED, "0")
        if lane is None:
            os.environ[FRACTION_VARIABLE] = str(FRACTION)
        os.chdir(tree)
        for name in [*sys.modules]:
            if name.partition(".")[0] in COPIED:
                del sys.modules[name]
        sys.path.insert(0, str(tree))
        signal.alarm(TIMEOUT)
        os.write(writer, (_failed_test(files, lane) or "").encode())
        os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8") as pipe:  # noqa: PTH123 - a descriptor
        failure = pipe.read()
    _, status = os.waitpid(child, 0)
    return failure or (None if status == 0 else f"ended by {status}")


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


def chosen(words: str, area: str | None, most: int | None) -> list[Mutant]:
    """The mutants whose name contains words, of an area, and of each area at most so many."""
    rng = random.Random(os.environ.get(FIRST_SEED, "0"))
    mutants = []
    for name, all_mutants in AREAS.items():
        if area in (None, name):
            named = [mutant for mutant in all_mutants if words in mutant.name]
            mutants += named if most is None else rng.sample(named, min(most, len(named)))
    return mutants


def main() -> None:
    """Run all mutants, or those that are named."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("words", nargs="?", default="", help="a part of the mutants' names")
    parser.add_argument("--of", choices=AREAS, help="only the mutants of an area")
    parser.add_argument("--lane", help="run the tests of a lane, with its part of the laws")
    parser.add_argument("--most", type=int, help="so many mutants of each area, by WEIR_SEED")
    parser.add_argument("--known", action="store_true", help="the tests are known to pass")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="at once (%(default)s)")
    options = parser.parse_args()
    mutants = chosen(options.words, options.of, options.most)
    if not mutants:
        sys.exit(f"no mutant has {options.words!r} in its name")
    survived = []
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as processes:
        if not options.known:
            original = replace(mutants[0], replacement=mutants[0].original)
            tests = dict.fromkeys(mutant.tests for mutant in mutants)
            originals = [replace(original, tests=files) for files in tests]
            for unbroken in processes.map(partial(verdict, lane=options.lane), originals):
                if unbroken.failure:
                    sys.exit(f"the tests fail without a mutant: {unbroken.failure}")
        verdicts = [processes.submit(partial(verdict, m, options.lane)) for m in mutants]
        for done in as_completed(verdicts):
            print(done.result(), flush=True)
            if done.result().failure is None:
                survived.append(done.result().name)
    print(f"{len(mutants) - len(survived)} of {len(mutants)} killed")
    if survived:
        sys.exit(f"survived: {', '.join(sorted(survived))}")


if __name__ == "__main__":
    main()
