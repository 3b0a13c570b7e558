"""The Spark cluster of docker/compose.yaml as processes of this machine: a master and two workers.

Commands, environment and health checks are those of the compose file; only names, ports, folders
and sizes differ. The workers have folders of their own, and see neither the code of this checkout
nor what belongs to the driver: what their tasks need, Spark ships, or they find it in the store.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from docker.first_start import spark_secrets, write_missing
from tests.dags.spark import QUICK_JVM, succeeded_tasks
from tests.docker.files import ROOT, services
from tests.wheel.environments import built_wheel

PATIENCE = 180
"""Seconds until a process must be healthy."""
HOST = "127.0.0.1"
MASTER = "spark-master"
WORKERS = {"spark-worker-1": "127.0.0.2", "spark-worker-2": "127.0.0.3"}
"""Their addresses: Spark starts a copy of a slow task on another host only."""
_OWN_CODE = tuple(str(ROOT / package) for package in ("weir", "lake", "expectations", "jobs"))
_EXECUTOR = b"org.apache.spark.executor.CoarseGrainedExecutorBackend"


@dataclass(slots=True)
class Daemon:
    """A master or worker.

    Attributes:
        name: of its service in the compose file.
        places: words of the compose file, and what they are here.
        variables: its environment beside that of its service.
        hidden: folders that are empty for it and for what it starts.
        folder: the one that it starts in.
    """

    name: str
    places: Mapping[str, str]
    variables: Mapping[str, str]
    hidden: Sequence[str]
    folder: Path
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def start(self) -> None:
        """Start it, and wait until it is healthy."""
        service = services()[self.name]
        assert set(service["environment"]) - set(self.variables) <= {"SPARK_WORKER_OPTS"}
        log = self.folder / "log.txt"
        with log.open("a") as output:
            self.process = subprocess.Popen(
                [*hiding(self.hidden), *(self._here(word) for word in service["command"])],
                cwd=self.folder,
                env=_environment({**service["environment"], **self.variables}),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self._wait_until_healthy(service["healthcheck"]["test"], log)

    def end(self, by: signal.Signals = signal.SIGTERM) -> None:
        """End it."""
        if self.process is not None:
            self.process.send_signal(by)
            try:
                self.process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def executors(self) -> list[int]:
        """The processes of its executors."""
        assert self.process is not None
        return [child for child in descendants(self.process.pid) if _EXECUTOR in command_of(child)]

    def _here(self, word: str) -> str:
        return self.places.get(word, word)

    def _wait_until_healthy(self, check: list[str], log: Path) -> None:
        assert self.process is not None
        kind, program, *arguments = check
        assert (kind, program) == ("CMD", "python")
        command = [sys.executable, *map(self._here, arguments)]
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
            if answer.returncode == 0:
                return
            if self.process.poll() is not None or time.monotonic() > deadline:
                printed = f"{answer.stdout}{answer.stderr}\n{log.read_text()}"
                raise AssertionError(f"not healthy: {printed}")
            time.sleep(0.5)


@dataclass(frozen=True, slots=True)
class Cluster:
    """A running cluster.

    Attributes:
        master: its URL for applications.
        page: its web page.
        configuration: folder of Spark's configuration.
        python: that of the executors.
        archive: our packages for the executors.
        events: folder of the logs of all applications' events.
        daemons: by name.
    """

    master: str
    page: str
    configuration: Path
    python: Path
    archive: Path
    events: Path
    daemons: Mapping[str, Daemon]

    @property
    def variables(self) -> dict[str, str]:
        """The environment of a process that submits to it."""
        return {
            "AIRFLOW_CONN_SPARK_DEFAULT": f"{self.master}?deploy-mode=client",
            "SPARK_CONF_DIR": str(self.configuration),
            "PYSPARK_PYTHON": str(self.python),
            "WEIR_PY_FILES": str(self.archive),
        }

    def finished_applications(self) -> list[str]:
        """The names of the applications that were registered at the master and ended, in order."""
        with urllib.request.urlopen(f"{self.page}/json/", timeout=10) as response:
            state = json.load(response)
        ended = sorted(state["completedapps"], key=lambda app: int(app["starttime"]))
        return [app["name"] for app in ended]

    def remove_applications(self) -> list[str]:
        """Have the master end the applications that run; gives their identifiers."""
        with urllib.request.urlopen(f"{self.page}/json/", timeout=10) as response:
            running: list[str] = [app["id"] for app in json.load(response)["activeapps"]]
        for application in running:
            form = urllib.parse.urlencode({"id": application, "terminate": "true"}).encode()
            urllib.request.urlopen(f"{self.page}/app/kill/", form, timeout=10).close()
        return running

    def tasks_by_executors(self) -> dict[str, int]:
        """How many tasks succeeded on executors, per name of the application."""
        return {name: tasks[True] for name, tasks in succeeded_tasks(self.events).items()}


@contextmanager
def running_cluster(folder: Path, *hidden: Path) -> Iterator[Cluster]:
    """Start master and workers below `folder`, and stop them at the end.

    Args:
        folder: what they share, and the folders of each.
        hidden: folders of the driver, which are empty for the workers and their executors.
    """
    port, page, *worker_pages = _free_ports(2 + len(WORKERS))
    places = {
        "spark-master": HOST,
        "7077": str(port),
        "8080": str(page),
        "spark://spark-master:7077": f"spark://{HOST}:{port}",
        "http://127.0.0.1:8080/json/": f"http://{HOST}:{page}/json/",
    }
    configuration = _configuration(folder)
    common = {
        "SPARK_CONF_DIR": str(configuration),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": QUICK_JVM,
    }
    of_master = _folder(folder / MASTER)
    options = services()[MASTER]["environment"]["SPARK_MASTER_OPTS"]
    recovering = {"SPARK_MASTER_OPTS": options.replace("=/tmp/", f"={of_master}/")}
    daemons = {MASTER: Daemon(MASTER, places, common | recovering, (), of_master)}
    for (name, host), worker_page in zip(WORKERS.items(), worker_pages, strict=True):
        own = _folder(folder / name)
        variables = {
            **common,
            "SPARK_LOCAL_IP": host,
            "SPARK_WORKER_DIR": str(own / "work"),
            "SPARK_LOCAL_DIRS": str(own / "local"),
            "SPARK_WORKER_CORES": "1",
            "SPARK_WORKER_MEMORY": "1g",
            "TMPDIR": str(_folder(own / "tmp")),
            "HOME": str(own),
        }
        at = f"http://{host}:{worker_page}/json/"
        own_places = {"8081": str(worker_page), "http://127.0.0.1:8081/json/": at}
        closed = (*_OWN_CODE, *map(str, hidden))
        daemons[name] = Daemon(name, {**places, **own_places}, variables, closed, own)
    cluster = Cluster(
        master=places["spark://spark-master:7077"],
        page=f"http://{HOST}:{page}",
        configuration=configuration,
        python=_python_without_weir(folder / "python"),
        archive=built_wheel(folder / "wheel").rename(folder / "weir.zip"),
        events=folder / "events",
        daemons=daemons,
    )
    with ExitStack() as stack:
        for daemon in daemons.values():
            stack.callback(daemon.end)
            daemon.start()
        yield cluster


def _folder(folder: Path) -> Path:
    folder.mkdir()
    return folder


def hiding(folders: Sequence[str]) -> list[str]:
    """What a command is begun with, so that folders are empty for it: a mount namespace.

    Where the system refuses those, they are not hidden.
    """
    ways = (["unshare", "--mount"], ["unshare", "--user", "--map-root-user", "--mount"])
    mounts = " && ".join(f"mount -t tmpfs none {shlex.quote(folder)}" for folder in folders)
    for way in ways if folders and shutil.which("unshare") else ():
        if subprocess.run([*way, "sh", "-c", mounts], capture_output=True).returncode == 0:
            return [*way, "sh", "-c", f'{mounts} && exec "$@"', "sh"]
    return []


def descendants(*ancestors: int) -> Iterator[int]:
    """The processes that some processes started, and those that these started."""
    children: dict[int, list[int]] = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            _, _, status = (process / "stat").read_text().rpartition(")")
            children.setdefault(int(status.split()[1]), []).append(int(process.name))
    waiting = [*ancestors]
    while waiting:
        started = children.get(waiting.pop(), [])
        yield from started
        waiting += started


def command_of(process: int) -> bytes:
    """The command line of a process; nothing if it ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SPARK", "PYSPARK", "PYTHON", "WEIR", "AIRFLOW"))
    }
    return {**inherited, **variables}


def _configuration(folder: Path) -> Path:
    """The configuration of a first start; here the driver is on the same host."""
    configuration = folder / "spark"
    configuration.mkdir()
    (file,) = write_missing(spark_secrets(configuration))
    file.write_text(
        file.read_text()
        .replace("spark.driver.host spark-driver", f"spark.driver.host {HOST}")
        .replace("spark.driver.bindAddress 0.0.0.0", f"spark.driver.bindAddress {HOST}")
    )
    return configuration


def _python_without_weir(folder: Path) -> Path:
    """A Python with the packages of this one, but without this checkout on its path."""
    venv.create(folder, symlinks=True)
    (site_packages,) = folder.glob("lib/python*/site-packages")
    # Path files of a folder that is named in a path file are not read: no editable installs.
    (locked,) = Path(sys.prefix).glob("lib/python*/site-packages")
    (site_packages / "locked.pth").write_text(f"{locked}\n")
    return folder / "bin" / "python"


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind((HOST, 0))
    ports: list[int] = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports
