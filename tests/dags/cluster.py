"""The Spark cluster of docker/compose.yaml as processes of this machine: a master and one worker.

Commands, environment and health checks are those of the compose file; only names, ports, folders
and sizes differ.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
import venv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from docker.first_start import spark_secrets, write_missing
from tests.dags.spark import QUICK_JVM, succeeded_tasks
from tests.docker.files import ROOT, services
from tests.wheel.environments import built_wheel

PATIENCE = 180
"""Seconds until a process must be healthy."""
HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Cluster:
    """A running cluster.

    master: its URL for applications. page: its web page. python: that of the executors.
    archive: our packages for the executors. events: folder of the logs of all applications' events.
    """

    master: str
    page: str
    configuration: Path
    python: Path
    archive: Path
    events: Path

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

    def tasks_by_executors(self) -> dict[str, int]:
        """How many tasks succeeded on executors, per name of the application."""
        return {name: tasks[True] for name, tasks in succeeded_tasks(self.events).items()}


@contextmanager
def running_cluster(folder: Path) -> Iterator[Cluster]:
    """Start master and worker below `folder`, and stop them at the end."""
    port, page, worker_page = _free_ports(3)
    places = {
        "spark-master": HOST,
        "7077": str(port),
        "8080": str(page),
        "8081": str(worker_page),
        "spark://spark-master:7077": f"spark://{HOST}:{port}",
        "http://127.0.0.1:8080/json/": f"http://{HOST}:{page}/json/",
        "http://127.0.0.1:8081/json/": f"http://{HOST}:{worker_page}/json/",
    }
    cluster = Cluster(
        master=places["spark://spark-master:7077"],
        page=f"http://{HOST}:{page}",
        configuration=_configuration(folder),
        python=_python_without_weir(folder / "python"),
        archive=built_wheel(folder / "wheel").rename(folder / "weir.zip"),
        events=folder / "events",
    )
    variables = {
        "SPARK_CONF_DIR": str(cluster.configuration),
        "SPARK_WORKER_DIR": str(folder / "work"),
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_WORKER_CORES": "1",
        "SPARK_WORKER_MEMORY": "1g",
        "SPARK_LOCAL_IP": HOST,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": QUICK_JVM,
        "SPARK_MASTER_OPTS": "-Dspark.deploy.recoveryMode=FILESYSTEM"
        f" -Dspark.deploy.recoveryDirectory={folder / 'recovery'}",
    }
    with (
        _running("spark-master", places, variables, folder),
        _running("spark-worker-1", places, variables, folder),
    ):
        yield cluster


@contextmanager
def _running(
    name: str, places: Mapping[str, str], variables: Mapping[str, str], folder: Path
) -> Iterator[None]:
    service = services()[name]
    assert set(service["environment"]) - set(variables) <= {"SPARK_WORKER_OPTS"}
    log = folder / f"{name}.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [places.get(word, word) for word in service["command"]],
            cwd=folder,
            env=_environment({**service["environment"], **variables}),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait_until_healthy(process, service["healthcheck"]["test"], places, log)
        yield
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_healthy(
    process: subprocess.Popen[bytes], check: list[str], places: Mapping[str, str], log: Path
) -> None:
    kind, program, *arguments = check
    assert (kind, program) == ("CMD", "python")
    command = [sys.executable, *(places.get(word, word) for word in arguments)]
    deadline = time.monotonic() + PATIENCE
    while True:
        found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if found.returncode == 0:
            return
        if process.poll() is not None or time.monotonic() > deadline:
            raise AssertionError(f"not healthy: {found.stdout}{found.stderr}\n{log.read_text()}")
        time.sleep(0.5)


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
    for each in sockets:
        each.bind((HOST, 0))
    ports: list[int] = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports
