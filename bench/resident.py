"""A resident process: from a change set in the folder of its source to the published answers."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from statistics import median
from threading import Thread
from typing import IO, Any

from bench.comparison import by_oxigraph, count_rows
from bench.nomisma import Nomisma
from bench.places import ROOT, WORK, Project, patches, put
from bench.processes import RunFailed
from bench.results import Scenario, Target, Timing, machine

FULL_PATCHES = 20
EVERY, PAUSE, PATIENCE = 0.2, 2.0, 300.0
"""Seconds: between the starts of rounds, between change sets, until a process counts as hanging."""
AIM, NOTHING_AIM = 1.0, 0.3
_ID = re.compile(r"^H id <([^>]*)>", re.MULTILINE)


@dataclass(slots=True)
class Resident:
    """The scenario: `weir run --every`, and change sets that arrive one by one.

    Args:
        count: change sets of the history, and as many that concern no query.
        nomisma: the lake before them.
        progress: receives a line per step.
    """

    count: int
    nomisma: Nomisma
    progress: Callable[[str], None]

    def run(self) -> Scenario:
        """The first change set, those after it, and those that concern no query."""
        folder = WORK / "resident"
        arrived = patches(folder / "arrived", [])
        draft = patches(folder / "draft", [])
        copy = self.nomisma.copy("resident", arrived)
        history = self.nomisma.files()[: self.count + 1]
        matching: list[_Seen] = []
        nothing: list[_Seen] = []
        with _running(copy) as process:
            for number, change in enumerate(history):
                self.progress(f"resident, change set {number} of {self.count}")
                put(change, draft)
                matching.append(process.arrives(draft / change.name, arrived))
                if number == 0:
                    before = process.memory
                time.sleep(PAUSE)
            last = _change_id(history[-1])
            for number in range(self.count):
                self.progress(f"resident, change set {number + 1} that concerns no query")
                last = _unrelated(draft / f"9{number:03}.nqp", number, last)
                nothing.append(process.arrives(draft / f"9{number:03}.nqp", arrived))
                time.sleep(PAUSE)
            after = process.memory
        first, *others = matching
        self.progress("resident, pyoxigraph")
        rows = count_rows(copy, [], by_oxigraph(copy, self.nomisma.queries, 1).rows)
        return Scenario(
            name="resident",
            title=f"nomisma, a resident process, ten queries, {self.count} change sets one by one",
            sizes={"change sets": self.count},
            full=self.count == FULL_PATCHES,
            timings=[
                *_timings("the first change set", [first]),
                *_timings("a change set", others),
                *_timings("a change set that concerns no query", nothing),
            ],
            targets=[
                _target("a change set, to its published answers", AIM, others),
                _target("a change set that concerns no query: the round", NOTHING_AIM, nothing),
            ],
            rows=rows,
            notes=[
                f"`weir run --every {EVERY:g}s`: seconds from the file being in the folder to the"
                " line that reports the round, the wait for the round included; least .. most.",
                f"Memory (RSS): {before:,} MiB after the first change set, {after:,} MiB at the"
                " end.",
            ],
            machine=machine(),
        )


@dataclass(frozen=True, slots=True)
class _Seen:
    """A change set: seconds until its answers were published, those of the round, of its stages."""

    seconds: float
    round: float
    stages: dict[str, float]


@dataclass(slots=True)
class _Process:
    """A resident process and the lines that it prints."""

    process: subprocess.Popen[str]
    lines: Queue[tuple[float, str]] = field(default_factory=Queue)

    def arrives(self, file: Path, folder: Path) -> _Seen:
        """Move a file into the folder of the source and wait for the round that takes it in.

        Raises:
            RunFailed: it ended, took too long, or reports an error.
        """
        began = time.monotonic()
        file.rename(folder / file.name)
        try:
            at, line = self.lines.get(timeout=PATIENCE)
        except Empty:
            raise RunFailed(f"{file.name}: nothing was reported for {PATIENCE:.0f} s") from None
        report: dict[str, Any] = json.loads(line) if line else {"errors": ["the process ended"]}
        if report["errors"]:
            raise RunFailed(f"{file.name}: {'; '.join(report['errors'])}")
        stages = {stage["stage"]: stage["seconds"] for stage in report["stages"]}
        return _Seen(at - began, report["seconds"], stages)

    @property
    def memory(self) -> int:
        """Resident memory of the process, MiB."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") >> 20

    def read(self, output: IO[str]) -> None:
        """Note the lines, and when they came; an empty one at the end."""
        for line in output:
            self.lines.put((time.monotonic(), line))
        self.lines.put((time.monotonic(), ""))


@contextmanager
def _running(made: Project) -> Iterator[_Process]:
    """The process over a project, ended at the end of the block.

    Raises:
        RunFailed: it does not end with exit code 0.
    """
    program = "import sys; from weir.cli import main; sys.exit(main())"
    options = ["--config", str(made.config), "--output", "json", "run", "--every", f"{EVERY:g}s"]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *options],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    running = _Process(process)
    reader = Thread(target=running.read, args=(process.stdout,), daemon=True)
    reader.start()
    try:
        yield running
        process.send_signal(signal.SIGTERM)
        if code := process.wait(PATIENCE):
            raise RunFailed(f"{made.config}: exit code {code}")
    finally:
        process.kill()
        process.wait()


def _timings(name: str, seen: Sequence[_Seen]) -> list[Timing]:
    stages = dict.fromkeys(stage for update in seen for stage in update.stages)
    return [
        Timing(name, "warm", tuple(update.seconds for update in seen)),
        Timing("  the round", "warm", tuple(update.round for update in seen), name),
        *(
            Timing(
                f"  {stage}", "warm", tuple(update.stages.get(stage, 0.0) for update in seen), name
            )
            for stage in stages
        ),
    ]


def _target(what: str, aim: float, seen: Sequence[_Seen]) -> Target:
    is_round = aim == NOTHING_AIM
    seconds = [update.round if is_round else update.seconds for update in seen]
    reached = f"median {median(seconds):.2f} s, worst {max(seconds):.2f} s"
    return Target(what, f"<= {aim:.1f} s", reached, median(seconds) <= aim)


def _change_id(patch: Path) -> str:
    """The id in the header of a patch."""
    data = patch.read_bytes()
    text = (gzip.decompress(data) if patch.suffix == ".gz" else data).decode()
    header = _ID.search(text)
    assert header is not None, "every patch of the history has an id"
    return header[1]


def _unrelated(file: Path, number: int, before: str) -> str:
    """Write a patch of one triple that no pattern of the queries matches; returns its id."""
    this = f"urn:bench:unrelated:{number}"
    added = f'A <urn:bench:{number}> <urn:bench:unrelated> "{number}" <urn:bench:graph> .'
    lines = (f"H id <{this}> .", f"H prev <{before}> .", "TX .", added, "TC .", "")
    file.write_text("\n".join(lines))
    return this
