"""Runs the mutants of the engine and reports which of them the tests kill.

    python -m tests.mutants            all
    python -m tests.mutants distinct   those whose name contains a word
    python -m tests.mutants --of streams
                                       those of one of `PARTS`

Each mutant (`tests.mutants.definitions`) is applied to a copy of the tree. The copy runs the
regressions, subsets of the laws (`GROUPS`, `SEEDS`) and the W3C tests as histories, until the first
failure. A mutant of EXISTS runs `tests/engine/test_exists.py` and random parts of it
(`CORRELATED`), one of streams the laws of streams (`STREAMS`), one of rules those of programs
(`PROGRAMS`), one of replicas those of elections (`ELECTIONS`) or of remotes (`SERVICES`, `FAST`),
one of the protocol the tests that it names, without Spark. A mutant that survives shows that a test
is missing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.mutants.definitions import MUTANTS
from tests.mutants.exists import EXISTS_MUTANTS
from tests.mutants.mutant import Mutant
from tests.mutants.protocol import PROTOCOL_MUTANTS, PROTOCOL_TESTS
from tests.mutants.remotes import REMOTE_MUTANTS
from tests.mutants.replicas import REPLICA_MUTANTS
from tests.mutants.rules import RULE_MUTANTS
from tests.mutants.streams import STREAM_MUTANTS

PROJECT = Path(__file__).parent.parent.parent
SEEDS = range(400)
"""Seeds of the random cases (`tests.support.generators.grammar_cases`) that each mutant runs."""
GROUPS = range(90)
"""Seeds of the random groups (`tests.support.shared_shapes`) that each mutant runs."""
STREAMS = range(60)
"""Seeds of the random queries over streams (`tests.support.streams.cases`)."""
PROGRAMS = range(1000)
"""Seeds of the random programs (`tests.support.rules.cases`)."""
TIMEOUT = 900
"""Seconds; a mutant may keep a fixpoint from ending."""
ELECTIONS = range(1500)
"""Seeds of the random elections (`tests.support.refresh.cases`)."""
SERVICES = range(30)
"""Seeds of the random queries with SERVICE (`tests.support.services.cases`)."""
FAST = tuple(
    f"tests/replicas/test_{name}.py"
    for name in (
        "budget",
        "rounds",
        "answers",
        "asking",
        "evaluations",
        "unused",
        "refresh_remotes",
    )
)
"""The tests of refreshes, quick ones first."""
BLOCKS = ("tests/sparql/frontend/test_service_keys.py", "tests/rdf/test_replica_graphs.py")
"""The tests of blocks: by which keys they are asked, and which graphs have their rows."""
COPIED = ("jobs", "lake", "tests")
CORRELATED = range(60)
"""Seeds of the random parts of EXISTS (`tests.support.generators.grammar_cases`)."""
_OURS = ("jobs", "lake", "tests", "expectations", "demo")
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
"""What the tests of the protocol import of others; none of them starts a thread."""
PARTS = {
    "exists": EXISTS_MUTANTS,
    "streams": STREAM_MUTANTS,
    "rules": RULE_MUTANTS,
    "replicas": REPLICA_MUTANTS + REMOTE_MUTANTS,
    "protocol": PROTOCOL_MUTANTS,
}
"""Mutants that only the tests of their part can kill."""


def surviving(mutants: tuple[Mutant, ...]) -> list[str]:
    """The names of the mutants that no test kills; prints a line for each mutant."""
    survived = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in COPIED:
            shutil.copytree(PROJECT / name, copy / name)
        for mutant in mutants:
            file = copy / mutant.path
            source = file.read_text()
            file.write_text(mutant.apply(source))
            start = time.monotonic()
            if mutant.tests:
                failure = _first_failure_of(copy, mutant.tests)
            else:
                failure = _first_failure(copy, mutant.name)
            file.write_text(source)
            verdict = "survived" if failure is None else "killed"
            seconds = time.monotonic() - start
            print(f"{verdict:9}{seconds:5.0f} s  {mutant.name:70}{failure or ''}", flush=True)
            if failure is None:
                survived.append(mutant.name)
    return survived


def _first_failure(tree: Path, mutant: str = "") -> str | None:
    """The first test that fails in a tree; None if all pass."""
    environment = os.environ | {"PYTHONPATH": str(tree), "WEIR_SHARED": str(_shared())}
    command = [sys.executable, "-m", "tests.mutants", "--run-tests", mutant]
    try:
        done = subprocess.run(
            command,
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        return f"no end within {TIMEOUT} s"
    if done.returncode == 0:
        return None
    lines = (done.stdout + done.stderr).strip().splitlines()
    return lines[-1][:80] if lines else f"exit {done.returncode}"


@dataclass(slots=True, eq=False)
class _Failed:
    """A plugin of pytest: the name of the first test that failed."""

    name: str = ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.name = self.name or report.nodeid.rpartition("::")[2]


def _failed_test(*files: str) -> str | None:
    """The first test of some files that fails in this tree; None if all pass."""
    import pytest

    failed = _Failed()
    # The copy may be below a folder with a configuration of pytest.
    options = ["-q", "-x", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", "."]
    # Files of several folders have one name.
    options.append("--import-mode=importlib")
    if pytest.main([*options, *files], plugins=[failed]):
        return failed.name or "the tests cannot run"
    return None


def _first_failure_of(tree: Path, files: tuple[str, ...]) -> str | None:
    """The first test of some files that fails in a tree; None if all pass.

    They run in a fork of this process, which has imported the libraries, and nothing of ours.
    """
    for library in _LIBRARIES:
        import_module(library)
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.chdir(tree)
        for name in [*sys.modules]:
            if name.partition(".")[0] in _OURS:
                del sys.modules[name]
        sys.path.insert(0, str(tree))
        signal.alarm(TIMEOUT)
        found = _failed_test("-m", "not spark", *files)
        os.write(writer, (found or "").encode())
        os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8") as said:  # noqa: PTH123 - a descriptor
        failure = said.read()
    _, status = os.waitpid(child, 0)
    return failure or (None if status == 0 else f"ended by {status}")


def run_tests(mutant: str) -> None:
    """Run the tests in this tree; exit with the name of the first that fails.

    An error of the engine is a failure. Regressions that name `mutant` run first.
    """
    from tests.engine.test_w3c_histories import evaluation_cases, wrong_answers
    from tests.support.generators.grammar_cases import correlated_case, whole_case
    from tests.support.grammar_laws import broken_laws
    from tests.support.refresh.cases import election_case
    from tests.support.refresh.laws import broken_laws as broken_election_laws
    from tests.support.regressions import read, regression_files
    from tests.support.rules.cases import rule_case
    from tests.support.rules.given import GIVEN as PROGRAM_NAMES
    from tests.support.rules.given import given_case as given_program
    from tests.support.rules.laws import broken_laws as broken_rule_laws
    from tests.support.services.cases import service_case
    from tests.support.services.laws import broken_laws as broken_service_laws
    from tests.support.shared_shapes import GIVEN, given_case, group_case
    from tests.support.shared_shapes import broken_laws as broken_group_laws
    from tests.support.streams.cases import stream_case
    from tests.support.streams.laws import broken_laws as broken_stream_laws

    def run_streams() -> None:
        for seed in STREAMS:
            if broken := broken_stream_laws(stream_case(seed)):
                sys.exit(f"stream {seed}: {broken[0].rpartition('}: ')[2]}")

    def run_programs() -> None:
        for name in PROGRAM_NAMES:
            if broken := broken_rule_laws(given_program(name)):
                sys.exit(f"program {name}: {broken[0]}")
        for seed in PROGRAMS:
            if broken := broken_rule_laws(rule_case(seed)):
                sys.exit(f"program {broken[0]}")

    def run_correlated() -> None:
        run_files("tests/engine/test_exists.py")
        for seed in CORRELATED:
            if broken := broken_laws(correlated_case(seed)):
                sys.exit(f"correlated {seed}: {broken[0].rpartition(']: ')[2]}")

    def run_elections() -> None:
        for seed in ELECTIONS:
            if broken := broken_election_laws(election_case(seed)):
                sys.exit(f"election {seed}: {broken[0]}")

    def run_services() -> None:
        run_files(*BLOCKS)
        for seed in SERVICES:
            if broken := broken_service_laws(service_case(seed)):
                sys.exit(f"service {seed}: {broken[0].rpartition(']: ')[2]}")

    def run_files(*files: str) -> None:
        if failed := _failed_test(*files):
            sys.exit(failed)

    def run_refreshes() -> None:
        run_files(*FAST)

    if mutant in {each.name for each in PROTOCOL_MUTANTS}:
        run_files("-m", "not spark", *PROTOCOL_TESTS)
        return
    remote = next((each for each in REMOTE_MUTANTS if each.name == mutant), None)
    if remote is not None:
        in_queries = remote.module.startswith(("sparql/", "rdf/"))
        (run_services if in_queries else run_refreshes)()
        return
    if mutant in {each.name for each in REPLICA_MUTANTS}:
        run_elections()
        return
    if mutant in {each.name for each in EXISTS_MUTANTS}:
        run_correlated()
        return
    if mutant in {each.name for each in STREAM_MUTANTS}:
        run_streams()
        return
    if mutant in {each.name for each in RULE_MUTANTS}:
        run_programs()
        return
    for file in sorted(regression_files(), key=lambda file: mutant not in file.read_text()):
        if broken_laws(read(file)):
            sys.exit(f"regression {file.stem}")
    for name in GIVEN:
        if broken_group_laws(given_case(name)):
            sys.exit(f"group {name}")
    for seed in GROUPS:
        if broken := broken_group_laws(group_case(seed)):
            sys.exit(f"group {seed}: {broken[0].rpartition(']: ')[2]}")
    for seed in SEEDS:
        if broken := broken_laws(whole_case(seed)):
            law = broken[0].rpartition("]: ")[2]
            sys.exit(f"seed {seed}: {law}")
    for case in evaluation_cases(_shared()):
        if wrong_answers(case, 0):
            sys.exit(case.name)
    if not mutant:
        run_correlated()
        run_streams()
        run_programs()
        run_elections()
        run_services()
        run_refreshes()
        run_files("-m", "not spark", *PROTOCOL_TESTS)


def _shared() -> Path:
    return Path(os.environ.get("WEIR_SHARED", PROJECT.parent / "shared")).absolute()


def main() -> None:
    """Run all mutants, or those that are named."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("word", nargs="?", default="", help="a part of the mutants' names")
    parser.add_argument("--of", choices=PARTS, help="only the mutants of a part")
    parser.add_argument(
        "--run-tests", metavar="MUTANT", help="run the tests in this tree, those for MUTANT first"
    )
    options = parser.parse_args()
    if options.run_tests is not None:
        run_tests(options.run_tests)
        return
    among = PARTS[options.of] if options.of else MUTANTS
    chosen = tuple(mutant for mutant in among if options.word in mutant.name)
    if not chosen:
        sys.exit(f"no mutant has {options.word!r} in its name")
    if all(mutant.tests for mutant in chosen):
        named = tuple(dict.fromkeys(test for mutant in chosen for test in mutant.tests))
        failure = _first_failure_of(PROJECT, named)
    else:
        # The name of a mutant of a part selects the tests of the part.
        failure = _first_failure(PROJECT, chosen[0].name if options.of else "")
    if failure:
        sys.exit(f"the tests fail without a mutant: {failure}")
    survived = surviving(chosen)
    print(f"{len(chosen) - len(survived)} of {len(chosen)} killed")
    if survived:
        sys.exit(f"survived: {', '.join(survived)}")


if __name__ == "__main__":
    main()
