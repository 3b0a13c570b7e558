"""Attacks by time: runs that go on after they lost their claim, and many processes at once.

    python -m tests.torture.side_by_side --zombies 20 --rounds 10 --seed 1

A project lives for some steps, with streams, a program, a remote and edited queries; the inputs of
another step have arrived.

A *zombie* is a run of another machine that is stopped (SIGSTOP) at a random commit or moment, for
longer than its lease. A run of this machine does the work; then the zombie goes on. It must write
to no table but the ledger, and the project must have the epochs and the logs of one that nothing
disturbed.

In a *round* four runs, compaction, an audit and a refresh start at once, while the clock jumps by a
day, forwards or back. Each ends, or says who is at work. After one more step the project must have
the state of the inputs, the answers of pyoxigraph and the sums of an undisturbed project's logs,
and pass a full audit.

Exits with 1 if anything was lost, wrong, or written by a zombie.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count as natural_numbers
from pathlib import Path

from tests.torture.checks import differences, other_sums, wrong_answers
from tests.torture.life import Work, apply, last_step
from tests.torture.lived import Lived, in_peace, lived, once, unexpected
from tests.torture.worker import FULL, Clock, Disturbance, Worker

_DAY = 86_400.0
LEASE = 2
"""Seconds for which a run of another machine counts as alive."""
_COMMITS = 45
"""A zombie stops after at most so many checkpoints, which is about what a run has."""
_AT_ONCE: tuple[Work, ...] = ("run", "run", "run", "run", "compact", "audit", "refresh")


What = tuple[str, list[str]]
"""What happened, and what is wrong."""
Attack = Callable[[Lived, Path, random.Random], What | None]
"""None: the moment at which it attacks did not come."""


def zombie(life: Lived, folder: Path, chance: random.Random) -> What | None:
    """Attack by a zombie, if it stops before its work has ended."""
    project = life.copied(folder)
    worker = Worker(project.folder, keeps_open=False)
    try:
        at_commit = chance.random() < 0.7
        elsewhere = Disturbance(
            machine="elsewhere", stops_after=chance.randrange(_COMMITS) if at_commit else None
        )
        worker.begin("run", "", elsewhere, life.step.evaluation)
        is_stopped = worker.stopped() if at_commit else worker.stop_after(chance.uniform(0, 4))
        if not is_stopped:
            return None
        reached = worker.reached
        # Its lease ends.
        time.sleep(LEASE + 1)
        ran = once(project, "run", life.step)
        wrong = ["the run after it: another is at work"] if ran.busy else unexpected(project, ran)
        before = project.versions()
        worker.go_on()
        ended = worker.end()
    finally:
        worker.close()
    after = project.versions()
    wrong += [
        f"it wrote to {name}: version {before.get(name)}, then {after[name]}"
        for name in after
        if before.get(name) != after[name]
    ]
    if not ended.busy:
        wrong += unexpected(project, ended)
    wrong += [*differences(project, life.twin), *wrong_answers(project, life.step)]
    came = "it was refused" if ended.busy else "it had nothing left to do"
    return f"stopped at {reached or 'its start'}: {came}", wrong


def at_once(life: Lived, folder: Path, chance: random.Random) -> What:
    """A round of processes at once."""
    project, twin = life.copied(folder / "project"), life.twin.copy(folder / "twin")
    jump = chance.choice((_DAY, -_DAY))
    clock = Clock(0.0, jump, chance.uniform(0, 6))
    workers = [Worker(project.folder, keeps_open=False) for _ in _AT_ONCE]
    try:
        for worker, work in zip(workers, _AT_ONCE, strict=True):
            worker.begin(work, "", Disturbance(clock), life.step.evaluation)
        ended = [worker.end() for worker in workers]
    finally:
        for worker in workers:
            worker.close()
    wrong = [
        f"{work}: {line}"
        for work, end in zip(_AT_ONCE, ended, strict=True)
        for line in (["it was killed"] if end.killed else unexpected(project, end))
        if not end.busy
    ]
    step = last_step(life.step)
    apply(step, (project, twin), life.remote)
    for side in (project, twin):
        in_peace(side, "run", step)
    wrong += [*wrong_answers(project, step), *other_sums(project, twin)]
    audited = Worker(project.folder, keeps_open=False)
    try:
        audited.begin("audit", FULL)
        wrong += [f"audit: {line}" for line in audited.end().errors]
    finally:
        audited.close()
    busy = sum(end.busy for end in ended)
    return f"the clock by {jump:+.0f} s; {busy} of {len(ended)} found another at work", wrong


def attacks(
    folder: Path,
    seed: int,
    counts: dict[Attack, int],
    report: Callable[[str], None],
    keep: Path | None,
) -> Iterator[tuple[str, bool]]:
    """Attack copies of one life; yields each attack's name and whether nothing was wrong."""
    with ExitStack() as stack:
        report("a life")
        life = stack.enter_context(lived(folder, f"{seed}/side by side", lease_seconds=LEASE))
        for attack, count in counts.items():
            done = 0
            for number in natural_numbers():
                if done == count:
                    break
                name = f"{attack.__name__} {number}"
                copies = folder / name.replace(" ", "-")
                copies.mkdir()
                came = attack(life, copies / "copy", random.Random(f"{seed}/{name}"))
                what, wrong = came or ("", [])
                if wrong and keep is not None:
                    shutil.copytree(copies, keep / copies.name)
                shutil.rmtree(copies)
                if came is None:
                    continue
                report(f"  {name}: {what}")
                for line in wrong[:8]:
                    report(f"    {line[:600]}")
                if wrong:
                    report(f"FAILED: {name} (seed {seed})")
                done += 1
                yield attack.__name__, not wrong


def main() -> int:
    """Attack; returns 1 if anything was wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.torture.side_by_side",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--zombies", type=int, default=0, help="runs that go on (%(default)s)")
    parser.add_argument("--rounds", type=int, default=0, help="of processes (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of all that is random (%(default)s)")
    parser.add_argument("--keep", type=Path, help="where what failed is kept (default: nowhere)")
    options = parser.parse_args()
    started = time.monotonic()

    def report(line: str) -> None:
        print(f"{time.monotonic() - started:6.0f} s  {line}", flush=True)

    done: Counter[str] = Counter()
    good: Counter[str] = Counter()
    counts: dict[Attack, int] = {zombie: options.zombies, at_once: options.rounds}
    with tempfile.TemporaryDirectory(prefix="weir-torture-") as folder:
        for name, is_good in attacks(Path(folder), options.seed, counts, report, options.keep):
            done[name] += 1
            good[name] += is_good
    for name, count in done.items():
        print(f"{name}: {good[name]} of {count} without a fault (seed {options.seed})")
    return 0 if good == done else 1


if __name__ == "__main__":
    sys.exit(main())
