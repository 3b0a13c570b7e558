"""What a shell completes: the names of queries, programs and shapes, wherever a command takes one.

By the protocol of typer for bash: variables have the words of the line and which of them is typed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.projects.command_line import Weir
from weir.cli.app import command_line

NAMES = ["exact", "exhibits", "rooms"]
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder is a project with a shapes graph, a query and a program."""
    (tmp_path / "weir.toml").write_text('programs = "rules"\n')
    for file in ("shapes/exact.ttl", "queries/exhibits.rq", "rules/rooms.lars"):
        (tmp_path / file).parent.mkdir()
        # Nothing reads them.
        (tmp_path / file).write_text("{")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def completed(weir: Weir, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The words that complete the last one of a line."""

    def completed(line: str) -> list[str]:
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(line.count(" ")))
        monkeypatch.setenv("_WEIR_COMPLETE", "complete_bash")
        called = weir()
        assert (called.code, called.err) == (0, "")
        return called.out.split()

    return completed


def _places(command: Any, line: str) -> Iterator[str]:
    """The lines that end where a command takes the name of a definition."""
    for name, below in getattr(command, "commands", {}).items():
        yield from _places(below, f"{line} {name}")
    for parameter in command.params:
        if parameter.name in ("select", "exclude", "retry"):
            yield f"{line} {parameter.opts[0]} "
        elif parameter.name == "query":
            yield f"{line} "


PLACES = [
    *_places(command_line(), "weir"),
    "weir rename ",
    "weir run --accept ",
    "weir --output json show ",
    "weir show --output json ",
]


def test_all_commands_that_are_about_queries_are_known() -> None:
    """The lines above are those that were meant."""
    commands = {line.removeprefix("weir ").partition(" -")[0].strip() for line in PLACES}
    by_name = {"show", "log", "watch", "why", "explain", "drop", "rename", "retype"}
    by_selection = {"run", "status", "ls", "check", "test", "diff", "audit"}
    exports = {f"export {name}" for name in ("rdf", "data", "patch", "ldes", "duckdb", "views")}
    assert commands >= by_name | by_selection | exports


@pytest.mark.parametrize("line", PLACES)
def test_a_name_of_a_definition_is_completed(completed: Any, line: str) -> None:
    assert completed(line) == NAMES
    assert completed(f"{line}ex") == ["exact", "exhibits"]
    assert completed(f"{line}none") == []


@pytest.mark.parametrize("typed", ["+", "rooms,", "tag:x,+", "+rooms+,"])
def test_the_last_name_of_a_selection_is_completed(completed: Any, typed: str) -> None:
    words = completed(f"weir run --select {typed}ex")
    assert words == [f"{typed}exact", f"{typed}exhibits"]


@pytest.mark.parametrize("line", ["weir new ", "weir rename rooms ", "weir ingest --accept "])
def test_what_is_no_name_of_a_definition_is_not_completed(completed: Any, line: str) -> None:
    assert completed(line) == []


def test_names_of_sources_are_completed_where_change_sets_are_accepted(
    completed: Any, tmp_path: Path
) -> None:
    (tmp_path / "sources.yml").write_text("sources: [{name: exports}, {name: prices}]\n")
    assert completed("weir ingest --accept ex") == ["exports"]
    assert completed("weir run --accept ex") == ["exports", "exact", "exhibits"]
    assert completed("weir show ex") == ["exact", "exhibits"]
    (tmp_path / "sources.yml").write_text("sources: [")
    assert completed("weir ingest --accept ex") == []


def test_names_are_those_of_the_project_above_or_of_the_configuration_that_is_named(
    completed: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = tmp_path / "notes/2026"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert completed("weir show ") == NAMES
    monkeypatch.chdir("/")
    assert completed("weir show ") == []
    assert completed(f"weir --config {tmp_path / 'weir.toml'} show ") == NAMES


@pytest.mark.parametrize("config", ["lake = \n", "unknown = 1\n", 'queries = "none"\n'])
def test_a_project_with_a_mistake_completes_nothing_and_says_nothing(
    completed: Any, tmp_path: Path, config: str
) -> None:
    (tmp_path / "weir.toml").write_text(config)
    assert completed("weir show ") == []


def test_bash_completes_by_the_script_that_weir_prints(tmp_path: Path) -> None:
    program = tmp_path / "weir"
    code = "import sys; from weir.cli import main; sys.exit(main())"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{code}' \"$@\"\n")
    program.chmod(0o755)
    script = """
        eval "$(_WEIR_COMPLETE=source_bash weir)"
        COMP_WORDS=(weir show ex) COMP_CWORD=2
        _weir_completion weir
        echo "${COMPREPLY[@]}"
    """
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-c", script], env=os.environ | path, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("exact exhibits\n", "")


def test_completing_imports_no_engine() -> None:
    code = "import sys; from weir.cli import main; main([]); print(*sys.modules)"
    line = {"COMP_WORDS": "weir show ", "COMP_CWORD": "2", "_WEIR_COMPLETE": "complete_bash"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | line,
        capture_output=True,
        text=True,
        check=True,
    )
    *names, modules = done.stdout.splitlines()
    loaded = {name.partition(".")[0] for name in modules.split()}
    heavy = {"duckdb", "deltalake", "pyarrow", "pandas", "numpy", "rdflib", "sqlglot", "pyspark"}
    assert (names, loaded & heavy, "weir.engine" in modules.split()) == (NAMES, set(), False)
