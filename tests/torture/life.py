"""The random life of a project: what arrives, which queries are edited, what is run."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

import pyarrow as pa
import pyoxigraph as ox
from deltalake import DeltaTable, write_deltalake

from tests.support.generators import registry_life
from tests.support.oxigraph_endpoint import OxigraphEndpoint
from tests.support.projects.project import PATCHES, SNAPSHOTS, Project
from tests.support.streams.projects import readings
from tests.support.streams.sensors import HOT, SENSORS

Work = Literal["run", "compact", "drop", "audit", "repair", "refresh", "status"]
"""What a process is asked to do: all stages, or a command beside them."""
WRITTEN_AT = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
"""When all files were written: event times are the same in every project."""
_FOREIGN = "house"
_TABLE = {"name": "d", "kind": "delta", "location": _FOREIGN, "starting_version": 0}
_SENSORS = (("s1", "kitchen"), ("s2", "hall"))
_FIRST_ROW = ("<urn:a>", "<urn:knows>", "<urn:b>")
_QUERIES = 3
STREAM_LOGS = ("hot", "plant")
"""What publishes answers over a stream: a query and a program."""
_PROGRAM = """\
%+ stream: readings
%+ unit: PT10S
%+ prefixes: {"": "http://example.org/"}
%+ output: [heard, silent]
%+ atoms: {"of(S)": "?R :of ?S", "there(S,P)": {graph: "?S :in ?P"}}
heard(S) <- win^WIDTH diamond of(S).
silent(S) <- there(S,P), not heard(S).
"""
REMOTE = "http://remote.example/sparql"
SECONDS_BETWEEN = 600
"""Two evaluations of the remote."""
AGED = "aged"
_ASKS = f"SELECT ?a ?b ?n WHERE {{ ?a <urn:knows> ?b SERVICE <{REMOTE}> {{ ?b <urn:age> ?n }} }}"
_AMPLE = {"keys": 2000, "requests": 500, "bytes": "20GB", "seconds": 3600}
"""A budget that evaluations do not exhaust that are killed again and again."""


@dataclass(frozen=True, slots=True)
class Features:
    """What a life has besides patches, snapshots and queries over the graph.

    Attributes:
        stream: a stream of readings, a query with windows and a program of rules over it.
        remote: a remote that is evaluated in each step, and a query that asks it.
        foreign: a foreign Delta table.
        consolidated: compaction consolidates the logs, which needs Spark.
    """

    stream: bool = False
    remote: bool = False
    foreign: bool = False
    consolidated: bool = False

    @property
    def needs_spark(self) -> bool:
        """Whether some of its runs start Spark."""
        return self.foreign or self.consolidated


@dataclass(frozen=True, slots=True)
class Step:
    """What changes around a project before it is run.

    Attributes:
        files: new or replaced files by path; None removes one.
        rows: the rows that the foreign table gets, (subject, predicate, object).
        deleted: an object; the rows with it leave the foreign table.
        work: what is done; another work than `run` is followed by one.
        query: that is dropped.
        state: the quads that hold afterwards.
        said: what the remote says from now on; None in a life without one.
        evaluation: the number of the evaluation at which it is asked.
    """

    files: Mapping[str, str | None]
    rows: tuple[tuple[str, str, str], ...]
    deleted: str | None
    work: Work
    query: str
    state: frozenset[ox.Quad]
    said: frozenset[ox.Triple] | None = None
    evaluation: int = 0


@dataclass
class _Recorder:
    """Stands in for a project: keeps what would be written."""

    files: dict[str, str | None] = field(default_factory=dict)

    def query(self, name: str, text: str) -> None:
        self.files[f"queries/{name}.rq"] = text

    def remove_query(self, name: str) -> None:
        self.files[f"queries/{name}.rq"] = None


def declare(
    projects: Sequence[Project], features: Features, remote: OxigraphEndpoint, **limits: int
) -> None:
    """Write the configuration, the sources and the first queries of projects."""
    for project in projects:
        _declare(project, features, remote, limits)
    if features.foreign:
        _write_foreign(projects[0], [_FIRST_ROW])
        _copy_foreign(projects)


def _declare(
    project: Project, features: Features, remote: OxigraphEndpoint, limits: Mapping[str, int]
) -> None:
    sources: list[dict[str, Any]] = [PATCHES, SNAPSHOTS]
    sources += [_TABLE] if features.foreign else []
    sources += [SENSORS] if features.stream else []
    limits = {"batch_epochs": 2, **limits}
    if features.consolidated:
        limits |= {"keep_epochs": 2}
    project.declare(*sources, **limits)
    project.folders("changes", "versions")
    if features.stream:
        project.folders("events")
        project.query("hot", HOT)
        project.program("plant", _PROGRAM.replace("WIDTH", "1"))
    if features.remote:
        asked: dict[str, Any] = {
            "name": "wd",
            "iri": REMOTE,
            "url": remote.query_url,
            "every": f"PT{SECONDS_BETWEEN}S",
            "budget": _AMPLE,
            "contact": "tests@example.org",
            "pause": "PT0S",
            "allow": ["127.0.0.1/32"],
            "ports": [remote.server.port],
        }
        project.remotes(asked)
        project.query(AGED, _ASKS)


def steps(seed: str, features: Features, count: int) -> Iterator[Step]:
    """The steps of a life; a seed and features give the same ones everywhere."""
    chance = random.Random(seed)
    queries = registry_life.lives(chance, _QUERIES)
    patched: set[ox.Quad] = set()
    version: frozenset[ox.Quad] = frozenset()
    foreign = [_FIRST_ROW] if features.foreign else []
    ages = dict.fromkeys("abcd", 0) if features.remote else {}
    now, patches = 60, 0
    for number in range(count):
        recorder = _Recorder()
        for query in queries:
            if number == 0:
                recorder.query(query.query, str(query.text))
            elif chance.random() < 0.3:
                query.advance(recorder, chance)
        for _ in range(chance.choice((0, 1, 1, 2, 3)) if number else 1):
            lines = list(registry_life.change_set(chance))
            if not patches:
                lines += [f"A {_in_room(*sensor)}" for sensor in _SENSORS]
            patches += 1
            recorder.files[f"changes/{patches:04}.rdfp"] = _patch(lines)
            _apply(patched, lines)
        if chance.random() < 0.3:
            text = "".join(f"{line} .\n" for line in _document(chance))
            recorder.files[f"versions/{number:04}.nt"] = text
            version = frozenset(_quads(text, "s"))
        rows: tuple[tuple[str, str, str], ...] = ()
        deleted = None
        if features.foreign and chance.random() < 0.4:
            rows = tuple(_row(chance) for _ in range(2))
            foreign += rows
            if chance.random() < 0.5:
                deleted = rows[0][2]
                foreign = [row for row in foreign if row[2] != deleted]
        if features.stream and chance.random() < 0.6:
            recorder.files[f"events/{number:04}.nt"], now = _readings(chance, now)
        if features.stream and number and chance.random() < 0.15:
            program = _PROGRAM.replace("WIDTH", chance.choice("012"))
            recorder.files["programs/plant.lars"] = program
        for person in ages:
            if chance.random() < 0.3:
                ages[person] = chance.randint(0, 2)
        work, dropped = _work(chance, queries) if number > 1 else ("run", "")
        held = frozenset(_quads("".join(f"{' '.join(row)} .\n" for row in foreign), "d"))
        state = frozenset(patched) | version | held
        said = _said(ages) if features.remote else None
        yield Step(recorder.files, rows, deleted, work, dropped, state, said, number)


def last_step(before: Step) -> Step:
    """A step that changes the graph, so that no stage finds nothing to do."""
    lines = ["A <urn:a> <urn:knows> <urn:last>", 'A <urn:last> <urn:name> "A"']
    state = {*before.state}
    _apply(state, lines)
    return replace(
        before,
        files={"changes/9999.rdfp": _patch(lines)},
        rows=(),
        deleted=None,
        work="run",
        state=frozenset(state),
        evaluation=before.evaluation + 1,
    )


def apply(step: Step, projects: Sequence[Project], remote: OxigraphEndpoint) -> None:
    """Let the inputs of a step arrive."""
    remote.store.clear()
    for triple in step.said or ():
        remote.store.add(ox.Quad(triple.subject, triple.predicate, triple.object))
    for project in projects:
        for path, text in step.files.items():
            file = project.folder / path
            if text is None:
                file.unlink()
                continue
            project.write(path, text)
            os.utime(file, (WRITTEN_AT, WRITTEN_AT))
    if step.rows:
        _write_foreign(projects[0], step.rows)
        if step.deleted is not None:
            DeltaTable(projects[0].folder / _FOREIGN).delete(f"object = '{step.deleted}'")
        _copy_foreign(projects)


def registered(project: Project) -> list[str]:
    """The names of the queries over the graph that can be maintained."""
    broken = broken_queries(project)
    return [name for name in _queries(project) if name not in {*broken, *STREAM_LOGS, AGED}]


def answer_with_remote(step: Step) -> tuple[str, ox.Store]:
    """The query that asks the remote, for a store in which the remote is a named graph."""
    store = ox.Store()
    store.extend(ox.Quad(quad.subject, quad.predicate, quad.object) for quad in step.state)
    graph = ox.NamedNode(REMOTE)
    store.extend(ox.Quad(t.subject, t.predicate, t.object, graph) for t in step.said or ())
    return _ASKS.replace("SERVICE", "GRAPH"), store


def broken_queries(project: Project) -> set[str]:
    """The names of the queries whose text is nonsense."""
    queries = _queries(project).items()
    return {name for name, text in queries if text == registry_life.BROKEN}


def _queries(project: Project) -> dict[str, str]:
    files = sorted((project.folder / "queries").glob("*.rq"))
    return {file.stem: file.read_text() for file in files}


def _work(chance: random.Random, queries: list[registry_life.Life]) -> tuple[Work, str]:
    works: tuple[Work, ...] = ("run", "compact", "drop", "repair")
    (work,) = chance.choices(works, (12, 3, 1, 2))
    return work, chance.choice(queries).query if work in ("drop", "repair") else ""


def _write_foreign(project: Project, rows: Any) -> None:
    names = ("subject", "predicate", "object")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    feed = {"delta.enableChangeDataFeed": "true"}
    write_deltalake(project.folder / _FOREIGN, pa.table(columns), mode="append", configuration=feed)


def _copy_foreign(projects: Sequence[Project]) -> None:
    """Give all projects the table of the first, with the times of its commits."""
    for project in projects[1:]:
        copy = project.folder / _FOREIGN
        shutil.copytree(projects[0].folder / _FOREIGN, copy, dirs_exist_ok=True)


def _patch(lines: list[str]) -> str:
    return "\n".join(["TX .", *(f"{line} ." for line in lines), "TC .", ""])


def _apply(state: set[ox.Quad], lines: list[str]) -> None:
    for line in lines:
        (quad,) = _quads(f"{line[2:]} .", "p")
        (state.add if line[0] == "A" else state.discard)(quad)


def _quads(text: str, source: str) -> Iterator[ox.Quad]:
    """The quads of a text; those without a graph are in that of their source."""
    for quad in ox.parse(text.encode(), format=ox.RdfFormat.N_QUADS):
        if quad.graph_name == ox.DefaultGraph():
            graph = ox.NamedNode(f"urn:weir:graph:{source}")
            quad = ox.Quad(quad.subject, quad.predicate, quad.object, graph)
        yield quad


def _said(ages: Mapping[str, int]) -> frozenset[ox.Triple]:
    """What a remote says of people: as many ages as the number says."""
    return frozenset(
        ox.Triple(ox.NamedNode(f"urn:{person}"), ox.NamedNode("urn:age"), ox.Literal(age))
        for person, number in ages.items()
        for age in range(20, 20 + number)
    )


def _document(chance: random.Random) -> list[str]:
    facts = {line[2:].rpartition(" ")[0] for line in registry_life.change_set(chance)}
    return sorted(facts)


def _row(chance: random.Random) -> tuple[str, str, str]:
    return (
        f"<urn:{chance.choice('abcd')}>",
        chance.choice(("<urn:knows>", "<urn:name>")),
        chance.choice(("<urn:a>", "<urn:b>", "<urn:c>", '"A"', '"B"')),
    )


def _in_room(sensor: str, room: str) -> str:
    base = "http://example.org"
    return f"<{base}/{sensor}> <{base}/in> <{base}/{room}>"


def _readings(chance: random.Random, now: int) -> tuple[str, int]:
    """A file of readings, some of them late, and the time after it."""
    seconds = [now + chance.randint(0, 15) for _ in range(chance.randint(1, 4))]
    seconds += [max(0, now - chance.randint(1, 30)) for _ in range(chance.choice((0, 1)))]
    sensors = [(chance.choice(("s1", "s2")), second) for second in seconds]
    return readings(*sensors), max(seconds) + chance.randint(1, 15)
