"""Streams against a model in Python: random files in random order of arrival, random clocks."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.oracles.streams import TIME, Keys, Row, StreamModel, Triple
from tests.support.projects.project import Project
from weir.ingest import clock
from weir.lake.instants import INSTANT_0
from weir.progress.streams import Frontiers
from weir.project import open_lake

DATE_TIME = "<http://www.w3.org/2001/XMLSchema#dateTime>"
SECOND = 1_000_000
START = 1_800_000_000 * SECOND


@dataclass(frozen=True)
class Run:
    """Files that appear before a run, which is at the instant `now`."""

    now: int
    files: dict[str, list[Triple]]


def duration(microseconds: int) -> str:
    return f"PT{microseconds // SECOND}.{microseconds % SECOND:06}S"


def moment(instant: int) -> str:
    return (INSTANT_0 + timedelta(microseconds=instant)).isoformat().removesuffix("+00:00")


def declaration(keys: Keys, **others: object) -> dict[str, object]:
    stream = {
        "time": {"predicate": "urn:t"},
        "delay": duration(keys.delay),
        "lateness": duration(keys.lateness),
        "ahead": duration(keys.ahead),
    }
    if keys.idle is not None:
        stream["idle"] = duration(keys.idle)
    if keys.starts is not None:
        stream["starts"] = f"{moment(keys.starts)}Z"
    return {"name": "r", "kind": "snapshots", "location": "r", "stream": stream, **others}


def random_triples(rng: random.Random, now: int) -> list[Triple]:
    """Subjects with a time each, some with none, two, or one without a zone."""
    triples = []
    for subject in rng.sample(["<urn:a>", "<urn:b>", "<urn:c>"], rng.randrange(4)):
        values = [Triple(subject, "<urn:v>", f'"{rng.randrange(3)}"') for _ in range(2)]
        triples += values[: rng.randrange(3)]
        for _ in range(rng.choice([0, 1, 1, 1, 1, 1, 1, 2])):
            # Few instants, so that there are ties; a fraction now and then.
            instant = now + rng.randrange(-12, 3) * SECOND + rng.choice([0, 0, 1, 500_000])
            zone = rng.choice(["Z", "Z", "Z", "Z", "Z", "+00:00", "Z", ""])
            term = f'"{moment(instant)}{zone}"^^{DATE_TIME}'
            triples.append(Triple(subject, TIME, term, instant if zone else None))
    rng.shuffle(triples)
    return triples


def random_keys(rng: random.Random) -> Keys:
    return Keys(
        delay=rng.choice([0, 0, 1, 2 * SECOND]),
        lateness=rng.choice([0, 0, 3 * SECOND, 100 * SECOND]),
        ahead=rng.choice([0, SECOND, 300 * SECOND]),
        idle=rng.choice([None, 5 * SECOND]),
        starts=rng.choice([None, None, START - 3 * SECOND]),
    )


def random_runs(rng: random.Random) -> list[Run]:
    names = rng.sample([f"{number}.nt" for number in range(12)], 5)
    runs, now = [], START
    while names:
        taken = [names.pop() for _ in range(min(len(names), rng.randrange(4)))]
        runs.append(Run(now, {name: random_triples(rng, now) for name in taken}))
        now += rng.randrange(8) * SECOND
    return runs


def write(project: Project, files: dict[str, list[Triple]]) -> None:
    for name, triples in files.items():
        lines = (f"{t.subject} {t.predicate} {t.object} ." for t in triples)
        project.write(f"r/{name}", "\n".join(lines))


def stored(project: Project, table: str, *columns: str) -> list[Row]:
    lake = open_lake(project.settings)
    return project.rows(table, *columns) if lake.exists(table) else []


def contents(project: Project) -> dict[str, list[Row]]:
    """What the tables hold, in the shape of the model."""
    event = ("subject", "predicate", "object", "instant", "line", "epoch")
    rejected = [
        (position, *str(raw).removesuffix(" <urn:weir:graph:r>").split(" ", 2), reason)
        for position, raw, reason in stored(project, "rejected", "position", "raw", "reason")
    ]
    transactions = open_lake(project.settings).rows("transactions").to_pylist()
    positions = {row["epoch"]: row["position"] for row in transactions}
    epochs = [
        (epoch, positions[epoch], *counts)
        for epoch, *counts in stored(
            project, "stream_epochs", "epoch", "frontier", "rows", "late", "early"
        )
    ]
    return {
        "events": sorted(stored(project, "streams/r", *event), key=repr),
        "late": sorted(stored(project, "late", *event, "frontier", "reason"), key=repr),
        "rejected": sorted(rejected, key=repr),
        "epochs": sorted(epochs, key=repr),
    }


def expected(model: StreamModel) -> dict[str, list[Row]]:
    return {
        name: sorted(getattr(model, name), key=repr)
        for name in ("events", "late", "rejected", "epochs")
    }


@pytest.fixture
def set_clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    return lambda now: monkeypatch.setattr(
        clock, "now", lambda: INSTANT_0 + timedelta(microseconds=now)
    )


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("seed", range(12))
def test_random_arrivals_leave_the_tables_of_the_model(
    seed: int, project: Project, set_clock: Callable[[int], None]
) -> None:
    rng = random.Random(seed)
    keys = random_keys(rng)
    model = StreamModel(keys)
    project.declare(declaration(keys), batch_epochs=rng.choice([1, 2, 500]))
    project.folders("r")
    for run in random_runs(rng):
        set_clock(run.now)
        write(project, run.files)
        for name in sorted(run.files, key=lambda name: int(name.partition(".")[0])):
            model.take(name, run.files[name], run.now)
        if not run.files:
            model.pass_time(run.now)
        assert project.ingest().errors == ()
        assert contents(project) == expected(model)
    assert model.events
    recorded = Frontiers.read(open_lake(project.settings)).streams["r"]
    assert [*recorded] == [(row[0], row[2]) for row in model.epochs]


def in_runs(
    files: Sequence[tuple[str, list[Triple]]], keys: Keys, cuts: set[int], batch: int
) -> dict[str, list[Row]]:
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder)).declare(declaration(keys), batch_epochs=batch)
        project.folders("r")
        for number, (name, triples) in enumerate(files):
            write(project, {name: triples})
            if number in cuts:
                project.ingest()
        project.ingest()
        return contents(project)


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("seed", range(4))
def test_one_run_or_many_leave_the_same_rows(seed: int, set_clock: Callable[[int], None]) -> None:
    rng = random.Random(100 + seed)
    keys = random_keys(rng)
    files = [(f"{n}.nt", random_triples(rng, START + n * SECOND)) for n in range(5)]
    set_clock(START + 5 * SECOND)
    cuts = {n for n in range(5) if rng.random() < 0.5}
    assert in_runs(files, keys, cuts, 2) == in_runs(files, keys, set(), 500)
