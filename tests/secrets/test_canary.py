"""Secrets given in every place: none is in an output, a table, a page or a list of processes."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

WEIR = Path(sys.executable).with_name("weir")
IN_FILE, IN_VARIABLE, OF_STORE, OF_REMOTE = (
    f"canary-{digits}-not-a-real-secret" for digits in ("a17f", "b28e", "c39d", "d4ac")
)
PAIR = base64.b64encode(f"reader:{OF_REMOTE}".encode()).decode()
STORE_KEY = base64.b64encode(OF_STORE.encode()).decode()
CANARIES = (IN_FILE, IN_VARIABLE, OF_STORE, OF_REMOTE, PAIR, STORE_KEY)
IRI = "http://127.0.0.1:{port}/sparql"
QUERY = """SELECT ?s ?title WHERE {{
  ?s <http://example.org/title> ?title
  SERVICE <{iri}> {{ ?s <http://x/value> ?value }}
}}
"""
# Spark has the secrets although no process has them as an argument.
START = """
from weir.compute.session import late_session
from weir.settings import Settings
session = late_session(Settings.load())()
hadoop = session.sparkContext._jsc.hadoopConfiguration()
is_set = [hadoop.get(f"fs.s3a.{key}") is not None for key in ("secret.key", "session.token")]
print("Spark has", is_set, "secret.key" in session.sparkContext.getConf().toDebugString())
session.stop()
"""


class Echo(BaseHTTPRequestHandler):
    """A store and a remote that repeat the request in their error."""

    authorized: ClassVar[set[str]] = set()

    def do_GET(self) -> None:
        self.authorized.add(self.headers.get("Authorization", ""))
        body = f"<Error><Message>{self.path} {self.headers}</Message></Error>".encode()
        self.send_response(403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_PUT = do_POST = do_GET  # noqa: N815  (the names that the base class calls)

    def log_message(self, *arguments: object) -> None:
        del arguments


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@contextmanager
def watched() -> Iterator[list[bytes]]:
    """The arguments of all processes that have a canary, until the block is left."""
    seen: list[bytes] = []
    stop = threading.Event()

    def look() -> None:
        while not stop.wait(0.02):
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    arguments = (process / "cmdline").read_bytes()
                except OSError:
                    continue
                if any(canary.encode() in arguments for canary in CANARIES):
                    seen.append(arguments)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join()


@dataclass
class Scenario:
    """What was printed, by command, and the arguments of processes with a canary."""

    folder: Path
    printed: Mapping[str, str]
    leaks: list[bytes]


def call(folder: Path, *command: str, **variables: str) -> str:
    """The outputs of a command."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("WEIR_", "AWS_", "AZURE_", "GOOGLE_", "AIRFLOW_CONN"))
    }
    code = Path(__file__).parent.parent.parent
    done = subprocess.run(
        command,
        cwd=folder,
        env=kept | {"PYTHONPATH": str(code)} | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def of_store(port: int) -> dict[str, dict[str, str]]:
    """The variables of a lake in each kind of store."""
    url = f"http://127.0.0.1:{port}"
    azure = {
        "AZURE_STORAGE_ACCOUNT_NAME": "box",
        "AZURE_STORAGE_ENDPOINT": f"{url}/box",
        "AZURE_ALLOW_HTTP": "true",
    }
    s3 = {
        "AWS_ACCESS_KEY_ID": OF_STORE,
        "AWS_SECRET_ACCESS_KEY": OF_STORE,
        "AWS_SESSION_TOKEN": OF_STORE,
        "AWS_ENDPOINT_URL": url,
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "eu-west-1",
    }
    given = {
        "s3": ("s3://box/lake", s3),
        "signature": ("az://box/lake", azure | {"AZURE_STORAGE_SAS_TOKEN": f"sp=r&sig={OF_STORE}"}),
        "account": ("az://box/lake", azure | {"AZURE_STORAGE_ACCOUNT_KEY": STORE_KEY}),
        "key file": ("gs://box/lake", {"GOOGLE_SERVICE_ACCOUNT_KEY": f'{{"a": "{OF_STORE}"}}'}),
    }
    return {
        name: {"WEIR_LAKE": lake, "WEIR_STORAGE_OPTIONS": json.dumps(options)}
        for name, (lake, options) in given.items()
    } | {"own variables": {"WEIR_LAKE": "s3://box/lake", **s3}}


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory, port: int) -> Scenario:
    """All commands of a project whose secrets are in every place."""
    folder = tmp_path_factory.mktemp("canary")
    call(folder, str(WEIR), "init")
    config = folder / "weir.toml"
    config.write_text(
        f'{config.read_text()}\n[storage_options]\nAWS_SECRET_ACCESS_KEY = "{IN_FILE}"\n'
    )
    config.chmod(0o644)
    iri = IRI.format(port=port)
    (folder / "remotes.yml").write_text(
        f"remotes:\n  - name: far\n    iri: {iri}\n    every: 1m\n    connection: far\n"
        "    contact: tests@example.org\n"
        "    allow: [127.0.0.0/8]\n"
        f"    ports: [{port}]\n    budget: {{keys: 9, requests: 9, bytes: 20000, seconds: 9}}\n"
    )
    (folder / "queries" / "far.rq").write_text(QUERY.format(iri=iri))
    variables = {
        "WEIR_STORAGE_OPTIONS": json.dumps({"AWS_SESSION_TOKEN": IN_VARIABLE}),
        "AIRFLOW_CONN_FAR": f"http://reader:{OF_REMOTE}@127.0.0.1",
    }
    refused = {"WEIR_SPARK__CONF": json.dumps({"spark.my.password": IN_VARIABLE})}
    commands = ("run --refresh", "status", "doctor", "site", "freshness", "artifacts")
    with watched() as leaks:
        printed = {
            command: call(folder, str(WEIR), "--debug", *command.split(), **variables)
            for command in commands
        }
        printed["spark"] = call(folder, sys.executable, "-c", START, **variables)
        job = "compact_lake"
        printed[job] = call(folder, sys.executable, "-m", f"weir.jobs.{job}", **variables)
        printed["refused"] = call(folder, str(WEIR), "--debug", "status", **variables | refused)
        for name, options in of_store(port).items():
            printed[f"{name}, weir"] = call(folder, str(WEIR), "--debug", "status", **options)
        stage = (sys.executable, "-m", "weir.jobs.check_freshness")
        printed["s3, stage"] = call(folder, *stage, **of_store(port)["s3"])
    return Scenario(folder, printed, leaks)


pytestmark = pytest.mark.usefixtures("own_jvm")


def test_no_output_has_a_secret(scenario: Scenario) -> None:
    assert [
        (command, canary)
        for command, text in scenario.printed.items()
        for canary in CANARIES
        if canary in text
    ] == []


def test_no_table_page_or_cache_has_a_secret(scenario: Scenario) -> None:
    files = [file for file in scenario.folder.rglob("*") if file.is_file()]
    assert [
        file.name
        for file in files
        if file.name != "weir.toml"
        and any(canary.encode() in file.read_bytes() for canary in CANARIES)
    ] == []


def test_no_process_has_a_secret_as_an_argument(scenario: Scenario) -> None:
    assert scenario.leaks == []


def test_spark_has_the_credentials_apart_from_its_settings(scenario: Scenario) -> None:
    assert "Spark has [True, True] False" in scenario.printed["spark"].splitlines()


@pytest.mark.usefixtures("scenario")
def test_the_remote_was_asked_with_its_secret() -> None:
    assert f"Basic {PAIR}" in Echo.authorized


def test_a_store_that_repeats_the_secret_is_not_quoted(scenario: Scenario) -> None:
    assert "Correct the credentials" in scenario.printed["s3, weir"]


def test_the_file_that_others_can_read_is_warned_about(scenario: Scenario) -> None:
    assert "chmod 600" in scenario.printed["status"]
