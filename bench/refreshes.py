"""A remote that is evaluated every minute for a week: what an evaluation costs after all before it.

The remote is a table in this process and the clock is simulated, so that only Weir's own work is
measured: reading the tables, ranking, reserving and settling, and the commits.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from statistics import median

import yaml

from bench.places import WORK, Project, project
from bench.results import Scenario, Target, Timing, machine
from weir.compact.stage import delete_commits
from weir.ingest.stage import ingest_changes
from weir.lake.tables import LEDGER_SUMMARY, REPLICA_SUMMARIES, REPLICAS, SHARED_TABLES
from weir.lake.upkeep.maintenance import compact_files
from weir.maintain.stage import maintain_queries
from weir.project import Project as OpenProject
from weir.publish.stage import publish_answers
from weir.refresh.stage import Surroundings, refresh_remotes
from weir.remotes.asking import Fetch, Fetched
from weir.remotes.budget import Amount
from weir.remotes.declarations import Remote
from weir.remotes.evaluation import Clock
from weir.remotes.questions import Solution
from weir.remotes.replica_inbox import inbox_names
from weir.settings import Settings
from weir.validate.stage import validate_answers

FULL_EVALUATIONS = 10_080
KEYS, BUDGET, STEADY = 100, 20, 5
"""Keys of the remote, keys of an evaluation, minutes between two changes of the remote."""
INGESTED, PUBLISHED, COMPACTED = 10, 60, 1_440
"""Evaluations between two runs of ingest and maintain, of validate and publish, and of merging
small files and deleting commits, which `compact_lake` does once a day."""
MEASURED = 50
"""Evaluations around one that counts."""
AIM, ANSWER_AIM = 1.5, 15.0
_IRI = "http://remote.example/sparql"
_CITY, _POPULATION = "http://bench.example/city", "http://bench.example/population"
_START = datetime(2026, 1, 1, tzinfo=UTC)
_KEY = re.compile(r"\((<[^>]*>)\)")
_Stage = Callable[[OpenProject, str], object]
_STAGES: tuple[_Stage, ...] = (ingest_changes, maintain_queries, validate_answers, publish_answers)


@dataclass(slots=True)
class _World:
    """A remote in this process, and the time.

    Attributes:
        values: the number of each key.
        now: the time; it goes on by what requests take.
        random: what changes when.
    """

    values: dict[str, int]
    now: datetime = _START
    random: random.Random = field(default_factory=lambda: random.Random(1))

    def surroundings(self) -> Surroundings:
        """What a refresh takes from outside."""
        return Surroundings(clock=Clock(lambda: self.now, self._sleep), open=self._open)

    def change(self) -> None:
        """Give a key another number."""
        self.values[self.random.choice([*self.values])] += 1

    def _sleep(self, wait: timedelta) -> None:
        self.now += max(wait, timedelta())

    def _open(self, remote: Remote, sent: Sequence[datetime]) -> Fetch:
        del remote, sent
        return self._fetch

    def _fetch(self, query: str, most: Amount, bindings: int) -> Fetched:
        number = '"{}"^^<http://www.w3.org/2001/XMLSchema#integer>'
        solutions: list[Solution] = [
            {"city": key, "n": number.format(self.values[key])}
            for key in _KEY.findall(query)
            if key in self.values
        ]
        started_at, took = self.now, Amount(1, most.keys, 200 * len(solutions), 0.2)
        self.now += timedelta(seconds=took.seconds)
        return Fetched(solutions[:bindings], took, started_at, peer="127.0.0.1")


@dataclass(frozen=True, slots=True)
class _Seen:
    """An evaluation: its number, seconds of the clock, seconds of the processor."""

    number: int
    seconds: float
    processor: float


@dataclass(slots=True)
class Refreshes:
    """The scenario: so many evaluations of a remote, one a minute.

    Args:
        evaluations: how many.
        progress: receives a line now and then.
    """

    evaluations: int
    progress: Callable[[str], None]

    def run(self) -> Scenario:
        """Evaluations around the hundredth, and at the end, with some in between."""
        keys = [f"<http://bench.example/c{number}>" for number in range(KEYS)]
        world = _World({key: number for number, key in enumerate(keys)})
        made = _project(keys)
        points = [
            p
            for p in (100, 500, 1_000, 2_500, 5_000)
            if p + MEASURED // 2 < self.evaluations - MEASURED
        ]
        cold: list[_Seen] = []
        warm: list[_Seen] = []
        with OpenProject(_settings(made)) as kept:
            _run(kept, _STAGES)
            for number in range(1, self.evaluations + 1):
                if number % 250 == 0:
                    self.progress(f"refreshes, evaluation {number:,} of {self.evaluations:,}")
                if number % STEADY == 0:
                    world.change()
                is_measured = number > self.evaluations - MEASURED or any(
                    -MEASURED // 2 <= number - point < MEASURED // 2 for point in points
                )
                # Every second one as a process does that has just started.
                is_cold = is_measured and number % 2 == 0
                if is_cold:
                    with OpenProject(_settings(made)) as fresh:
                        seen = _evaluated(fresh, world, number)
                else:
                    seen = _evaluated(kept, world, number)
                if is_measured:
                    (cold if is_cold else warm).append(seen)
                if number % COMPACTED == 0:
                    _compact(kept)
                if number % INGESTED == 0:
                    _run(kept, _STAGES if number % PUBLISHED == 0 else _STAGES[:2])
                world.now = _START + timedelta(minutes=number)
            answer = self._to_answer(kept, world)
        last = self.evaluations - MEASURED // 2
        windows = [*points, last]
        ratio = _median(cold, last) / _median(cold, windows[0])
        return Scenario(
            name="refreshes",
            title=f"{self.evaluations:,} evaluations of a remote, one a minute, {KEYS} keys",
            sizes={"evaluations": self.evaluations, "keys": KEYS, "budget": BUDGET},
            full=self.evaluations == FULL_EVALUATIONS,
            timings=[
                *_timings("an evaluation, nothing open", "cold", cold, windows),
                *_timings("an evaluation, tables open", "warm", warm, windows),
                Timing("from refresh to the published answer", "warm", tuple(answer)),
            ],
            targets=[
                Target(
                    f"an evaluation at the end of {self.evaluations:,} / the hundredth",
                    f"<= {AIM}",
                    f"{ratio:.2f}",
                    ratio <= AIM,
                ),
                Target(
                    "from refresh to the published answer, warm",
                    f"<= {ANSWER_AIM:.0f} s",
                    f"median {median(answer):.2f} s, worst {max(answer):.2f} s",
                    median(answer) <= ANSWER_AIM,
                ),
            ],
            notes=[
                f"A key of the remote changes every {STEADY} evaluations; ingest and"
                f" maintain run after every {INGESTED}th, validate and publish after every"
                f" {PUBLISHED}th; small files are merged after every {COMPACTED:,}th, as they are"
                " once a day. The remote is in the process, and the time is simulated.",
                "Tables open: the process keeps what it opened, as `weir run --every` does. Each"
                f" figure is the median of {MEASURED // 2} evaluations around the one named.",
            ],
            machine=machine(),
            summary=[
                ("evaluation", "nothing open, s", "processor, s", "tables open, s"),
                *(
                    (
                        f"{point:,}",
                        f"{_median(cold, point):.3f}",
                        f"{_median(cold, point, 'processor'):.3f}",
                        f"{_median(warm, point):.3f}",
                    )
                    for point in windows
                ),
            ],
        )

    def _to_answer(self, kept: OpenProject, world: _World) -> list[float]:
        """Seconds from the start of an evaluation that finds a change to the published answer."""
        waits = []
        for number in range(self.evaluations + 1, self.evaluations + 11):
            for _ in range(BUDGET):
                world.change()
            world.now = _START + timedelta(minutes=number)
            start = time.perf_counter()
            _evaluated(kept, world, number)
            _run(kept, _STAGES)
            waits.append(time.perf_counter() - start)
        return waits


def _project(keys: Sequence[str]) -> Project:
    """A project whose only query joins all keys with the remote."""
    folder = WORK / "refreshes"
    made = project(
        folder,
        folder / "queries",
        {"name": "data", "kind": "patches", "location": str(folder / "patches")},
    )
    for name in ("queries", "patches"):
        (folder / name).mkdir()
    (folder / "queries" / "cities.rq").write_text(
        f"SELECT ?user ?n {{ ?user <{_CITY}> ?city"
        f" SERVICE <{_IRI}> {{ ?city <{_POPULATION}> ?n }} }}"
    )
    lines = [f"A <http://bench.example/u{n}> <{_CITY}> {key} ." for n, key in enumerate(keys)]
    (folder / "patches" / "0.rdfp").write_text("\n".join(("TX .", *lines, "TC .", "")))
    remote = {
        "name": "wd",
        "iri": _IRI,
        "every": "PT1M",
        "pause": "PT0S",
        "contact": "bench@example.org",
        "budget": {"keys": BUDGET},
    }
    (folder / "remotes.yml").write_text(yaml.safe_dump({"remotes": [remote]}))
    return made


def _settings(made: Project) -> Settings:
    return Settings.load(made.config)


def _run(project: OpenProject, stages: Sequence[_Stage]) -> None:
    for stage in stages:
        stage(project, "bench")


def _compact(project: OpenProject) -> None:
    """Merge small files and delete commits as `compact_lake` does, which needs Spark for other
    work."""
    lake = project.open_lake()
    names = [*(table.name for table in (*SHARED_TABLES, LEDGER_SUMMARY)), "embeddings/cities"]
    for remote in inbox_names(lake):
        names += [REPLICAS.name(remote), REPLICA_SUMMARIES.name(remote)]
    for name in (*names, "answers/cities"):
        compact_files(lake, name, project.settings.limits.file_bytes)
    delete_commits(lake, ())


def _evaluated(project: OpenProject, world: _World, number: int) -> _Seen:
    """Evaluate the remote once.

    Raises:
        AssertionError: there was nothing to evaluate, or it failed.
    """
    wall, processor = time.perf_counter(), time.process_time()
    result = refresh_remotes(project, "bench", surroundings=world.surroundings())
    seen = _Seen(number, time.perf_counter() - wall, time.process_time() - processor)
    (one,) = result.remotes
    assert one.mark is not None, one.error
    assert one.mark.round == number
    return seen


def _near(seen: Sequence[_Seen], point: int) -> list[_Seen]:
    return [update for update in seen if abs(update.number - point) <= MEASURED // 2]


def _median(seen: Sequence[_Seen], point: int, what: str = "seconds") -> float:
    values: list[float] = [getattr(update, what) for update in _near(seen, point)]
    return median(values)


def _timings(
    name: str, temperature: str, seen: Sequence[_Seen], windows: Sequence[int]
) -> Iterator[Timing]:
    for point in windows:
        seconds = tuple(update.seconds for update in _near(seen, point))
        yield Timing(f"{name}, around {point:,}", temperature, seconds)  # type: ignore[arg-type]
