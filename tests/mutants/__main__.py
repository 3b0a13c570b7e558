"""Breaks the engine in many ways and tells which of them the tests do not notice.

    python -m tests.mutants            all
    python -m tests.mutants distinct   those whose name contains a word

Every mutation (`tests.mutants.texts`) is made in a copy of the tree. The copy is judged by the
kept cases, by a subset of the laws (`SEEDS`) and by the W3C tests as histories; one that these pass
survives, and so shows a test that is missing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.mutants.texts import MUTATIONS, Mutation

PROJECT = Path(__file__).parent.parent.parent
SEEDS = range(400)
"""Of `tests.support.generators.grammar_cases`."""
COPIED = ("jobs", "lake", "tests")


def surviving(mutations: tuple[Mutation, ...]) -> list[str]:
    """The names of the mutations that no test notices; prints a line for each mutation."""
    survived = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in COPIED:
            shutil.copytree(PROJECT / name, copy / name)
        for mutation in mutations:
            file = copy / "jobs" / f"{mutation.module}.py"
            source = file.read_text()
            file.write_text(mutation.applied(source))
            begun = time.monotonic()
            noticed = _judge(copy)
            file.write_text(source)
            verdict = "survived" if noticed is None else "caught"
            seconds = time.monotonic() - begun
            print(f"{verdict:9}{seconds:5.0f} s  {mutation.name:62}{noticed or ''}", flush=True)
            if noticed is None:
                survived.append(mutation.name)
    return survived


def _judge(tree: Path) -> str | None:
    """What is the first to notice that something is wrong in a tree; None if nothing does."""
    environment = os.environ | {"PYTHONPATH": str(tree), "WEIR_SHARED": str(_shared())}
    command = [sys.executable, "-m", "tests.mutants", "--judge"]
    done = subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return None
    lines = (done.stdout + done.stderr).strip().splitlines()
    return lines[-1][:80] if lines else f"exit {done.returncode}"


def judge() -> None:
    """Exit with what is wrong in this tree, if anything is.

    An error of the engine is something wrong as well.
    """
    from tests.engine.test_w3c_histories import evaluation_cases, wrong_answers
    from tests.support.generators.grammar_cases import whole_case
    from tests.support.grammar_laws import broken_laws
    from tests.support.regressions import kept_cases, read

    for file in kept_cases():
        if broken_laws(read(file)):
            sys.exit(f"kept case {file.stem}")
    for seed in SEEDS:
        if broken := broken_laws(whole_case(seed)):
            law = broken[0].rpartition("]: ")[2]
            sys.exit(f"seed {seed}: {law}")
    for case in evaluation_cases(_shared()):
        if wrong_answers(case, 0):
            sys.exit(case.name)


def _shared() -> Path:
    return Path(os.environ.get("WEIR_SHARED", PROJECT.parent / "shared")).absolute()


def main() -> None:
    """Break the engine in all ways, or in those that are named."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("word", nargs="?", default="", help="a part of the mutations' names")
    parser.add_argument("--judge", action="store_true", help="judge this tree as it is")
    options = parser.parse_args()
    if options.judge:
        judge()
        return
    if noticed := _judge(PROJECT):
        sys.exit(f"the tests fail with nothing broken: {noticed}")
    chosen = tuple(mutation for mutation in MUTATIONS if options.word in mutation.name)
    survived = surviving(chosen)
    print(f"{len(chosen) - len(survived)} of {len(chosen)} caught")
    if survived:
        sys.exit(f"not noticed: {', '.join(survived)}")


if __name__ == "__main__":
    main()
