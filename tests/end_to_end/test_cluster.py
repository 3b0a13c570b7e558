"""A project on a Spark cluster of two workers, its lake and its sources in an object store.

The executors have what a machine elsewhere would have: Python's packages, Spark with its jars, and
what Spark ships. They compute all stages, and what is stored is what a lake in a folder has that
nothing disturbed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench.object_store import Store
from setup.steps import ROOT
from tests.dags.cluster import (
    MASTER,
    WORKERS,
    Cluster,
    command_of,
    descendants,
    hiding,
    running_cluster,
)
from tests.dags.spark import ALONE, SMALL_DATA, logging_to
from tests.support.projects.project import PATCHES, Project
from tests.support.readme import commands_of
from weir.lake.delta.commit import KILL_AT
from weir.lake.lake import Lake
from weir.lake.tables import RUNS
from weir.settings import CONFIG_FILE

pytestmark = pytest.mark.usefixtures("own_jvm")

QUERIES = {
    "pairs": "SELECT ?x ?n WHERE { ?x <urn:knows> ?y OPTIONAL { ?y <urn:name> ?n } }",
    # UCASE runs in the Python of the executors.
    "loud": "SELECT (UCASE(?n) AS ?m) (COUNT(?x) AS ?c) WHERE { ?x <urn:name> ?n } GROUP BY ?n",
}
TABLES = (
    "quads",
    "triples",
    *(f"{kind}/{query}" for kind in ("embeddings", "answers") for query in QUERIES),
)
EPOCHS = 7
MIXED = {**ALONE, "driver_rows": "8", "driver_scan_rows": "20", "driver_table_bytes": "1000000"}
"""Small relations are the driver's and are sent; others are beyond its limits."""
FIRST, SECOND = WORKERS
PATIENCE = 900
"""Seconds until a process must have done what it is waited for."""

Logs = Mapping[str, Counter[tuple[str, ...]]]


def change_set(number: int) -> str:
    """The change set of an epoch: three more people, each of whom knows the one before."""
    lines = ["TX ."]
    for one in "abc":
        people = [f"<urn:{one}{at}>" for at in (number, number - 1, number - 2)]
        lines += [
            f"A {people[0]} <urn:knows> {people[1]} .",
            f'A {people[0]} <urn:name> "{one}{number % 2}" .',
        ]
        if number > 2:
            lines.append(f"D {people[1]} <urn:knows> {people[2]} .")
    return "\n".join([*lines, "TC .", ""])


def logs_of(lake: Lake, newest: int) -> Logs:
    """The rows of each table up to an epoch, as often as it has them."""
    logs = {}
    for table in TABLES:
        rows = lake.rows(table)
        kept = rows.select([name for name in rows.column_names if name != "event_time"])
        logs[table] = Counter(
            tuple(map(str, row.values())) for row in kept.to_pylist() if row["epoch"] <= newest
        )
    return logs


@dataclass(frozen=True, slots=True)
class Site:
    """Where projects are run on a cluster.

    Attributes:
        driver: the folder of all that the driver has; the workers do not see it.
        store: has lakes and sources.
        cluster: runs the executors.
        expected: gives the logs up to an epoch.
    """

    driver: Path
    store: Store
    cluster: Cluster
    expected: Callable[[int], Logs]

    def project(self, name: str) -> ClusterProject:
        """A new project, without a change set."""
        project = Project(self.driver / name)
        address = self.store.empty()
        root = address.removesuffix("/lake")
        project.declare({**PATCHES, "location": f"{root}/changes"})
        configuration = project.folder / CONFIG_FILE
        text = configuration.read_text().replace('"lake"', json.dumps(address))
        configuration.write_text(text)
        for query, sparql in QUERIES.items():
            project.query(query, f"#+ history: full\n{sparql}")
        return ClusterProject(self, project, root)


@dataclass(frozen=True, slots=True)
class ClusterProject:
    """A project of a site; `root` is the address of its lake and its change sets."""

    site: Site
    project: Project
    root: str

    def change(self, number: int) -> None:
        """Put a change set into the store."""
        path, content = f"changes/{number:04}.rdfp", change_set(number).encode()
        self.site.store.objects(self.root).write(path, content)

    def logs(self, newest: int) -> Logs:
        """What is stored up to an epoch."""
        return logs_of(Lake(f"{self.root}/lake", self.site.store.options), newest)

    def runs_of(self, job: str) -> int:
        """How many runs of a job have begun."""
        lake = Lake(f"{self.root}/lake", self.site.store.options)
        if not lake.exists(RUNS.name):
            return 0
        rows = lake.rows(RUNS.name, ["job", "number"]).to_pylist()
        return max((row["number"] for row in rows if row["job"] == job), default=0)

    def environment(self, limits: Mapping[str, str], **variables: str) -> dict[str, str]:
        """The variables of a process that works on it; its credentials are among them."""
        events = self.site.driver / "events"
        events.mkdir(exist_ok=True)
        conf = {**SMALL_DATA, **logging_to(events)}
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("AWS", "SPARK", "PYSPARK", "WEIR"))
        }
        return {
            **inherited,
            **self.site.store.options,
            "SPARK_CONF_DIR": str(self.site.cluster.configuration),
            **{f"WEIR_LIMITS__{name.upper()}": value for name, value in limits.items()},
            "WEIR_SPARK__CONF": json.dumps({**conf, **json.loads(variables.pop("conf", "{}"))}),
            "PATH": f"{Path(_WEIR).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.site.driver),
            "TMPDIR": str(self.site.driver),
            **variables,
        }

    def run(self, limits: Mapping[str, str], **variables: str) -> subprocess.CompletedProcess[str]:
        """A run of all stages in a process of its own, by the commands of the document."""
        cluster = self.site.cluster
        here = {
            "/opt/python/bin/python": str(cluster.python),
            "$HOME/weir/dist/weir.zip": str(cluster.archive),
            "spark://spark-master:7077": cluster.master,
        }
        script = commands_of("docs/production.md", "3. A Spark cluster", here)
        return subprocess.run(
            ["bash", "-c", script],
            cwd=self.project.folder,
            env=self.environment(limits, **variables),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )


_WEIR = str(Path(sys.executable).with_name("weir"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, object_store: Store) -> Iterator[Site]:
    driver = tmp_path_factory.mktemp("driver")
    in_folder = Project(driver / "in_folder").declare(PATCHES)
    for query, sparql in QUERIES.items():
        in_folder.query(query, f"#+ history: full\n{sparql}")
    for number in range(1, EPOCHS + 1):
        in_folder.write(f"changes/{number:04}.rdfp", change_set(number))
        in_folder.run()
    lake = Lake(in_folder.settings.lake)
    with running_cluster(tmp_path_factory.mktemp("cluster"), driver) as cluster:
        yield Site(driver, object_store, cluster, lambda newest: logs_of(lake, newest))


def test_a_worker_sees_neither_the_project_nor_the_code(site: Site) -> None:
    if not hiding([str(site.driver)]):
        pytest.skip("mount namespaces are refused here: nothing is hidden from the workers")
    for name in WORKERS:
        worker = site.cluster.daemons[name].process
        assert worker is not None
        seen = Path(f"/proc/{worker.pid}/root")
        for folder in (site.driver, ROOT / "weir", ROOT / "lake"):
            assert [*folder.iterdir()]
            assert not [*(seen / folder.relative_to("/")).iterdir()]


@pytest.mark.usefixtures("sampled")
def test_driver_and_executors_together_give_the_same(site: Site) -> None:
    project = site.project("mixed")
    for number in (1, 2, 3):
        project.change(number)
    done = project.run(MIXED)
    assert done.returncode == 0, done.stderr
    events = "".join(log.read_text() for log in (site.driver / "events").glob("*/events_*"))
    assert "SparkListenerTaskEnd" in events
    assert project.logs(3) == site.expected(3)


@pytest.mark.usefixtures("sampled")
def test_a_run_whose_driver_is_killed_is_completed_by_the_next(site: Site) -> None:
    project = site.project("killed")
    for number in (1, 2, 3):
        project.change(number)
    killed = project.run(ALONE, **{KILL_AT: "maintain:after:embeddings/pairs"})
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    done = project.run(ALONE)
    assert done.returncode == 0, done.stderr
    assert project.logs(3) == site.expected(3)


class Resident:
    """A running `weir run --every`: a driver, with executors, that computes epoch after epoch.

    It has all cores of the cluster as long as it runs.
    """

    def __init__(self, project: ClusterProject) -> None:
        self._project, self._newest, self._seen = project, 0, dict[Path, int]()
        self._lines: list[str] = []
        self._errors = project.project.folder / "errors.txt"
        conf = {
            # A copy is started of a task that takes long.
            "spark.speculation": "true",
            "spark.speculation.task.duration.threshold": "5s",
        }
        with self._errors.open("w") as errors:
            self.process = subprocess.Popen(
                [_WEIR, "run", "--every", "1s", "--output", "json"],
                cwd=project.project.folder,
                env={
                    **project.environment(ALONE, conf=json.dumps(conf)),
                    **project.site.cluster.variables,
                    "WEIR_SPARK__MASTER": project.site.cluster.master,
                },
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        self._reading = threading.Thread(target=self._read)
        self._reading.start()

    def end(self) -> None:
        """End it after its round."""
        self.process.terminate()
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._reading.join()

    def change(self) -> int:
        """Put the next change set into the store; its epoch."""
        self._newest += 1
        self._project.change(self._newest)
        return self._newest

    def await_logs(self) -> Logs:
        """Wait until the answers of the newest epoch are published; what is stored then."""
        self.await_that(self._is_published)
        return self._project.logs(self._newest)

    def await_that(self, happens: Callable[[], bool]) -> None:
        """Wait until something happens."""
        deadline = time.monotonic() + PATIENCE
        while not happens():
            if self.process.poll() is not None or time.monotonic() > deadline:
                printed = self._errors.read_text()[-8000:]
                raise AssertionError("\n".join([*self._lines, printed]))
            time.sleep(0.1)

    @property
    def runs_of_maintain(self) -> int:
        """How many runs of maintain have begun."""
        return self._project.runs_of("maintain")

    def new_events(self) -> str:
        """The events of its application since the last call."""
        new = b""
        for log in (self._project.site.driver / "events").glob("*/events_*"):
            content = log.read_bytes()
            new += content[self._seen.get(log, 0) :]
            self._seen[log] = len(content)
        return new.decode()

    def _is_published(self) -> bool:
        done = [query for line in self._lines for query in json.loads(line)["queries"]]
        epochs = {query["query"]: query["to_epoch"] for query in done}
        return [*map(epochs.get, QUERIES)] == [self._newest] * len(QUERIES)

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            self._lines.extend(lines)


@pytest.fixture(scope="module")
def resident(site: Site) -> Iterator[Resident]:
    resident = Resident(site.project("resident"))
    yield resident
    resident.end()


def in_maintain(resident: Resident) -> None:
    """Wait until Spark has done a part of what maintain asks for."""
    before = resident.runs_of_maintain
    resident.await_that(lambda: resident.runs_of_maintain > before)
    resident.new_events()
    resident.await_that(lambda: "SparkListenerJobEnd" in resident.new_events())


def test_executors_compute_all_stages(site: Site, resident: Resident) -> None:
    """The first answers; the tests below have changes of them."""
    newest = resident.change()
    assert resident.await_logs() == site.expected(newest)
    events = map(json.loads, resident.new_events().splitlines())
    tasks = [event for event in events if event["Event"] == "SparkListenerTaskEnd"]
    assert {task["Task Info"]["Executor ID"] for task in tasks} == {"0", "1"}


@pytest.mark.usefixtures("sampled")
def test_an_executor_that_is_killed_in_maintain_changes_nothing(
    site: Site, resident: Resident
) -> None:
    newest = resident.change()
    in_maintain(resident)
    (executor,) = site.cluster.daemons[FIRST].executors()
    os.kill(executor, signal.SIGKILL)
    assert resident.await_logs() == site.expected(newest)
    assert "SparkListenerExecutorRemoved" in resident.new_events()


@pytest.mark.usefixtures("sampled")
def test_a_worker_that_is_lost_in_maintain_changes_nothing(site: Site, resident: Resident) -> None:
    newest = resident.change()
    in_maintain(resident)
    worker = site.cluster.daemons[SECOND]
    worker.end(signal.SIGKILL)
    try:
        assert resident.await_logs() == site.expected(newest)
        assert "SparkListenerExecutorRemoved" in resident.new_events()
    finally:
        worker.start()


@pytest.mark.usefixtures("sampled")
def test_a_task_of_which_a_copy_is_started_counts_once(site: Site, resident: Resident) -> None:
    """The Python processes of an executor stand still: what needs them is computed elsewhere."""
    worker = site.cluster.daemons[FIRST]
    resident.await_that(lambda: len(worker.executors()) == 1)
    stopped = [*descendants(*worker.executors())]
    for process in stopped:
        os.kill(process, signal.SIGSTOP)
    try:
        newest = resident.change()
        assert resident.await_logs() == site.expected(newest)
        assert '"Speculative":true' in resident.new_events()
    finally:
        for process in stopped:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)


@pytest.mark.usefixtures("sampled")
def test_a_master_that_is_restarted_between_two_rounds_changes_nothing(
    site: Site, resident: Resident
) -> None:
    master = site.cluster.daemons[MASTER]
    master.end(signal.SIGKILL)
    master.start()
    newest = resident.change()
    assert resident.await_logs() == site.expected(newest)


@pytest.mark.usefixtures("sampled")
def test_an_application_that_its_cluster_removed_is_followed_by_another(
    site: Site, resident: Resident
) -> None:
    assert len(site.cluster.remove_applications()) == 1
    newest = resident.change()
    assert resident.await_logs() == site.expected(newest)


@pytest.mark.usefixtures("sampled")
def test_a_jvm_that_is_killed_is_followed_by_another(site: Site, resident: Resident) -> None:
    started = descendants(resident.process.pid)
    (java,) = [process for process in started if b"SparkSubmit" in command_of(process)]
    os.kill(java, signal.SIGKILL)
    newest = resident.change()
    assert resident.await_logs() == site.expected(newest)
