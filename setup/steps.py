"""A set-up step: run once, and again only when its inputs change or its result is missing."""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from weir.spark_setup import commands
from weir.spark_setup.commands import SetupError

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache"
STAMPS = CACHE / "setup"
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
SITE_PACKAGES = VENV / "lib" / "python3.11" / "site-packages"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the set-up.

    Args:
        name: name of the step and of its stamp file.
        title: what it installs, as shown to the user.
        inputs: what its result depends on, as text.
        present: whether its result exists.
        run: produces the result.
    """

    name: str
    title: str
    inputs: Callable[[], str]
    present: Callable[[], bool]
    run: Callable[[], None]

    @property
    def _stamp(self) -> Path:
        return STAMPS / self.name

    def is_done(self) -> bool:
        """Whether its result exists and was made from the current inputs."""
        return self._stamp.is_file() and self._stamp.read_text() == _key(self) and self.present()

    def do(self) -> float:
        """Run it, write its stamp, and return the seconds it took."""
        started = time.monotonic()
        self._stamp.unlink(missing_ok=True)
        self.run()
        if not self.present():
            raise SetupError(f"{self.title}: the step ran, but its result is missing")
        STAMPS.mkdir(parents=True, exist_ok=True)
        self._stamp.write_text(_key(self))
        return time.monotonic() - started


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Wait until no other process sets this folder up, and keep others from it meanwhile."""
    STAMPS.mkdir(parents=True, exist_ok=True)
    with (STAMPS / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def ensure(step: Step) -> None:
    """Run a step if it is not done, while no other process sets this folder up.

    Raises:
        SetupError: it fails.
    """
    with one_at_a_time():
        if not step.is_done():
            run_pending([step])


def run_pending(steps: Iterable[Step]) -> None:
    """Run the steps that are not done, in order, and print each with its duration."""
    started = time.monotonic()
    count = 0
    for step in steps:
        if step.is_done():
            continue
        count += 1
        print(f"set-up: {step.title} ...", flush=True)
        print(f"set-up: {step.title}: {step.do():.1f} s", flush=True)
    seconds = time.monotonic() - started
    print(f"set-up: {f'{count} steps' if count else 'nothing to do'}, {seconds:.1f} s", flush=True)


def call(
    command: Sequence[str | Path], advice: str, environment: Mapping[str, str] | None = None
) -> None:
    """Run a command in the project folder; show its output only if it fails.

    Raises:
        SetupError: with `advice`.
    """
    temporary = CACHE / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    variables = {**(environment or os.environ), "TMPDIR": str(temporary)}
    commands.call(command, advice, variables, ROOT)


def text_of(*files: str) -> str:
    """The contents of files of the project, concatenated."""
    return "\0".join((ROOT / file).read_text() for file in files)


def _key(step: Step) -> str:
    return hashlib.sha256(f"{step.name}\0{ROOT}\0{step.inputs()}".encode()).hexdigest()
