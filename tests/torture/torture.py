"""Lives of projects under faults, each beside an undisturbed project with the same inputs."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count as natural_numbers
from pathlib import Path

from tests.support.damage import data_files, flip_a_bit
from tests.support.oxigraph_endpoint import OxigraphEndpoint
from tests.support.projects.project import Project
from tests.torture.checks import Claim, claims, differences, wrong_answers
from tests.torture.faults import Fault, Tally
from tests.torture.life import (
    Features,
    Step,
    Work,
    apply,
    broken_queries,
    declare,
    last_step,
    registered,
    steps,
)
from tests.torture.worker import FULL, Clock, Disturbance, Ended, Hangs, Worker
from weir.project import open_lake

_STEPS, _STEPS_WITH_SPARK = 16, 5
"""Steps of a life."""
_MOST_FAULTS, _MOST_FAULTS_WITH_SPARK = 7, 2
"""Faults of a step, one after the other, before a run is left in peace."""
_MOST_FREE = 400_000
"""Bytes that a full disk has left at most."""
_WITH_SPARK = 16
"""Of so many lives, one consolidates its logs, and one has a foreign table."""
_FIRST_GUESS = 4.0
"""Seconds that work takes, before any is known."""


class Failed(Exception):  # noqa: N818  (named after what is wrong)
    """Something was lost, wrong, or did not go on."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__("\n  ".join([f"{len(lines)} differences:", *lines[:12]]))
        self.lines = lines


@dataclass
class Torture:
    """Lives of projects, one after the other.

    Attributes:
        folder: where the projects are.
        seed: of all that is random but for the speed of the machine.
        report: receives what happens, line by line.
        can_fill_disk: whether `folder` is a small file system of its own.
        spark: whether there are lives that need Spark.
        tally: what happened so far.
    """

    folder: Path
    seed: int
    report: Callable[[str], None]
    can_fill_disk: bool
    spark: bool
    tally: Tally = field(default_factory=Tally)
    _seconds: dict[tuple[Work, bool], float] = field(default_factory=dict)

    def took(self, work: Work, features: Features, seconds: float) -> None:
        """Note how long work took that nothing disturbed."""
        known = self.typical(work, features)
        self._seconds[work, features.needs_spark] = 0.7 * known + 0.3 * seconds

    def typical(self, work: Work, features: Features) -> float:
        """How long work takes, about, in seconds."""
        return self._seconds.get((work, features.needs_spark), _FIRST_GUESS)

    def live(self, number: int, is_over: Callable[[], bool]) -> bool:
        """Live one life, or the start of it; returns whether nothing was lost.

        Args:
            number: of the life: with the seed, it gives inputs and faults.
            is_over: whether it shall end after the present step.
        """
        features = Features(
            stream=number % 3 == 2,
            remote=number % 2 == 1,
            foreign=self.spark and number % _WITH_SPARK == 4,
            consolidated=self.spark and number % _WITH_SPARK == 9,
        )
        with OxigraphEndpoint() as remote:
            return self._live(number, features, remote, is_over)

    def _live(
        self,
        number: int,
        features: Features,
        remote: OxigraphEndpoint,
        is_over: Callable[[], bool],
    ) -> bool:
        folder = self.folder / f"life{number}"
        folder.mkdir()
        chance = random.Random(f"{self.seed}/{number} faults")
        life = _Life(self, folder, features, chance, remote)
        self.report(f"life {number}: {features}")
        try:
            count = _STEPS_WITH_SPARK if features.needs_spark else _STEPS
            for at, step in enumerate(steps(f"{self.seed}/{number}", features, count)):
                life.take(at, step)
                if is_over():
                    break
            life.end(last_step(step))
        except (Failed, Hangs) as error:
            kept = folder.parent / f"failed-{self.seed}-{number}"
            self.report(f"FAILED in life {number} (seed {self.seed}), kept in {kept}: {error}")
            shutil.copytree(folder, kept)
            return False
        finally:
            life.close()
            shutil.rmtree(folder)
        return True


class _Life:
    """A project under faults, and one without."""

    def __init__(
        self,
        torture: Torture,
        folder: Path,
        features: Features,
        chance: random.Random,
        remote: OxigraphEndpoint,
    ) -> None:
        self._torture, self._chance, self._tally = torture, chance, torture.tally
        self._features, self._remote = features, remote
        self._broken, self._whole = (Project(folder / name) for name in ("broken", "whole"))
        declare((self._whole, self._broken), features, remote)
        self._undisturbed = Worker(self._whole.folder, keeps_open=True)
        self._resident: Worker | None = None
        self._offset = 0.0
        self._open: dict[Claim, Fault] = {}
        self._faults: list[Fault] = []
        self._evaluation: int | None = None
        self._corrected: set[str] = set()
        self._at = 0

    def take(self, at: int, step: Step) -> None:
        """Let inputs arrive, disturb runs, run in peace, and compare.

        Raises:
            Failed: something was lost or wrong.
            Hangs: a process did not end.
        """
        self._at = at
        self._begin(step)
        if step.work == "drop":
            self._drop(step)
        if step.work == "repair":
            self._repair(step)
        most = _MOST_FAULTS_WITH_SPARK if self._features.needs_spark else _MOST_FAULTS
        for _ in range(self._chance.randint(1, most)):
            self._disturb(step)
        self._in_peace("run", step)
        self._end_faults(self._wrong(step))

    def end(self, step: Step) -> None:
        """Run everything once more, so that every claim of a killed process is met.

        Raises:
            Failed: something is lost or wrong, or a claim is still open.
        """
        self._begin(step)
        self._in_peace("run", step)
        self._in_peace("compact", step)
        self._in_peace("audit", step)
        self._end_faults(self._wrong(step))
        still_open, abandoned = claims(self._broken)
        for claim, fault in self._open.items():
            self._tally.detected[fault] += claim in abandoned
        if still_open:
            raise Failed([f"{job} {number}: still claimed" for job, number in sorted(still_open)])

    def close(self) -> None:
        """End all processes."""
        self._undisturbed.close()
        if self._resident is not None:
            self._resident.close()

    def _begin(self, step: Step) -> None:
        """Let inputs arrive, and have the undisturbed project take them."""
        self._faults = []
        self._evaluation = step.evaluation if self._features.remote else None
        apply(step, (self._whole, self._broken), self._remote)
        self._run_whole(step)

    def _run_whole(self, step: Step) -> None:
        works: list[tuple[Work, str]] = [("run", "")]
        if step.work == "drop":
            works.insert(0, ("drop", step.query))
        for work, query in works:
            self._undisturbed.begin(work, query, evaluation=self._evaluation)
            ended = self._undisturbed.end()
            if ended.killed or ended.busy or self._unexpected(ended):
                raise Failed([f"the undisturbed project: {ended}"])

    def _end_faults(self, lines: list[str]) -> None:
        if lines:
            for fault in self._faults:
                self._tally.lost[fault] += len(lines)
            faults = ", ".join(self._faults)
            raise Failed([*lines, f"after step {self._at}: {faults}"])
        for fault in self._faults:
            self._tally.recovered[fault] += 1

    def _drop(self, step: Step) -> None:
        """Kill a `weir drop`; answers stay right if it is not repeated, and it can be repeated."""
        with self._worker(self._clock()) as worker:
            limit = (
                0.2
                if self._chance.random() < 0.5
                else self._torture.typical("drop", self._features)
            )
            worker.begin("drop", step.query, self._disturbance())
            ended = worker.kill_after(self._chance.uniform(0, limit))
            self._note(Fault.KILL_DROP, ended)
        if ended.killed and self._chance.random() < 0.5:
            self._in_peace("run", step)
            self._end_faults([*wrong_answers(self._broken, step)])
            self._faults = []
        self._in_peace("drop", step)

    def _repair(self, step: Step) -> None:
        """Damage a table of a query, and kill a `weir repair` of it before one is left in peace."""
        if step.query not in registered(self._broken):
            # Nothing corrects the answer of a query that cannot be computed now.
            return
        lake = open_lake(self._broken.settings)
        tables = [f"{kind}/{step.query}" for kind in ("answers", "embeddings")]
        table = self._chance.choice(tables)
        if not all(map(lake.exists, tables)) or not (files := data_files(lake, table)):
            return
        self._torture.report(f"  step {self._at}: a repair of {table}")
        flip_a_bit(self._chance.choice(files), self._chance)
        if table.startswith("answers/"):
            self._corrected.add(step.query)
        # What a process keeps open was verified when it was read.
        self._close_resident()
        while self._chance.random() < 0.6:
            with self._worker(self._clock()) as worker:
                worker.begin("repair", "", self._disturbance())
                ended = worker.kill_after(self._moment("repair"))
            self._note(Fault.KILL_REPAIR, ended)
        self._in_peace("repair", step)

    def _disturb(self, step: Step) -> None:
        """Do one thing to the project."""
        if step.work == "compact" and self._chance.random() < 0.6:
            fault = self._chance.choice((Fault.KILL_COMPACTION, Fault.RUN_AND_COMPACTION))
        else:
            kinds = {
                Fault.KILL: 16,
                Fault.KILL_AT_COMMIT: 6,
                Fault.TWO_RUNS: 1,
                Fault.INTERRUPT: 1,
                Fault.CLOCK: 1,
                Fault.DAY: 1,
                Fault.KILL_AUDIT: 1,
                Fault.RUN_AND_AUDIT: 1,
                # A remote that could not be asked then is asked at its next evaluation.
                Fault.DISK_FULL: self._torture.can_fill_disk and not self._features.remote,
                Fault.NO_DESCRIPTORS: not self._features.remote,
            }
            (fault,) = self._chance.choices([*kinds], [*kinds.values()])
        self._torture.report(f"  step {self._at}: {fault}")
        match fault:
            case Fault.TWO_RUNS:
                self._two_at_once("run", fault)
            case Fault.RUN_AND_COMPACTION:
                self._two_at_once("compact", fault)
            case Fault.RUN_AND_AUDIT:
                self._two_at_once("audit", fault)
            case Fault.DISK_FULL:
                with self._full_disk():
                    ended = self._one("run", self._disturbance())
                self._assess(fault, ended, step)
            case Fault.NO_DESCRIPTORS:
                ended = self._one("run", self._disturbance(descriptors=self._chance.randint(0, 40)))
                self._assess(fault, ended, step)
            case Fault.CLOCK | Fault.DAY:
                self._assess(fault, self._set_clock(fault), step)
            case Fault.INTERRUPT:
                with self._worker(self._clock(), is_new=True) as worker:
                    worker.begin("run", "", self._disturbance(), self._evaluation)
                    ended = worker.interrupt_after(self._moment("run"))
                self._assess(fault, ended, step)
            case Fault.KILL_AT_COMMIT:
                passed = self._chance.randint(0, 24)
                ended = self._one("run", self._disturbance(dies_after=passed))
                self._note(fault, ended)
            case _:
                works: dict[Fault, Work] = {
                    Fault.KILL_COMPACTION: "compact",
                    Fault.KILL_AUDIT: "audit",
                }
                work = works.get(fault, "run")
                with self._worker(self._clock()) as worker:
                    worker.begin(work, FULL, self._disturbance(), self._evaluation)
                    ended = worker.kill_after(self._moment(work))
                self._note(fault, ended)

    def _two_at_once(self, other: Work, fault: Fault) -> None:
        """Two processes; one of them may be killed."""
        self._close_resident()
        clock = self._clock()
        one, two = (Worker(self._broken.folder, keeps_open=False) for _ in range(2))
        try:
            with self._times_of(clock):
                one.begin("run", "", Disturbance(clock), self._evaluation)
                two.begin(other, "", Disturbance(clock), self._evaluation)
                is_killed = self._chance.random() < 0.5
                first = one.kill_after(self._moment("run")) if is_killed else None
                second = two.end()
                first = first or one.end()
        finally:
            one.close()
            two.close()
        self._note(Fault.KILL_OF_TWO, first)
        for end in (first, second):
            if not end.busy and (wrong := self._unexpected(end)):
                raise Failed([f"{fault}: {line}" for line in wrong])
        is_busy = first.busy or second.busy
        self._count(fault, effective=is_busy, detected=is_busy)

    def _set_clock(self, fault: Fault) -> Ended:
        before = self._offset
        seconds = 86_400.0 if fault is Fault.DAY else 10 ** self._chance.uniform(0, 6)
        after = self._chance.choice((0.0, seconds, -seconds))
        ended = self._one("run", Disturbance(Clock(before, after, self._moment("run"))))
        self._offset = after
        return ended

    def _assess(self, fault: Fault, ended: Ended, step: Step) -> None:
        """What a run under a fault says of itself must be true."""
        has_failed = ended.killed or bool(self._unexpected(ended))
        effective = has_failed or fault in (Fault.CLOCK, Fault.DAY)
        if has_failed:
            self._torture.report(f"    it failed: {' '.join(ended.errors)[:200]}")
        self._count(fault, effective=effective, detected=has_failed)
        if not has_failed and (lines := self._wrong(step)):
            self._end_faults([f"{fault}, and the run said that all was well", *lines])

    def _note(self, fault: Fault, ended: Ended) -> None:
        """Note a kill, if the process was still at work."""
        if not ended.killed:
            return
        self._tally.killed_at[ended.reached] += 1
        left = claims(self._broken)[0] - self._open.keys()
        self._open |= dict.fromkeys(left, fault)
        self._count(fault, effective=bool(left), detected=False)

    def _count(self, fault: Fault, *, effective: bool, detected: bool) -> None:
        self._faults.append(fault)
        self._tally.injected[fault] += 1
        self._tally.effective[fault] += effective
        self._tally.detected[fault] += detected

    def _in_peace(self, work: Work, step: Step) -> None:
        """Work without a fault, after which all is done.

        Raises:
            Failed: it was not done.
        """
        query = {"drop": step.query, "audit": FULL}.get(work, "")
        ended = self._one(work, self._disturbance(), query)
        if ended.busy and self._resident is not None:
            # A process that lives and could not record the end of its run does so in its next one.
            self._resident.begin("run", "", self._disturbance(), self._evaluation)
            self._ended(self._resident.end())
            ended = self._one(work, self._disturbance(), query)
        if ended.killed or ended.busy or self._unexpected(ended):
            raise Failed([f"{work} in peace after {', '.join(self._faults)}: {ended}"])
        self._torture.took(work, self._features, ended.seconds)

    def _one(self, work: Work, disturbance: Disturbance, query: str = "") -> Ended:
        with self._worker(disturbance.clock) as worker:
            worker.begin(work, query, disturbance, self._evaluation)
            return self._ended(worker.end())

    def _ended(self, ended: Ended) -> Ended:
        """What ends a process ends it."""
        if ended.fatal or ended.killed:
            self._close_resident()
        return ended

    def _unexpected(self, ended: Ended) -> list[str]:
        """The errors other than those about queries whose text is nonsense."""
        broken = len(broken_queries(self._broken))
        noun = "query" if broken == 1 else "queries"
        return [e for e in ended.errors if not e.startswith(f"{broken} {noun} could not be")]

    def _wrong(self, step: Step) -> list[str]:
        wrong = wrong_answers(self._broken, step)
        return [*wrong, *differences(self._broken, self._whole, self._corrected)]

    @contextmanager
    def _worker(self, clock: Clock, *, is_new: bool = False) -> Iterator[Worker]:
        """A process; mostly the one that worked before, if it lives."""
        if self._resident is not None and not self._resident.is_alive:
            self._close_resident()
        with self._times_of(clock):
            if is_new or self._chance.random() < 0.3:
                worker = Worker(self._broken.folder, keeps_open=False)
                try:
                    yield worker
                finally:
                    worker.close()
                return
            if self._resident is None:
                self._resident = Worker(self._broken.folder, keeps_open=True)
            yield self._resident

    def _close_resident(self) -> None:
        if self._resident is not None:
            self._resident.close()
            self._resident = None

    def _disturbance(
        self, *, descriptors: int | None = None, dies_after: int | None = None
    ) -> Disturbance:
        return Disturbance(self._clock(), descriptors, dies_after)

    def _clock(self) -> Clock:
        return Clock(self._offset, self._offset)

    def _moment(self, work: Work) -> float:
        """A moment of the work, seconds from its start."""
        return self._chance.uniform(0, 1.05 * self._torture.typical(work, self._features))

    @contextmanager
    def _full_disk(self) -> Iterator[None]:
        """A context in which the file system has little space left."""
        ballast = self._torture.folder / "ballast"
        left = self._chance.randint(0, _MOST_FREE)
        space = os.statvfs(self._torture.folder)
        size = max(0, space.f_bavail * space.f_frsize - left)
        with ballast.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, size)
        try:
            yield
        finally:
            ballast.unlink()

    @contextmanager
    def _times_of(self, clock: Clock) -> Iterator[None]:
        """A context after which the files that were written in it have the times of a clock."""
        if clock == Clock():
            yield
            return
        before, started = self._times(), time.time()
        yield
        for file, written in self._times().items():
            if before.get(file) != written:
                offset = clock.offset(written / 1e9 - started)
                os.utime(file, ns=(written, written + int(offset * 1e9)))

    def _times(self) -> dict[Path, int]:
        lake = self._broken.folder / "lake"
        return {file: file.stat().st_mtime_ns for file in lake.rglob("*") if file.is_file()}


def run(torture: Torture, kills: int, seconds: float, first: int) -> bool:
    """Live until so many processes were killed, or so long; returns whether nothing was lost."""
    ends = time.monotonic() + seconds

    def is_over() -> bool:
        return torture.tally.kills >= kills or time.monotonic() > ends

    good = True
    for number in natural_numbers(first):
        good &= torture.live(number, is_over)
        torture.report(f"{torture.tally.kills} kills")
        if is_over():
            return good
    return good
