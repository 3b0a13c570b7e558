"""Apache Jena Fuseki on loopback, with one dataset in memory or on the disk."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import time
from collections.abc import Iterator, Sequence
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
SMALL = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m")
"""Options of a Java that starts quickly and takes little."""


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


class FusekiRefusedError(Exception):
    """Fuseki answered a request with an error."""


@dataclass(frozen=True, slots=True)
class Fuseki:
    """A running Fuseki.

    guard: the process whose child it is.
    credentials: those that every request needs, if any.
    """

    port: int
    guard: int
    credentials: Credentials | None = None

    @property
    def query_url(self) -> str:
        """Where queries go."""
        return f"http://127.0.0.1:{self.port}/ds/query"

    @property
    def queries(self) -> int:
        """How many queries have come so far, without those refused for their credentials."""
        services = json.loads(self.exchange("GET", "/$/stats/ds"))["datasets"]["/ds"]["endpoints"]
        return sum(
            service["Requests"] for service in services.values() if service["operation"] == "query"
        )

    def update(self, text: str) -> None:
        """Execute a SPARQL update."""
        self.exchange("POST", "/ds/update", text.encode(), "application/sparql-update")

    def exchange(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        kind: str = "",
        accept: str = "*/*",
        seconds: float = _TIMEOUT,
    ) -> bytes:
        """The body of the answer.

        Args:
            method: of HTTP.
            path: with parameters.
            body: of the request.
            kind: its media type.
            accept: the media type of the answer.
            seconds: after which it is given up.

        Raises:
            FusekiRefusedError: it answers with an error.
        """
        headers = {"Accept": accept} | ({"Content-Type": kind} if kind else {})
        if self.credentials is not None:
            headers["Authorization"] = self.credentials.basic
        # Of the standard library, as a fetch of ours is what is tested.
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=seconds)) as connection:
            connection.request(method, path, body or None, headers)
            answer = connection.getresponse()
            content = answer.read()
        if answer.status not in (200, 201, 204):
            raise FusekiRefusedError(f"{answer.status}: {content.decode(errors='replace')}")
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
    options = [*dataset, "--stats"]
    if credentials is not None:
        passwords = folder / "passwords"
        passwords.write_text(f"{credentials.user}: {credentials.password}\n")
        options += ["--auth=basic", f"--passwd={passwords}"]
    with started_fuseki(folder, [*options, "/ds"], lifetime, credentials) as fuseki:
        assert fuseki.queries == 0
        yield fuseki


@contextmanager
def started_fuseki(
    folder: Path,
    options: Sequence[str],
    lifetime: float = LIFETIME,
    credentials: Credentials | None = None,
    java_options: Sequence[str] = SMALL,
) -> Iterator[Fuseki]:
    """`running_fuseki` with any dataset and services.

    Args:
        folder: for its log.
        options: which dataset it has, and which services, as of its command line.
        lifetime: seconds.
        credentials: those that the options demand.
        java_options: options of Java.
    """
    java = [str(LAUNCHER.file), *java_options, "-cp", str(installed()), _MAIN]
    log = folder / _LOG
    command = [*java, "--localhost", "--port", "0", *options]
    with bounded_process(command, lifetime, log) as process:
        yield Fuseki(_port(process, log), process.pid, credentials)


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
