"""Machines that share a lake in an object store, their clocks apart, and die and stand still.

Each has a name, a project folder, a mirror of the store and a clock of its own. What they leave is
what one machine leaves that nothing disturbed.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench.object_store import Store
from tests.end_to_end.test_object_store import QUERIES, project_in, states, weir
from tests.support.lanes import OPTION
from tests.support.projects.project import PATCHES, Project
from tests.torture.worker import Clock, Disturbance, Ended, Worker
from weir.errors import EXIT_BUSY

CLOCKS = {"north": 0.0, "south": -600.0, "west": 400.0}
"""By how many seconds the clock of each machine is wrong; a store refuses more than 900."""
LEASE = 2
STEPS = 5
CHECKPOINTS = 45
"""About as many as a run has."""
PEOPLE = "abcdef"


@pytest.mark.law("machines")
def test_machines_that_share_a_store_lose_nothing_and_repeat_nothing(
    object_store: Store, tmp_path: Path, seeds: Iterable[int], request: pytest.FixtureRequest
) -> None:
    if request.config.getoption(OPTION) == "rest":
        pytest.skip("half a minute a case, mostly of waiting: for `make deep`")
    for seed in seeds:
        chance = random.Random(f"machines {seed}")
        shared = Shared(tmp_path / str(seed), object_store, chance)
        for _ in range(STEPS):
            shared.arrive()
            shared.work()
        shared.check()


@dataclass
class Shared:
    """A lake in a store, the changes that arrive for it, and a project on each machine.

    Attributes:
        folder: of the projects.
        store: has the lake.
        chance: makes every random choice.
    """

    folder: Path
    store: Store
    chance: random.Random

    def __post_init__(self) -> None:
        self.changes = self.folder / "changes"
        self.changes.mkdir(parents=True)
        address, source = self.store.empty(), PATCHES | {"location": str(self.changes)}
        self.projects = {
            name: project_in(self.folder / name, address, self.store, source, lease_seconds=LEASE)
            for name in CLOCKS
        }
        self.undisturbed = Project(self.folder / "undisturbed").declare(source)
        for name, text in QUERIES.items():
            self.undisturbed.query(name, text)
        self.graph = set[str]()

    def arrive(self) -> None:
        """One or two change sets arrive."""
        for _ in range(self.chance.choice((1, 2))):
            lines = []
            for _ in range(self.chance.randint(1, 4)):
                subject, other = self.chance.choice(PEOPLE), self.chance.choice(PEOPLE)
                name = f'<urn:{subject}> <urn:name> "{other}"'
                statement = self.chance.choice((f"<urn:{subject}> <urn:knows> <urn:{other}>", name))
                lines.append(f"{'D' if statement in self.graph else 'A'} {statement} .")
                self.graph ^= {statement}
            number = len([*self.changes.iterdir()]) + 1
            text = "\n".join(("TX .", *lines, "TC .", ""))
            (self.changes / f"{number:04}.rdfp").write_text(text)

    def work(self) -> None:
        """Two machines run at once; one of them may die, or stand still beyond its lease."""
        one, other = self.chance.sample([*CLOCKS], 2)
        fate = self.chance.choice(("lives", "dies", "stands still"))
        after = self.chance.randrange(CHECKPOINTS)
        disturbed = Disturbance(
            Clock(CLOCKS[one], CLOCKS[one]),
            dies_after=after if fate == "dies" else None,
            stops_after=after if fate == "stands still" else None,
            machine=one,
        )
        with ExitStack() as workers:
            first = workers.enter_context(working(self.projects[one], disturbed))
            if fate == "stands still" and first.stopped():
                time.sleep(LEASE + 1)
            second = workers.enter_context(working(self.projects[other], named(other)))
            self._well(other, second.end())
            if fate == "stands still":
                first.go_on()
            ended = first.end()
            if fate != "dies":
                self._well(one, ended)

    def _well(self, machine: str, ended: Ended) -> None:
        assert ended.busy or ended.succeeded, (machine, ended)

    def check(self) -> None:
        """The answers are those of a project that nothing disturbed, and an audit finds nothing."""
        deadline = time.monotonic() + 120
        while (done := weir(self.projects["north"], "run")).returncode == EXIT_BUSY:
            assert time.monotonic() < deadline
        assert done.returncode == 0, done.stderr
        self.undisturbed.run()
        expected: dict[str, Counter[tuple[str, ...]]] = states(self.undisturbed)
        assert states(self.projects["south"]) == expected
        epochs = [row["epoch"] for row in self.projects["west"].table("transactions")]
        assert len(epochs) == len(set(epochs)) == len([*self.changes.iterdir()])
        audited = weir(self.projects["west"], "audit", "--full")
        assert audited.returncode == 0, audited.stdout


def named(machine: str) -> Disturbance:
    """Nothing is wrong with a machine but its clock."""
    return Disturbance(Clock(CLOCKS[machine], CLOCKS[machine]), machine=machine)


@contextmanager
def working(project: Project, disturbance: Disturbance) -> Iterator[Worker]:
    """A process that runs on a project."""
    worker = Worker(project.folder, keeps_open=False)
    try:
        worker.begin("run", "", disturbance)
        yield worker
    finally:
        worker.close()
