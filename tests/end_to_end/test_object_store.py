"""A project whose lake is in a real object store: the same answers as in a folder, few requests."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from deltalake.exceptions import CommitFailedError
from pyarrow import compute as pc

from bench.object_store import Store
from bench.store_proxy import Answer, Asked, Send, StoreProxy, honest, proxy_of
from tests.dags.spark import ALONE, QUICK_JVM, SMALL_DATA, logging_to
from tests.support.counting_server import CountingServer
from tests.support.projects.project import PATCHES, Project
from weir import project as opened
from weir.errors import WeirError
from weir.lake.damage.storage_errors import StorageError
from weir.lake.delta.commit import KILL_AT, write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.storage.objects import ObjectStore
from weir.lake.tables import TRIPLES
from weir.settings import CONFIG_FILE

QUERIES = {
    "pairs": "SELECT ?x ?z WHERE { ?x <urn:knows> ?y . ?y <urn:knows> ?z }",
    "names": "SELECT ?x ?n WHERE { ?x <urn:knows> ?y OPTIONAL { ?x <urn:name> ?n } }",
    "counts": "SELECT ?x (COUNT(?y) AS ?n) WHERE { ?x <urn:knows> ?y } GROUP BY ?x",
}
CHANGES = (
    ("A <urn:a> <urn:knows> <urn:b>", "A <urn:b> <urn:knows> <urn:c>", 'A <urn:a> <urn:name> "A"'),
    ("A <urn:c> <urn:knows> <urn:a>", 'A <urn:b> <urn:name> "B"'),
    ("D <urn:a> <urn:knows> <urn:b>", "A <urn:a> <urn:knows> <urn:c>"),
)


_NO_TERMS = ("epoch", "weight", "event_time")


def project_in(
    folder: Path, address: str, store: Store, source: Mapping[str, Any] = PATCHES, **limits: float
) -> Project:
    """A project with a lake in a store."""
    project = Project(folder).declare(source, **limits)
    for name, text in QUERIES.items():
        project.query(name, text)
    options = "\n".join(f"{key} = {json.dumps(value)}" for key, value in store.options.items())
    file = folder / CONFIG_FILE
    text = file.read_text().replace('lake = "lake"', f"lake = {json.dumps(address)}")
    file.write_text(f"{text}\n[storage_options]\n{options}\n")
    file.chmod(0o600)
    return project


def weir(project: Project, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The command line, in a process of its own."""
    command = [str(Path(sys.executable).with_name("weir")), *arguments]
    environment = {**os.environ, **variables}
    return subprocess.run(
        command, cwd=project.folder, env=environment, capture_output=True, text=True, timeout=300
    )


def states(project: Project) -> dict[str, Counter[tuple[str, ...]]]:
    """The answer of each query as it stands, read by a lake that has no mirror yet."""
    lake = Lake(project.settings.lake, project.settings.storage_options)
    answers = {}
    for query in QUERIES:
        state: Counter[tuple[str, ...]] = Counter()
        rows = lake.rows(f"answers/{query}")
        names = [
            name for name in rows.column_names if name not in ("epoch", "weight", "event_time")
        ]
        for row in rows.to_pylist():
            state[tuple(str(row[name]) for name in names)] += row["weight"]
        answers[query] = +state
    return answers


def on_spark_alone(folder: Path) -> dict[str, str]:
    """The variables of a run in which Spark computes all; its events are in the folder `events`."""
    (folder / "events").mkdir()
    hosts = folder / "hosts"
    hosts.write_text(f"127.0.0.1 localhost {socket.gethostname()}\n")
    conf = {
        **SMALL_DATA,
        "spark.driver.extraJavaOptions": f"{QUICK_JVM} -Djdk.net.hosts.file={hosts}",
        **logging_to(folder / "events"),
    }
    variables = {f"WEIR_LIMITS__{name.upper()}": limit for name, limit in ALONE.items()}
    return {**variables, "WEIR_SPARK__CONF": json.dumps(conf)}


@pytest.fixture
def proxy(object_store: Store) -> Iterator[StoreProxy]:
    with proxy_of(object_store) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Counter[tuple[str, ...]]]:
    """The answers after all changes, of a lake in a folder."""
    project = Project(tmp_path_factory.mktemp("folder")).declare(PATCHES)
    for name, text in QUERIES.items():
        project.query(name, text)
    for change in CHANGES:
        project.change_set(*change)
    project.run()
    return states(project)


def test_the_store_lets_one_of_many_create_an_object(object_store: Store) -> None:
    """What all commits rely on; 20 rounds of four that race."""
    address = object_store.empty()
    stores = [object_store.objects(address) for _ in range(4)]

    def race(store: ObjectStore, name: bytes, path: str, barrier: threading.Barrier) -> bool:
        barrier.wait(30)
        return store.create(path, name) is not None

    with ThreadPoolExecutor(4) as threads:
        for number in range(20):
            path, barrier = f"race/{number}", threading.Barrier(4)
            racing = {
                name: threads.submit(race, store, name, path, barrier)
                for name, store in zip((b"a", b"b", b"c", b"d"), stores, strict=True)
            }
            winners = [name for name, running in racing.items() if running.result()]
            assert winners == [stores[0].read(path)]


def test_two_writers_lose_no_commit_and_double_none(object_store: Store) -> None:
    address, commits = object_store.empty(), 40

    def append(writer: int) -> None:
        lake = Lake(address, object_store.options)
        for number in range(commits):
            row = {"subject": f"<s{writer}>", "predicate": "<p>", "object": "<o>", "weight": 1}
            epoch = writer * 1000 + number
            write(lake, TRIPLES, [row | {"epoch": epoch}], Metadata(f"{epoch}", "ingest", 0))

    threads = [threading.Thread(target=append, args=(writer,)) for writer in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = Lake(address, object_store.options).rows(TRIPLES.name)
    assert rows.num_rows == 2 * commits
    assert len(pc.unique(rows["epoch"])) == 2 * commits


def test_answers_are_those_of_a_lake_in_a_folder(
    object_store: Store, tmp_path: Path, expected: dict[str, Counter[tuple[str, ...]]]
) -> None:
    project = project_in(tmp_path / "p", object_store.empty(), object_store)
    for change in CHANGES:
        project.change_set(*change)
        project.run()
    assert states(project) == expected
    assert weir(project, "audit", "--full").returncode == 0
    assert weir(project, "doctor").returncode == 0
    dropped = weir(project, "drop", "pairs", "--yes")
    assert dropped.returncode == 0, dropped.stderr
    assert not Lake(project.settings.lake, object_store.options).exists("answers/pairs")


def test_spark_alone_gives_the_answers_of_a_lake_in_a_folder(
    object_store: Store, tmp_path: Path, expected: dict[str, Counter[tuple[str, ...]]]
) -> None:
    """With the jars that are installed: no name but that of this machine leads anywhere."""
    project = project_in(tmp_path / "p", object_store.empty(), object_store)
    project.remove_query("counts")
    project.change_set(*CHANGES[0])
    project.run()
    # One query goes on with the tables of the driver; Spark computes the first answer of another.
    project.query("counts", QUERIES["counts"])
    for change in CHANGES[1:]:
        project.change_set(*change)
    with CountingServer(lambda _: b"") as metadata:
        # Where a machine of Amazon is asked for its region and its credentials.
        endpoint = {"AWS_EC2_METADATA_SERVICE_ENDPOINT": f"http://127.0.0.1:{metadata.port}"}
        done = weir(project, "run", **on_spark_alone(tmp_path), **endpoint)
    assert done.returncode == 0, done.stderr
    assert metadata.requests == []
    assert states(project) == expected
    events = "".join(log.read_text() for log in (tmp_path / "events").glob("*/events_*"))
    read = {*re.findall(rf"{project.settings.lake}/((?:_staging/|embeddings/)?\w+)", events)}
    staged = {f"_staging/{stage}" for stage in ("ingest", "maintain", "validate", "publish")}
    assert read >= staged | {"triples", *(f"embeddings/{query}" for query in QUERIES)}


@pytest.mark.parametrize("kind", ["patches", "snapshots"])
def test_sources_are_read_from_a_store_with_the_options_of_the_lake(
    object_store: Store, tmp_path: Path, kind: str
) -> None:
    address = object_store.empty()
    project = project_in(tmp_path / "p", address, object_store)
    root = address.removesuffix("/lake")
    source = {"name": "p", "kind": kind, "location": f"{root}/of changes"}
    project.write("sources.yml", json.dumps({"sources": [source]}))
    statement = "<urn:a> <urn:knows> <urn:b> .\n"
    name, text = ("0001.rdfp", f"TX .\nA {statement}TC .\n")
    if kind == "snapshots":
        name, text = "v 1/x.nt", statement
    object_store.objects(root).write(f"of changes/{name}", text.encode())
    project.run()
    assert states(project)["counts"].total() == 1


def test_doctor_finds_the_jars_of_the_store_missing_where_spark_needs_them(
    object_store: Store, tmp_path: Path
) -> None:
    in_store = project_in(tmp_path / "p", object_store.empty(), object_store)
    in_folder = Project(tmp_path / "folder").declare(PATCHES)
    (tmp_path / "spark" / "jars").mkdir(parents=True)
    bare = {"SPARK_HOME": str(tmp_path / "spark"), "XDG_DATA_HOME": str(tmp_path / "data")}
    for project, sets in ((in_store, {"Delta jars", "S3 jars"}), (in_folder, {"Delta jars"})):
        findings = json.loads(weir(project, "doctor", "--output", "json", **bare).stdout)
        missing = {row["check"]: row for row in findings if "jars" in row["check"]}
        assert missing.keys() == sets
        for row in missing.values():
            assert not row["ok"]
            assert str(tmp_path / "spark" / "jars") in row["found"]
            assert "weir setup-spark" in row["fix"]
        findings = json.loads(weir(project, "doctor", "--output", "json").stdout)
        assert {row["check"] for row in findings if row["ok"]} >= sets


@pytest.mark.parametrize("queries", [1, 10])
def test_requests_grow_with_what_is_touched(
    proxy: StoreProxy, tmp_path: Path, queries: int
) -> None:
    """An empty run 15, a change set 100 with ten touched queries, `show` 10."""
    project = project_in(tmp_path / "p", proxy.store.empty(), proxy.store)
    for number in range(queries - len(QUERIES)):
        project.query(f"more{number}", QUERIES["pairs"])
    for name in [*QUERIES][queries:]:
        project.remove_query(name)
    project.change_set(*CHANGES[0])
    assert weir(project, "run").returncode == 0
    project.change_set(*CHANGES[1])
    assert weir(project, "run").returncode == 0
    proxy.counts()
    assert weir(project, "run").returncode == 0
    assert proxy.counts().total() <= 15
    assert weir(project, "show", "pairs").returncode == 0
    assert proxy.counts().total() <= 10
    project.change_set(*CHANGES[2])
    assert weir(project, "run").returncode == 0
    assert proxy.counts().total() <= (100 if queries == 10 else 60)
    project.change_set("A <urn:other> <urn:other> <urn:other>")
    assert weir(project, "run").returncode == 0
    # Now and then the ledger is summed up, too.
    assert proxy.counts().total() <= 60


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("stage", ["ingest", "maintain", "validate", "publish"])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("of", ["claim", "table", "runs"])
def test_a_run_that_is_killed_loses_nothing_and_repeats_nothing(
    object_store: Store,
    tmp_path: Path,
    expected: dict[str, Counter[tuple[str, ...]]],
    stage: str,
    when: str,
    of: str,
) -> None:
    tables = {
        "ingest": "quads",
        "maintain": "embeddings/pairs",
        "validate": "quality",
        "publish": "answers/pairs",
    }
    project = project_in(tmp_path / "p", object_store.empty(), object_store)
    project.change_set(*CHANGES[0])
    project.run()
    for change in CHANGES[1:]:
        project.change_set(*change)
    point = f"{stage}:{when}:{tables[stage] if of == 'table' else of}"
    assert weir(project, "run", **{KILL_AT: point}).returncode == -9, point
    assert weir(project, "run").returncode == 0
    assert states(project) == expected


def dropped_connection(asked: Asked, send: Send) -> Answer | None:
    del asked, send
    return None


def lost_answer(asked: Asked, send: Send) -> Answer | None:
    """The store does what it is asked for, and the answer is lost."""
    del asked
    send()
    return None


def slow_down(asked: Asked, send: Send) -> Answer | None:
    del asked, send
    return Answer(503, [], b"<Error><Code>SlowDown</Code><Message>Reduce</Message></Error>")


def broken(asked: Asked, send: Send) -> Answer | None:
    del asked, send
    return Answer(500, [], b"<Error><Code>InternalError</Code></Error>")


def truncated(asked: Asked, send: Send) -> Answer | None:
    answer = send()
    if asked.kind != "get" or answer.status != 200:
        return answer
    length = [("Content-Length", str(len(answer.body)))]
    kept = [(n, v) for n, v in answer.headers if n.lower() != "content-length"]
    return Answer(answer.status, kept + length, answer.body[: len(answer.body) // 2])


def flipped(asked: Asked, send: Send) -> Answer | None:
    answer = send()
    if asked.kind != "get" or answer.status != 200 or not answer.body:
        return answer
    body = bytearray(answer.body)
    body[len(body) // 2] ^= 4
    return Answer(answer.status, answer.headers, bytes(body))


PASSING = {
    "dropped connections": dropped_connection,
    "lost answers": lost_answer,
    "slow down": slow_down,
    "internal errors": broken,
    "truncated bodies": truncated,
    "flipped bits": flipped,
}
"""What goes wrong with one request in eight; the next one succeeds."""


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("behaviour", PASSING)
def test_what_goes_wrong_now_and_then_is_repeated(
    proxy: StoreProxy,
    tmp_path: Path,
    expected: dict[str, Counter[tuple[str, ...]]],
    behaviour: str,
    seed: int,
) -> None:
    chance = random.Random(seed)
    last = [False]

    def sometimes(asked: Asked, send: Send) -> Answer | None:
        # The same request is repeated at once, and is then answered.
        last[0] = not last[0] and chance.random() < 1 / 8
        return (PASSING[behaviour] if last[0] else honest)(asked, send)

    project = project_in(tmp_path / "p", proxy.store.empty(), proxy.store)
    proxy.behaviour = sometimes
    for change in CHANGES:
        project.change_set(*change)
        project.run()
    proxy.behaviour = honest
    assert states(project) == expected


def refused(code: str, status: int = 403) -> Callable[[Asked, Send], Answer | None]:
    def answer(asked: Asked, send: Send) -> Answer | None:
        del asked, send
        return Answer(status, [], f"<Error><Code>{code}</Code></Error>".encode())

    return answer


LASTING = {
    "SignatureDoesNotMatch": (refused("SignatureDoesNotMatch"), "refuses the secret key"),
    "InvalidAccessKeyId": (refused("InvalidAccessKeyId"), "does not know the access key"),
    "ExpiredToken": (refused("ExpiredToken", 400), "the token has expired"),
    "AccessDenied": (refused("AccessDenied"), "the store denies access"),
    "RequestTimeTooSkewed": (refused("RequestTimeTooSkewed"), "the clock of this machine"),
    "NoSuchBucket": (refused("NoSuchBucket", 404), "there is no such bucket"),
    "flipped bits": (flipped, "is not what was written"),
}


@pytest.mark.parametrize("behaviour", LASTING)
def test_what_goes_on_ends_the_run_with_a_message_and_loses_nothing(
    proxy: StoreProxy,
    tmp_path: Path,
    expected: dict[str, Counter[tuple[str, ...]]],
    behaviour: str,
) -> None:
    answer, message = LASTING[behaviour]
    project = project_in(tmp_path / "p", proxy.store.empty(), proxy.store)
    project.change_set(*CHANGES[0])
    project.run()
    for change in CHANGES[1:]:
        project.change_set(*change)
    begun, limit = [0], 12

    def from_then_on(asked: Asked, send: Send) -> Answer | None:
        begun[0] += 1
        return (answer if begun[0] > limit else honest)(asked, send)

    proxy.behaviour = from_then_on
    with pytest.raises((StorageError, WeirError, CommitFailedError)) as failure:
        _fresh_run(project)
    assert message in str(failure.value)
    assert proxy.store.bucket in str(failure.value)
    proxy.behaviour = honest
    with suppress(StorageError):
        project.run()
    assert weir(project, "run").returncode == 0
    assert states(project) == expected


def _fresh_run(project: Project) -> None:
    """A run that knows nothing of the store, and so asks for everything."""
    opened._opened.clear()
    shutil.rmtree(project.settings.cache, ignore_errors=True)
    project.run()
