"""`weir run --every` as a process: its output, signals, and being killed within a round."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.projects.command_line import Weir
from weir.errors import EXIT_USAGE
from weir.lake.delta.commit import KILL_AT
from weir.project import open_lake
from weir.resident.stopping import StopRequest
from weir.settings import Settings

pytestmark = pytest.mark.usefixtures("museum")

FIRST = Path("data/versions/001.ttl")
_WEIR = "import sys; from weir.cli import main; sys.exit(main())"
_SECONDS = 300
"""A process that takes longer hangs."""


@pytest.fixture
def started(slow: None) -> Iterator[list[subprocess.Popen[str]]]:
    """The processes of a test, which end with it."""
    del slow
    running: list[subprocess.Popen[str]] = []
    yield running
    for process in running:
        process.kill()
        process.communicate()


def start(*options: str, kill_at: str | None = None) -> subprocess.Popen[str]:
    root = str(Path(__file__).parents[2])
    environment = os.environ | {"PYTHONPATH": root} | ({KILL_AT: kill_at} if kill_at else {})
    return subprocess.Popen(
        [sys.executable, "-c", _WEIR, "run", "--every", "200ms", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def next_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.stderr and process.stderr.read()
    return line


def next_round(process: subprocess.Popen[str]) -> Any:
    return json.loads(next_line(process))


def edit(number: int, room: str) -> None:
    """A version in which the vase is in another room."""
    text = FIRST.read_text().replace('vase"@en ; :room "1"', f'vase"@en ; :room "{room}"')
    draft = Path("draft.ttl")
    draft.write_text(text)
    draft.rename(f"data/versions/{number:03}.ttl")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_json_output_is_an_object_per_round_and_a_signal_ends_it_cleanly(
    started: list[subprocess.Popen[str]], number: signal.Signals
) -> None:
    process = start("--output", "json")
    started.append(process)
    first = next_round(process)
    assert [row["rows"] for row in first["queries"]] == [2]
    assert (first["errors"], first["resolved"]) == ([], [])
    edit(2, "2")
    second = next_round(process)
    assert [row["rows"] for row in second["queries"]] == [2]
    assert second["run_id"] != first["run_id"]
    process.send_signal(number)
    out, err = process.communicate(timeout=_SECONDS)
    assert (process.returncode, out, err) == (0, "", "")


def test_text_output_has_lines_of_stages_and_a_failure_only_once(
    started: list[subprocess.Popen[str]],
) -> None:
    process = start()
    started.append(process)
    assert "ingest: 1 epoch" in next_line(process)
    Path("queries/broken.rq").write_text("SELECT")
    assert "maintain: 1 failed" in next_line(process)
    edit(2, "2")
    assert "publish: 1 published; 2 rows appended" in next_line(process)
    Path("queries/broken.rq").unlink()
    while not (line := next_line(process)).startswith("resolved: "):
        assert "failed" not in line
    process.terminate()
    _, err = process.communicate(timeout=_SECONDS)
    assert process.returncode == 0
    assert err.count("broken.rq") == 1
    assert err.count("error: ") == 1


@pytest.mark.parametrize(
    "point",
    [
        "ingest:after:quads",
        "maintain:after:embeddings/exhibits",
        "validate:after:quality",
        "publish:before:runs",
    ],
)
def test_a_process_killed_within_a_round_is_continued_by_the_next(
    weir: Weir, started: list[subprocess.Popen[str]], point: str
) -> None:
    assert weir("run").code == 0
    edit(2, "2")
    killed = start("--output", "json", kill_at=point)
    killed.communicate(timeout=_SECONDS)
    assert killed.returncode == -signal.SIGKILL
    edit(3, "3")
    process = start("--output", "json")
    started.append(process)
    while open_lake(Settings.load()).rows("transactions").num_rows < 3:
        next_round(process)
    process.terminate()
    _, err = process.communicate(timeout=_SECONDS)
    assert (process.returncode, err) == (0, "")
    assert weir("run").code == 0
    changes = weir("log", "exhibits", "--output", "json").json
    assert sorted((row["epoch"], row["weight"], row["room"]) for row in changes) == [
        (1, 1, "1"),
        (1, 1, "2"),
        (2, -1, "1"),
        (2, 1, "2"),
        (3, -1, "2"),
        (3, 1, "3"),
    ]


def test_a_wrong_duration_is_refused(weir: Weir) -> None:
    called = weir("run", "--every", "often")
    assert called.code == EXIT_USAGE
    assert "'often': it is not a duration" in called.err


def test_a_wrong_configuration_is_refused_at_the_start(weir: Weir) -> None:
    Path("weir.toml").write_text("oops")
    called = weir("run", "--every", "1s")
    assert called.code == EXIT_USAGE
    assert "not TOML" in called.err


@pytest.fixture
def interrupts() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt; a process in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_the_first_signal_is_noted_and_the_second_acts_as_always() -> None:
    before, on_term = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with StopRequest() as stop:
        stop.wait(0)
        assert not stop.is_made
        signal.raise_signal(signal.SIGTERM)
        assert stop.is_made
        # The request ends every wait.
        stop.wait(_SECONDS)
        assert signal.getsignal(signal.SIGTERM) == on_term
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) == before
