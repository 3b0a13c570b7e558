"""`make airflow`: Airflow's scheduler, DAG processor and API server on this machine, until Ctrl-C.

Unlike `airflow standalone`, nothing listens on other interfaces than loopback. `WEIR_PROJECT` is
the folder of the project (default: the demo), `AIRFLOW__API__PORT` the port of the web page. The
logs are `.cache/airflow/logs/<component>.log`.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

import psutil  # type: ignore[import-untyped]  # comes with Airflow

from setup import database
from setup.steps import ROOT, run_pending
from weir.spark_setup.commands import SetupError

HOST = "127.0.0.1"
# All components read the logs from disk, so the scheduler need not serve them.
COMPONENTS = {
    "scheduler": ("airflow", "scheduler", "--skip-serve-logs"),
    "dag-processor": ("airflow", "dag-processor"),
    "api-server": ("airflow", "api-server"),
}
PATIENCE = 240
"""Seconds until Airflow must be healthy."""
GRACE = 20
"""Seconds after which components and tasks that have not stopped are killed."""


class Stopped(Exception):  # noqa: N818  (a request, not an error)
    """This process was asked to stop, by a signal."""


def main() -> int:
    """Start the components, print where they are, wait, and stop all processes at the end."""
    port = int(os.environ.get("AIRFLOW__API__PORT", "8080"))
    home = Path(os.environ["AIRFLOW_HOME"])
    if _is_taken(port):
        print(
            f"airflow: port {port} is in use: make airflow AIRFLOW__API__PORT=8081", file=sys.stderr
        )
        return 1
    for request in (signal.SIGTERM, signal.SIGINT):
        signal.signal(request, _stop)
    running: list[subprocess.Popen[bytes]] = []
    try:
        print("airflow: starting ...", flush=True)
        started = time.monotonic()
        environment = os.environ | _environment(port)
        run_pending([database.step(environment)])
        running = [_start(name, home, environment) for name in COMPONENTS]
        _wait_until_healthy(running, port, home)
        print(_welcome(home, port, time.monotonic() - started), flush=True)
        _wait_until_one_exits(running)
        print(f"airflow: a component exited; its log is in {home / 'logs'}", file=sys.stderr)
        return 1
    except SetupError as error:
        print(f"airflow: {error}", file=sys.stderr)
        return 1
    except Stopped:
        return 0
    finally:
        print("airflow: stopping ...", flush=True)
        _stop_all(running)
        print("airflow: stopped", flush=True)


def _environment(port: int) -> dict[str, str]:
    url = f"http://{HOST}:{port}"
    return {
        "WEIR_PROJECT": os.environ.get("WEIR_PROJECT", str(ROOT / "demo")),
        "AIRFLOW__API__HOST": HOST,
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__BASE_URL": url,
        "AIRFLOW__API__WORKERS": "1",
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
        "AIRFLOW__CORE__PARALLELISM": "4",
    }


def _is_taken(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


def _start(name: str, home: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    log = home / "logs" / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as output:
        # In its own session: Ctrl-C reaches only this process, which then stops the others.
        return subprocess.Popen(
            COMPONENTS[name],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _wait_until_healthy(running: Sequence[subprocess.Popen[bytes]], port: int, home: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while not _is_healthy(port):
        if time.monotonic() > deadline or any(one.poll() is not None for one in running):
            raise SetupError(f"Airflow did not start. The logs are in {home / 'logs'}.")
        time.sleep(1)


def _is_healthy(port: int) -> bool:
    """Whether API server, scheduler and DAG processor report that they are healthy."""
    try:
        url = f"http://{HOST}:{port}/api/v2/monitor/health"
        with urllib.request.urlopen(url, timeout=5) as response:
            parts = json.load(response)
    except OSError:
        return False
    return all(parts[part]["status"] == "healthy" for part in ("scheduler", "dag_processor"))


def _welcome(home: Path, port: int, seconds: float) -> str:
    return (
        f"airflow: ready after {seconds:.0f} s\n"
        f"  page     http://{HOST}:{port}\n"
        f"  login    {_logins(home)}\n"
        f"  project  {_environment(port)['WEIR_PROJECT']}\n"
        "  DAGs     ingest_changes, maintain_queries, compact_lake, audit_lake: paused until you"
        " enable them\n"
        "  stop     Ctrl-C"
    )


def _logins(home: Path) -> str:
    file = home / "simple_auth_manager_passwords.json.generated"
    if not file.exists():
        return "none, or that of your own auth manager"
    passwords = json.loads(file.read_text())
    return ", ".join(f"user {user}, password {password}" for user, password in passwords.items())


def _wait_until_one_exits(running: Sequence[subprocess.Popen[bytes]]) -> None:
    while all(one.poll() is None for one in running):
        time.sleep(1)


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise Stopped


def _stop_all(running: Sequence[subprocess.Popen[bytes]]) -> None:
    """Stop the components; kill those of their processes that still run after `GRACE` seconds."""
    # A second Ctrl-C must not interrupt this.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    processes = [process for component in running for process in _family(component.pid)]
    for component in running:
        component.terminate()
    _, left = psutil.wait_procs(processes, timeout=GRACE)
    for process in left:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(left, timeout=GRACE)
    if left:
        print(f"airflow: {len(left)} processes were killed", flush=True)


def _family(pid: int) -> list[psutil.Process]:
    try:
        parent = psutil.Process(pid)
        return [parent, *parent.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


if __name__ == "__main__":
    sys.exit(main())
