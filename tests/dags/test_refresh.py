"""Remotes through Airflow: 30 evaluations of a real Fuseki whose data change, one of them killed.

The first evaluation and the last two are runs of the DAG; those between them are calls of its
entry point in this process, which take a tenth of the time. Runs of the DAG follow the links of a
small web, too.
"""

from __future__ import annotations

import base64
import io
import json
import os
import random
import sqlite3
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from deltalake import DeltaTable

from demo.fuseki import Credentials, Fuseki, running_fuseki
from tests.dags.installation import HERE, Airflow, Runs
from tests.support.counting_server import answer_of
from tests.support.endpoints import port_of
from tests.support.keeping_server import KeepingServer, Request, Sent
from tests.support.opened import call
from weir.errors import EXIT_NOTHING_TO_DO
from weir.ingest.stage import ingest_changes
from weir.jobs.refresh_remotes import main
from weir.lake.delta.commit import KILL_AT
from weir.maintain.stage import maintain_queries
from weir.project import Project, open_lake
from weir.publish.stage import publish_answers
from weir.settings import CONFIG_FILE, Settings
from weir.site.writing import write_site
from weir.validate.stage import validate_answers

CANARY = Credentials("reader", "canary-4f1c-not-a-real-password")
IRI = "http://remote.example/sparql"
KEYS, EVALUATIONS, LAST_BY_DAG, LAST_WITHOUT_CHANGES = 200, 30, 2, 9
LAST_DAGS = ("refresh_remotes", "ingest_changes", "refresh_remotes", "maintain_queries")
LOGGED = {"AIRFLOW__LOGGING__LOGGING_LEVEL": "INFO"}
DOCUMENTS = 5
BUDGET = {"keys": 40, "requests": 4, "bytes": 60_000, "seconds": 60}
QUERY = f"""SELECT ?user ?value WHERE {{
  ?user <http://x/item> ?item
  SERVICE <{IRI}> {{ ?item <http://x/value> ?value }}
}}
"""


@dataclass
class Watched:
    """What a look at all processes has found.

    Attributes:
        refreshes: processes that refresh.
        leaks: those whose arguments or variables have the secret.
    """

    refreshes: set[int] = field(default_factory=set)
    leaks: set[str] = field(default_factory=set)


@contextmanager
def watched() -> Iterator[Watched]:
    """Look at the arguments and the environment of every process, until the block is left."""
    seen, stop = Watched(), threading.Event()

    def look() -> None:
        while not stop.wait(0.02):
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    arguments, variables = (
                        (process / name).read_bytes() for name in ("cmdline", "environ")
                    )
                except OSError:
                    continue
                if b"weir.jobs.refresh_remotes" in arguments:
                    seen.refreshes.add(int(process.name))
                if any(secret in arguments + variables for secret in secrets()):
                    seen.leaks.add(arguments.replace(b"\0", b" ").decode(errors="replace"))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join()


def secrets() -> tuple[bytes, ...]:
    """The password as it is, and as the header has it."""
    pair = f"{CANARY.user}:{CANARY.password}".encode()
    return CANARY.password.encode(), base64.b64encode(pair)


@dataclass
class Scenario:
    """What has happened.

    Attributes:
        airflow: has the project.
        killed: the DAG run whose refresh was killed.
        last: the DAG runs at the end.
        processes: what was seen while they ran.
        values: of each item, in Fuseki.
    """

    airflow: Airflow
    killed: Runs
    last: Runs
    processes: Watched
    values: dict[int, int]

    def rows(self, table: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = (
            open_lake(Settings.load(self.airflow.project / CONFIG_FILE)).rows(table).to_pylist()
        )
        return rows

    @property
    def answer(self) -> Counter[tuple[str, str]]:
        """The published answer."""
        rows: Counter[tuple[str, str]] = Counter()
        for row in self.rows("answers/values"):
            rows[row["user"], row["value"]] += row["weight"]
        return Counter({row: times for row, times in rows.items() if times})


def set_value(fuseki: Fuseki, item: int, value: int) -> None:
    subject = f"<http://x/i{item}> <http://x/value>"
    fuseki.update(
        f"DELETE WHERE {{ {subject} ?v }} ; INSERT DATA {{ {subject} {value} }}",
    )


def served(request: Request) -> Sent:
    """Documents that each link to the next one."""
    if not request.path.strip("/").isdigit():
        return Sent(answer_of(b"", status="404 Not Found"))
    number = int(request.path.strip("/"))
    link = f"<{number}> <http://x/next> <{number + 1}> ." if number < DOCUMENTS else ""
    return Sent(answer_of(link.encode(), "Content-Type: text/turtle"))


def declare(project: Path, fuseki: Fuseki, web: KeepingServer) -> None:
    """Users with an item each, the query for their values, the remote, and the traversal."""
    quads = "".join(f"A <http://x/u{n}> <http://x/item> <http://x/i{n}> .\n" for n in range(KEYS))
    for file in (*project.glob("patches/*"), *project.glob("queries/*")):
        file.unlink()
    (project / "patches" / "1.rdfp").write_text(f"TX .\n{quads}TC .\n")
    (project / "queries" / "values.rq").write_text(QUERY)
    remote = {
        "name": "fuseki",
        "iri": IRI,
        "url": fuseki.query_url,
        "allow": ["127.0.0.1/32"],
        "ports": [port_of(fuseki)],
        "connection": "fuseki_reader",
        "contact": "tests@example.org",
        "every": "PT1S",
        "pause": "PT0S",
        "policy": "LRU",
        "batch_keys": 10,
        "budget": BUDGET,
        "warn_after": "PT1H",
        "error_after": "PT2H",
    }
    (project / "remotes.yml").write_text(yaml.safe_dump({"remotes": [remote]}))
    traversal = {
        "name": "web",
        "seeds": [f"{web.origin}/1"],
        "follow": ["<http://x/next>"],
        "allow": ["127.0.0.1/32"],
        "ports": [web.port],
        "contact": "tests@example.org",
        "pause": "PT0S",
        "every": "PT1S",
    }
    (project / "traversals.yml").write_text(yaml.safe_dump({"traversals": [traversal]}))


def run_stages(project: Path, *stages: Any) -> None:
    settings = Settings.load(project / CONFIG_FILE)
    for stage in stages:
        call(stage, settings, f"test-{stage.__name__}")


def evaluate(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Call the entry point until it has made a round: the next second has another evaluation."""
    connection = {"fuseki_reader": {"login": CANARY.user, "password": CANARY.password}}
    arguments = ["--config", str(project / CONFIG_FILE), "--remote", "fuseki", "--credentials"]
    before = rounds(project)
    while rounds(project) == before:
        monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(connection)))
        assert main([*arguments, "--event"]) in (0, EXIT_NOTHING_TO_DO)


def rounds(project: Path) -> int:
    lake = open_lake(Settings.load(project / CONFIG_FILE))
    if not lake.exists("replicas/fuseki"):
        return 0
    return len(set(lake.rows("freshness", ["round"])["round"].to_pylist()))


@pytest.fixture(scope="module")
def scenario(
    tmp_path_factory: pytest.TempPathFactory, airflow_database: Path
) -> Iterator[Scenario]:
    airflow = Airflow(tmp_path_factory.mktemp("refresh"), airflow_database, HERE / "project")
    project, chosen = airflow.project, random.Random(17)
    values = {item: item for item in range(KEYS)}
    with (
        pytest.MonkeyPatch.context() as monkeypatch,
        running_fuseki(tmp_path_factory.mktemp("fuseki"), CANARY) as fuseki,
        KeepingServer(served) as web,
    ):
        declare(project, fuseki, web)
        inserted = " . ".join(f"<http://x/i{n}> <http://x/value> {n}" for n in range(KEYS))
        fuseki.update(f"INSERT DATA {{ {inserted} }}")
        run_stages(project, ingest_changes, maintain_queries, validate_answers, publish_answers)
        airflow.add_connection("fuseki_reader", CANARY.user, CANARY.password)
        with watched() as processes:
            killed = airflow.run_dags(
                "refresh_remotes", variables={**LOGGED, KILL_AT: "refresh:after:requests"}
            )
        between = EVALUATIONS - 1 - LAST_BY_DAG
        for number in range(between):
            if number < between + LAST_BY_DAG - LAST_WITHOUT_CHANGES:
                for item in chosen.sample(range(KEYS), 8):
                    values[item] += 1000
                    set_value(fuseki, item, values[item])
            evaluate(project, monkeypatch)
            if number == between // 2:
                run_stages(project, ingest_changes)
        with watched() as at_the_end:
            last = airflow.run_dags(*LAST_DAGS, variables=LOGGED)
        processes.refreshes |= at_the_end.refreshes
        processes.leaks |= at_the_end.leaks
        yield Scenario(airflow, killed, last, processes, values)


def test_a_refresh_that_is_killed_makes_its_run_fail(scenario: Scenario) -> None:
    assert all(scenario.killed.codes)
    assert "refresh ended with exit code -9" in scenario.killed.output


def test_the_runs_after_a_killed_refresh_succeed(scenario: Scenario) -> None:
    assert scenario.last.codes == [0] * len(LAST_DAGS), scenario.last.output[-8000:]
    assert scenario.airflow.newest_states("refresh_remotes") == {
        "refresh_fuseki": "success",
        "refresh_web": "success",
        "check_freshness": "success",
        "all_succeeded": "success",
    }


def test_the_answer_is_that_of_the_query_over_the_replica_and_over_fuseki(
    scenario: Scenario,
) -> None:
    newest: dict[str, dict[str, Any]] = {}
    mappings: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for row in sorted(scenario.rows("replicas/fuseki"), key=lambda row: row["round"]):
        if row["part"] == "key":
            newest[row["key"]] = row
        elif row["multiplicity"]:
            mappings[row["key"], row["round"]].append(row)
    of_replica: Counter[tuple[str, str]] = Counter()
    for key, row in newest.items():
        for mapping in mappings[key, row["rows_round"]]:
            value = json.loads(mapping["mapping"])["value"]
            of_replica[key.replace("/i", "/u"), value] += mapping["multiplicity"]
    of_fuseki = {
        (f"<http://x/u{n}>", f'"{value}"^^<http://www.w3.org/2001/XMLSchema#integer>')
        for n, value in scenario.values.items()
    }
    assert len(newest) == KEYS
    assert scenario.answer == of_replica == Counter(of_fuseki)


def test_every_evaluation_kept_its_budget_in_all_units(scenario: Scenario) -> None:
    spent: dict[Any, dict[str, dict[str, Any]]] = defaultdict(dict)
    rows = [row for row in scenario.rows("requests") if row["owner"] == "fuseki"]
    for row in sorted(rows, key=lambda row: row["phase"]):
        # `reserved` comes before `settled`, which takes its place.
        spent[row["evaluation"]][row["request_id"]] = row
    assert len(spent) == EVALUATIONS
    for requests in spent.values():
        for unit, most in BUDGET.items():
            assert 0 < sum(row[unit] for row in requests.values()) <= most
    unsettled = [
        row["phase"]
        for rows in spent.values()
        for row in rows.values()
        if row["phase"] != "settled"
    ]
    assert len(unsettled) == BUDGET["requests"]


def test_every_check_of_what_the_runs_wrote_succeeds(scenario: Scenario) -> None:
    quality = scenario.rows("quality")
    assert [row for row in quality if not row["success"]] == []
    checked = {row["table"].partition("/")[0] for row in quality}
    assert {"quads", "answers", "requests", "replicas", "documents", "freshness"} <= checked


def test_the_graph_has_the_documents_that_the_task_of_a_traversal_found(scenario: Scenario) -> None:
    merge = [row for row in scenario.rows("quads") if row["graph"] == "<urn:weir:web:web>"]
    links = [row["subject"] for row in merge if row["predicate"] == "<http://x/next>"]
    assert sorted(int(link.rstrip(">").rpartition("/")[2]) for link in links) == [
        *range(1, DOCUMENTS)
    ]


def test_the_site_shows_remotes_and_traversals(scenario: Scenario, tmp_path: Path) -> None:
    settings = Settings.load(scenario.airflow.project / CONFIG_FILE)
    write_site(Project(settings), tmp_path)
    page = (tmp_path / "remotes.html").read_text()
    assert "<h2>fuseki " in page
    assert "<h2>web " in page
    assert "documents of 127.0.0.1" in page
    assert "The stalest documents" in page


def test_ingest_is_triggered_if_there_is_anything_to_take(scenario: Scenario) -> None:
    """Five evaluations see all keys, so the last one of nine without changes finds none.

    Nine, since a request may come too late on a busy machine.
    """
    with closing(sqlite3.connect(scenario.airflow.database)) as database:
        events = database.execute(
            "SELECT e.source_task_id, a.name FROM asset_event e JOIN asset a ON a.id = e.asset_id"
            " WHERE e.source_dag_id = 'refresh_remotes'"
        ).fetchall()
    assert sorted(events) == [
        ("refresh_fuseki", "replicas/fuseki"),
        ("refresh_web", "documents/web"),
    ]


def test_the_secret_is_nowhere_but_encrypted_in_the_connection(scenario: Scenario) -> None:
    with closing(sqlite3.connect(scenario.airflow.database)) as database:
        (stored,) = database.execute(
            "SELECT password, is_encrypted FROM connection WHERE conn_id = 'fuseki_reader'"
        ).fetchall()
    assert stored[1] == 1
    folder = scenario.airflow.project.parent
    files = [file for file in folder.rglob("*") if file.is_file()]
    revealing = [file for file in files if any(secret in file.read_bytes() for secret in secrets())]
    assert revealing == []
    text = "".join(
        str(DeltaTable(str(log.parent)).to_pyarrow_table().to_pylist())
        for log in folder.rglob("_delta_log")
    )
    assert "http://x/i0" in text
    # `airflow dags test` logs to its output.
    output = text + scenario.killed.output + scenario.last.output
    assert "fuseki: 40 of 40 keys answered" in output
    assert not any(secret.decode() in output for secret in secrets())


def test_no_process_has_the_secret_in_its_arguments_or_variables(scenario: Scenario) -> None:
    assert scenario.processes.refreshes
    assert os.getpid() not in scenario.processes.refreshes
    assert scenario.processes.leaks == set()
