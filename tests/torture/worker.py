"""A process that works for a project until it is killed, with what disturbs it.

It is forked from one that has imported everything, so that it costs little to kill. A process may
work once, or again and again with its tables, DuckDB and parser kept open, as `weir run --every`.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

from tests.torture.life import SECONDS_BETWEEN, WRITTEN_AT, Work
from weir.lake.delta import commit

if TYPE_CHECKING:
    from weir.errors import WeirError
    from weir.project import Project

FORKED = get_context("forkserver")
FORKED.set_forkserver_preload(["tests.torture.preloaded", "tests.torture.worker"])
MARK = "WEIR_TORTURE"
"""Environment variable that all processes have: none of them may be left."""
_PATIENCE = 300.0
"""Seconds after which work counts as hanging."""
FULL = "full"
"""In place of a query: of an audit that computes answers again."""
_STAGES = ("ingest", "maintain", "validate", "publish")


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock that is wrong by so many seconds, from some moment on by others.

    Attributes:
        before: how many at first.
        after: how many later.
        changes_after: seconds from the start of the work to the change.
    """

    before: float = 0.0
    after: float = 0.0
    changes_after: float = 0.0

    def offset(self, elapsed: float) -> float:
        """How many seconds it is wrong by so long after the start of the work."""
        return self.before if elapsed < self.changes_after else self.after


@dataclass(frozen=True, slots=True)
class Disturbance:
    """What is wrong with the surroundings of a process.

    Attributes:
        clock: that it reads.
        descriptors: how many files it may open besides those that are open; None for no limit.
        dies_after: how many checkpoints it passes before it kills itself; None to live.
        stops_after: how many it passes before it stops itself (SIGSTOP); None not to.
        machine: on which it believes to be; empty for this one.
    """

    clock: Clock = Clock()
    descriptors: int | None = None
    dies_after: int | None = None
    stops_after: int | None = None
    machine: str = ""


_Said = tuple[tuple[str, ...], bool, bool]
"""Errors, whether another process is at work, whether the process cannot go on."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How work ended.

    Attributes:
        seconds: how long it took.
        errors: what it reported; nothing if all was done.
        busy: whether it found another process at work.
        fatal: whether the error was one that ends a process.
        killed: whether its process was killed.
        reached: the last checkpoint that it passed.
    """

    seconds: float
    errors: tuple[str, ...] = ()
    busy: bool = False
    fatal: bool = False
    killed: bool = False
    reached: str = ""

    @property
    def succeeded(self) -> bool:
        """Whether it says that all was done."""
        return not (self.errors or self.busy or self.killed)


class Hangs(Exception):  # noqa: N818  (named after what is wrong)
    """Work did not end."""


class Worker:
    """A process for one project, seen from outside.

    Args:
        folder: of the project.
        keeps_open: whether what one work opened is there for the next.
    """

    def __init__(self, folder: Path, *, keeps_open: bool) -> None:
        self._reached = folder.parent / f"{folder.name}-{time.monotonic_ns()}.reached"
        self._reached.write_bytes(b"")
        self._connection, theirs = FORKED.Pipe()
        self._process = FORKED.Process(
            target=_serve, args=(theirs, folder, self._reached, keeps_open), daemon=True
        )
        self._process.start()
        theirs.close()
        self._started = 0.0

    def begin(
        self,
        work: Work,
        query: str = "",
        disturbance: Disturbance = Disturbance(),
        evaluation: int | None = None,
    ) -> None:
        """Have it work; returns when it has begun.

        Args:
            work: what is done.
            query: to which it is done, or `FULL`.
            disturbance: what is wrong meanwhile.
            evaluation: the number of that at which remotes are asked; None to ask none.
        """
        self._reached.write_bytes(b"")
        self._connection.send((work, query, disturbance, evaluation))
        self._receive()
        self._started = time.monotonic()

    def kill_after(self, seconds: float) -> Ended:
        """Kill it so long after it began, if the work has not ended by then."""
        if self._connection.poll(seconds):
            return self.end()
        self._process.kill()
        return self.end()

    def interrupt_after(self, seconds: float) -> Ended:
        """Send it SIGINT so long after it began, if the work has not ended by then."""
        if not self._connection.poll(seconds) and self._process.pid is not None:
            os.kill(self._process.pid, signal.SIGINT)
        return self.end()

    def end(self) -> Ended:
        """Wait for the end of the work.

        Raises:
            Hangs: it takes too long.
        """
        ended = self._receive()
        seconds, reached = time.monotonic() - self._started, self.reached
        if ended is None:
            # A process that is not waited for counts as alive.
            self._process.join()
            return Ended(seconds, killed=True, reached=reached)
        errors, busy, fatal = ended
        return Ended(seconds, errors, busy, fatal, reached=reached)

    def stopped(self) -> bool:
        """Wait until it has stopped itself, or has ended its work; returns whether it stopped."""
        while not self._connection.poll(0.02):
            state = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
            if state[0] == "T":
                return True
        return False

    def stop_after(self, seconds: float) -> bool:
        """Stop it so long after it began; returns whether the work had not ended by then."""
        if self._connection.poll(seconds) or self._process.pid is None:
            return False
        os.kill(self._process.pid, signal.SIGSTOP)
        return True

    def go_on(self) -> None:
        """Let it go on."""
        if self._process.pid is not None:
            os.kill(self._process.pid, signal.SIGCONT)

    @property
    def reached(self) -> str:
        """The last checkpoint that it passed."""
        return self._reached.read_text().strip()

    @property
    def is_alive(self) -> bool:
        """Whether it can work."""
        return self._process.is_alive()

    def close(self) -> None:
        """End it."""
        with suppress(OSError):
            self._connection.send(None)
        self._process.join(_PATIENCE)
        self._process.kill()
        self._process.join()
        self._connection.close()
        self._reached.unlink(missing_ok=True)

    def _receive(self) -> _Said | None:
        """What it says; None if it was killed."""
        try:
            if not self._connection.poll(_PATIENCE):
                self._process.kill()
                self._process.join()
                raise Hangs(f"no end after {_PATIENCE:.0f} s; {self._reached.read_text()}")
            said: _Said = self._connection.recv()
        except (EOFError, ConnectionResetError):
            return None
        return said


def _serve(connection: Connection, folder: Path, reached: Path, keeps_open: bool) -> None:
    """Work as asked for until there is nothing more to do."""
    from weir.project import Project
    from weir.settings import Settings

    os.environ[MARK] = "1"
    # The process that this one is forked from ignores it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    output = os.open(folder.parent / "output", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(output, 1)
    os.dup2(output, 2)
    settings = Settings.load(folder / "weir.toml")
    project = Project(settings)
    left: dict[signal.Signals, int | None] = {}
    _observe_checkpoints(os.open(reached, os.O_WRONLY), left)
    name = socket.gethostname()
    while (asked := connection.recv()) is not None:
        work, query, disturbance, evaluation = asked
        left |= {signal.SIGKILL: disturbance.dies_after, signal.SIGSTOP: disturbance.stops_after}
        connection.send(None)
        machine = mock.patch("socket.gethostname", return_value=disturbance.machine or name)
        with machine, _clock(disturbance.clock), _descriptors(disturbance.descriptors):
            said = _said(project, work, query, evaluation)
        connection.send(said)
        if not keeps_open:
            project.close()
    project.close()


def _said(project: Project, work: Work, query: str, evaluation: int | None) -> _Said:
    """Work, and say how it ended."""
    from weir.errors import BusyError
    from weir.expected_errors import as_user_error

    try:
        return _work(project, work, query, evaluation), False, False
    except BusyError as error:
        return (str(error),), True, False
    except BaseException as error:  # noqa: BLE001 - a panic of Rust is no Exception
        expected = as_user_error(error) if isinstance(error, Exception) else None
        text = f"{type(error).__name__}: {error}" if expected is None else str(expected)
        return (text[:1000],), False, expected is None


def _work(project: Project, work: Work, query: str, evaluation: int | None) -> tuple[str, ...]:
    """Do what is asked; the errors of single queries, which do not keep others from going on.

    Of `status` and `audit` it is what they say.
    """
    from weir.audit.checked import table_of
    from weir.audit.repair import repair_lake
    from weir.audit.stage import examined
    from weir.cli import main
    from weir.compact.stage import compact_lake
    from weir.status.status import Status

    match work:
        case "compact":
            compact_lake(project, "compact")
            return ()
        case "drop":
            code = main(
                ["--config", str(project.settings.project / "weir.toml"), "drop", query, "--yes"]
            )
            # 2: it has no tables.
            return () if code in (0, 2) else (f"weir drop: exit code {code}",)
        case "audit":
            failed = examined(project, "audit", full=query == FULL).failed
            return tuple(f"{table_of(failure)}: {failure.failure}" for failure in failed)
        case "repair":
            repair_lake(project, "repair")
            return ()
        case "refresh":
            return tuple(map(str, _refresh(project, evaluation or 0)))
        case "status":
            return (json.dumps(Status.of(project).to_json(), default=str),)
    errors: list[WeirError] = []
    stages = [*_STAGES]
    if evaluation is not None:
        # In the order of `weir run --refresh`.
        stages[2:2] = ["refresh", *_STAGES[:2]]
    for name in stages:
        if name == "refresh":
            errors += _refresh(project, evaluation or 0)
        elif name == "ingest":
            if errors_of_stage := _stage(project, name):
                return tuple(map(str, [*errors, *errors_of_stage]))
        else:
            errors += _stage(project, name)
    return tuple(dict.fromkeys(map(str, errors)))


def _stage(project: Project, name: str) -> list[WeirError]:
    """Run a stage; the errors of single queries, and of the stage unless it is ingest."""
    from tests.support.stages import STAGES
    from weir.errors import BusyError, WeirError

    try:
        result = STAGES[name](project, name)
    except BusyError:
        raise
    except WeirError as error:
        if name == "ingest":
            raise
        return [error]
    return [*getattr(result, "errors", ())]


def _refresh(project: Project, evaluation: int) -> list[WeirError]:
    """Ask remotes at an evaluation, on a clock that stands still but where the run waits."""
    from weir.errors import BusyError
    from weir.refresh.stage import Surroundings, refresh_remotes
    from weir.remotes.evaluation import Clock as RefreshClock

    now = datetime.fromtimestamp(WRITTEN_AT + evaluation * SECONDS_BETWEEN, UTC)
    around = Surroundings(clock=RefreshClock(lambda: now, lambda _: None))
    result = refresh_remotes(project, "refresh", surroundings=around)
    for error in result.errors:
        if isinstance(error, BusyError):
            raise error
    return [*result.errors]


def _observe_checkpoints(reached: int, left: dict[signal.Signals, int | None]) -> None:
    """Note each checkpoint in a file; die, or stop, at the one after those that are `left`."""
    original = commit.checkpoint

    def observed(name: str) -> None:
        os.pwrite(reached, f"{name:100}".encode(), 0)
        for sent, count in left.items():
            if count == 0:
                os.kill(os.getpid(), sent)
            left[sent] = None if count is None else count - 1

    for module in [*sys.modules.values()]:
        if vars(module).get("checkpoint") is original:
            module.checkpoint = observed  # type: ignore[attr-defined]


@contextmanager
def _clock(clock: Clock) -> Iterator[None]:
    """A context in which Weir's code reads a clock that is wrong."""
    if clock == Clock():
        yield
        return
    real, began = time.time, time.monotonic()

    def offset() -> float:
        return clock.offset(time.monotonic() - began)

    class AnyTime(type):
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, datetime)

    class Wrong(datetime, metaclass=AnyTime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + timedelta(seconds=offset())

    ours = [
        module
        for name, module in [*sys.modules.items()]
        if name.partition(".")[0] == "weir" and vars(module).get("datetime") is datetime
    ]
    time.time = lambda: real() + offset()
    for module in ours:
        module.datetime = Wrong  # type: ignore[attr-defined]
    try:
        yield
    finally:
        time.time = real
        for module in ours:
            module.datetime = datetime  # type: ignore[attr-defined]


@contextmanager
def _descriptors(count: int | None) -> Iterator[None]:
    """A context in which only so many further files can be opened."""
    if count is None:
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(int(entry.name) for entry in Path("/proc/self/fd").iterdir())
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 1 + count, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
