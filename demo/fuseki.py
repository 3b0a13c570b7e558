"""Apache Jena Fuseki on loopback, with one dataset in memory or on the disk."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

from demo.bounded_process import bounded_process
from setup.fuseki import installed
from setup.java import LAUNCHER

STARTS_WITHIN = 60.0
"""Seconds; it mostly takes two."""
LIFETIME = 7200.0
"""Seconds, more than all tests take."""
_TIMEOUT = 30.0
_LOG = "fuseki.log"
_STARTED = re.compile(r"Start Fuseki \(http=(\d+)\)")
# Fuseki without its pages and their administration, which would write files.
_MAIN = "org.apache.jena.fuseki.main.cmds.FusekiMainCmd"
_LOADER = "tdb2.tdbloader"
_JAVA_OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m")


@dataclass(frozen=True, slots=True)
class Credentials:
    """A user with a password, neither of them real."""

    user: str
    password: str

    @property
    def basic(self) -> str:
        """The `Authorization` header of RFC 7617."""
        pair = f"{self.user}:{self.password}".encode()
        return f"Basic {base64.b64encode(pair).decode()}"


@dataclass(frozen=True, slots=True)
class Fuseki:
    """A running Fuseki.

    credentials: those that every request needs, if any.
    """

    port: int
    credentials: Credentials | None = None

    @property
    def query_url(self) -> str:
        """Where queries go."""
        return f"http://127.0.0.1:{self.port}/ds/query"

    @property
    def queries(self) -> int:
        """How many queries have come so far, without those refused for their credentials."""
        services = json.loads(self._exchange("GET", "/$/stats/ds"))["datasets"]["/ds"]["endpoints"]
        return sum(
            service["Requests"] for service in services.values() if service["operation"] == "query"
        )

    def update(self, text: str) -> None:
        """Execute a SPARQL update."""
        self._exchange("POST", "/ds/update", text.encode(), "application/sparql-update")

    def _exchange(self, method: str, path: str, body: bytes = b"", kind: str = "") -> bytes:
        """The body of the answer."""
        headers = {"Content-Type": kind} if kind else {}
        if self.credentials is not None:
            headers["Authorization"] = self.credentials.basic
        # Of the standard library, as a fetch of ours is what is tested.
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=_TIMEOUT)) as connection:
            connection.request(method, path, body or None, headers)
            answer = connection.getresponse()
            content = answer.read()
        assert answer.status in (200, 204), f"{answer.status}: {content.decode(errors='replace')}"
        return content


@contextmanager
def running_fuseki(
    folder: Path,
    credentials: Credentials | None = None,
    lifetime: float = LIFETIME,
    tdb2: Path | None = None,
) -> Iterator[Fuseki]:
    """Start Fuseki, wait until it answers, and stop it when the block is left.

    It also stops if this process is gone, and after its lifetime.

    Args:
        folder: for its log and its passwords.
        credentials: those that every request shall need.
        lifetime: seconds.
        tdb2: a store on the disk, which is only read; without one the dataset is in memory.
    """
    dataset = ["--mem", "--update"] if tdb2 is None else ["--tdb2", f"--loc={tdb2}"]
    options = ["--localhost", *dataset, "--stats", "--port", "0"]
    if credentials is not None:
        passwords = folder / "passwords"
        passwords.write_text(f"{credentials.user}: {credentials.password}\n")
        options += ["--auth=basic", f"--passwd={passwords}"]
    java = [str(LAUNCHER.file), *_JAVA_OPTIONS, "-cp", str(installed()), _MAIN]
    log = folder / _LOG
    with bounded_process([*java, *options, "/ds"], lifetime, log) as process:
        fuseki = Fuseki(_port(process, log), credentials)
        assert fuseki.queries == 0
        yield fuseki


def load_tdb2(store: Path, file: Path, log: Path) -> None:
    """Make a store on the disk of a file of triples."""
    java = [str(LAUNCHER.file), "-Xmx1g", "-cp", str(installed()), _LOADER]
    with bounded_process([*java, "--loc", str(store), str(file)], LIFETIME, log) as process:
        assert process.wait() == 0, log.read_text(errors="replace")


def _port(process: subprocess.Popen[bytes], log: Path) -> int:
    """The free port that it has chosen; it is written once connections are accepted."""
    until = time.monotonic() + STARTS_WITHIN
    while not (started := _STARTED.search(log.read_text(errors="replace"))):
        output = log.read_text(errors="replace")
        assert process.poll() is None, f"Fuseki ended with {process.returncode}: {output}"
        assert time.monotonic() < until, f"Fuseki did not start in time: {output}"
        time.sleep(0.05)
    return int(started[1])
