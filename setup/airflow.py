"""`make airflow`: scheduler, API server and web page on this machine only, until Ctrl-C.

`WEIR_PROJECT` names the project whose DAGs run (the demo's, if not given), `AIRFLOW__API__PORT` the
port (8080). What Airflow says goes to `.cache/airflow/standalone.log`.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

import psutil

from setup.steps import ROOT

HOST = "127.0.0.1"
PATIENCE = 180
"""Seconds until Airflow must answer."""
GRACE = 20
"""Seconds that its processes have to stop by themselves."""


class Stopped(Exception):  # noqa: N818  (a wish, not an error)
    """Somebody asked this process to end."""


def main() -> int:
    """Start it, say where it is, wait, stop it with everything it started."""
    port = int(os.environ.get("AIRFLOW__API__PORT", "8080"))
    home = Path(os.environ["AIRFLOW_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    if _is_taken(port):
        print(
            f"airflow: port {port} is in use: make airflow AIRFLOW__API__PORT=8081", file=sys.stderr
        )
        return 1
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, _stop)
    log = home / "standalone.log"
    with log.open("w") as output:
        # A session of its own: Ctrl-C reaches this process alone, which stops the others in order.
        airflow = subprocess.Popen(
            ["airflow", "standalone"],
            env=os.environ | _environment(port),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        print("airflow: starting ...", flush=True)
        started = time.monotonic()
        if not _becomes_healthy(airflow, port):
            print(f"airflow: did not start; the reason is in {log}", file=sys.stderr)
            return 1
        print(_welcome(home, port, time.monotonic() - started), flush=True)
        airflow.wait()
        print(f"airflow: ended by itself; the reason is in {log}", file=sys.stderr)
        return 1
    except Stopped:
        print("airflow: stopping ...", flush=True)
        return 0
    finally:
        left = _stop_all(airflow)
        print(f"airflow: stopped{f', {left} processes had to be killed' if left else ''}")


def _environment(port: int) -> dict[str, str]:
    url = f"http://{HOST}:{port}"
    return {
        "WEIR_PROJECT": os.environ.get("WEIR_PROJECT", str(ROOT / "demo")),
        "AIRFLOW__API__HOST": HOST,
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__BASE_URL": url,
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
        "AIRFLOW__CORE__PARALLELISM": "4",
        "AIRFLOW__API__WORKERS": "1",
    }


def _is_taken(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


def _becomes_healthy(airflow: subprocess.Popen[bytes], port: int) -> bool:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and airflow.poll() is None:
        if _is_healthy(port):
            return True
        time.sleep(1)
    return False


def _is_healthy(port: int) -> bool:
    """Whether the API server answers, the scheduler runs and the DAG files have been read."""
    try:
        with urllib.request.urlopen(
            f"http://{HOST}:{port}/api/v2/monitor/health", timeout=5
        ) as said:
            parts = json.load(said)
    except (OSError, urllib.error.URLError):
        return False
    return all(parts[part]["status"] == "healthy" for part in ("scheduler", "dag_processor"))


def _welcome(home: Path, port: int, seconds: float) -> str:
    passwords = json.loads((home / "simple_auth_manager_passwords.json.generated").read_text())
    logins = ", ".join(f"user {user}, password {password}" for user, password in passwords.items())
    return (
        f"airflow: ready after {seconds:.0f} s\n"
        f"  page     http://{HOST}:{port}\n"
        f"  login    {logins}\n"
        f"  project  {_environment(port)['WEIR_PROJECT']}\n"
        "  DAGs     ingest_changes, maintain_queries, compact_lake; paused until you switch them on\n"
        "  stop     Ctrl-C"
    )


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise Stopped


def _stop_all(airflow: subprocess.Popen[bytes]) -> int:
    """End Airflow and its descendants; return how many had to be killed."""
    # A second Ctrl-C must not leave half of them running.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    processes = _family(airflow.pid)
    airflow.send_signal(signal.SIGINT)
    _, alive = psutil.wait_procs(processes, timeout=GRACE)
    _signal_all(alive, psutil.Process.terminate)
    _, alive = psutil.wait_procs(alive, timeout=GRACE / 4)
    _signal_all(alive, psutil.Process.kill)
    psutil.wait_procs(alive, timeout=GRACE / 4)
    return len(alive)


def _family(pid: int) -> list[psutil.Process]:
    try:
        parent = psutil.Process(pid)
        return [parent, *parent.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _signal_all(
    processes: Sequence[psutil.Process], send: Callable[[psutil.Process], None]
) -> None:
    for process in processes:
        try:
            send(process)
        except psutil.NoSuchProcess:
            continue


if __name__ == "__main__":
    sys.exit(main())
