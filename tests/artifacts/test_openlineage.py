"""Events of lineage: what OpenLineage's readers learn of a run, once, and what becomes of failures.

The client library of OpenLineage is the oracle of what an event and its facets may have.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from deltalake import DeltaTable

import weir
from tests.artifacts.test_lineage import REMOTE
from tests.review.test_beside_lake import PROGRAM
from tests.support.counting_server import CountingServer, answer_of
from tests.support.opened import call, opened
from tests.support.openlineage_events import (
    FACETS,
    Event,
    as_the_library_writes,
    without_empty,
)
from tests.support.projects.museum import Museum
from tests.support.projects.project import PATCHES, Project
from tests.support.projects.replicas import IRI, ReplicaProject
from tests.support.streams.projects import OFTEN, READINGS, SEEN, event_project, readings
from weir.artifacts.contents import read_contents
from weir.ingest.stage import ingest_changes
from weir.jobs import write_documents
from weir.lineage.datasets import table_dataset, tables_read
from weir.lineage.emission import append_lines, emit_events
from weir.maintain.stage import maintain_queries
from weir.pipeline import RunOptions, errors_of, run_pipeline
from weir.settings import CONFIG_FILE, OpenLineage, Settings


def configure(folder: Path, text: str) -> None:
    config = folder / CONFIG_FILE
    kept = config.read_text().partition("\n[openlineage]")[0]
    config.write_text(f"{kept}\n[openlineage]\n{text}")


def events_of(folder: Path) -> list[Event]:
    """The ends of runs."""
    return [event for event in all_events_of(folder) if event["eventType"] != "START"]


def all_events_of(folder: Path) -> list[Event]:
    file = folder / "lineage.jsonl"
    return [*map(json.loads, file.read_text().splitlines())] if file.exists() else []


@pytest.fixture(scope="module")
def museum(tmp_path_factory: pytest.TempPathFactory) -> Museum:
    """Three runs, the last of which holds an answer."""
    museum = Museum(tmp_path_factory.mktemp("lineage") / "museum")
    configure(museum.folder, 'file = "lineage.jsonl"\n')
    museum.live(2)
    museum.exhibits[4]["insured"] = -5
    museum.live(1)
    return museum


@pytest.fixture(scope="module")
def runs(museum: Museum) -> list[dict[str, Event]]:
    """The events of each run, by job."""
    split = list[dict[str, Event]]()
    for event in events_of(museum.folder):
        job = event["job"]["name"]
        if job == "ingest":
            split.append({})
        assert job not in split[-1], "a job has one end a run"
        split[-1][job] = event
    return split


def facets_of(value: object) -> Iterator[tuple[str, Any]]:
    """All facets within an event, with their names."""
    if isinstance(value, dict):
        for name, part in value.items():
            if name.lower().endswith("facets"):
                yield from part.items()
            yield from facets_of(part)
    elif isinstance(value, list):
        for part in value:
            yield from facets_of(part)


def test_the_client_library_writes_every_event_as_weir_does(museum: Museum) -> None:
    events = all_events_of(museum.folder)
    for event in events:
        assert without_empty(as_the_library_writes(event)) == without_empty(event)
    seen = {name for event in events for name, _ in facets_of(event)}
    assert seen == {name for of_one in FACETS.values() for name in of_one}


def _drop(key: str) -> Callable[[dict[str, Any]], None]:
    return lambda facet: facet.pop(key)


def _misspell(key: str) -> Callable[[dict[str, Any]], None]:
    return lambda facet: facet.update({f"{key}s": facet.pop(key)})


@pytest.mark.parametrize(
    ("change", "mistake"),
    [
        (_drop("processingType"), "must have processingType"),
        (_misspell("jobType"), "has no jobTypes"),
        (lambda facet: facet.update(integration=7), "7 is no str"),
    ],
)
def test_the_client_library_refuses_a_facet_that_is_not_as_published(
    runs: Sequence[Mapping[str, Event]],
    change: Callable[[dict[str, Any]], None],
    mistake: str,
) -> None:
    event = json.loads(json.dumps(runs[0]["publish.exhibits"]))
    change(event["job"]["facets"]["jobType"])
    with pytest.raises(AssertionError, match=mistake):
        as_the_library_writes(event)


def test_every_event_has_an_id_that_follows_from_its_run_an_instant_and_one_producer(
    museum: Museum,
) -> None:
    for event in all_events_of(museum.folder):
        assert datetime.fromisoformat(event["eventTime"]).tzinfo is not None
        assert uuid.UUID(event["run"]["runId"]).version == 5
        for _, facet in facets_of(event):
            assert facet["_producer"] == event["producer"]


def test_each_end_of_a_run_follows_its_start(museum: Museum) -> None:
    events = all_events_of(museum.folder)
    for start, end in zip(events[::2], events[1::2], strict=True):
        assert (start["eventType"], start["job"]) == ("START", end["job"])
        assert start["run"]["runId"] == end["run"]["runId"]
        assert start["eventTime"] <= end["eventTime"]
        assert "errorMessage" not in start["run"]["facets"]


def test_a_run_has_one_event_per_stage_and_per_query_that_it_brought_further(
    runs: Sequence[Mapping[str, Event]],
) -> None:
    queries = ("exhibits", "loans", "rooms")
    stages = ("maintain", "validate", "publish")
    every = {*stages, "ingest", *(f"{stage}.{name}" for stage in stages for name in queries)}
    assert {*runs[0]} == every
    assert {*runs[2]} < every
    runs_of_jobs = [event["run"]["runId"] for run in runs for event in run.values()]
    assert len({*runs_of_jobs}) == len(runs_of_jobs)


def test_a_source_is_joined_to_what_people_read_by_tables_that_one_wrote_and_the_next_read(
    museum: Museum, runs: Sequence[Mapping[str, Event]]
) -> None:
    reached = {("weir.museum", "graph.register")}
    for event in runs[0].values():
        if reached & {(read["namespace"], read["name"]) for read in event["inputs"]}:
            reached |= {(wrote["namespace"], wrote["name"]) for wrote in event["outputs"]}
    lake = museum.folder / "lake"
    for name in ("exhibits", "loans", "rooms"):
        assert ("file", f"{lake}/answers/{name}") in reached
        assert ("file", f"{lake}/current/{name}") in reached


def test_rows_that_events_count_are_all_rows_of_the_table(
    museum: Museum, runs: Sequence[Mapping[str, Event]]
) -> None:
    counted = dict[str, int]()
    for run in runs:
        for event in run.values():
            for wrote in event["outputs"]:
                if "outputStatistics" in wrote.get("outputFacets", {}):
                    rows = wrote["outputFacets"]["outputStatistics"]["rowCount"]
                    counted[wrote["name"]] = counted.get(wrote["name"], 0) + rows
    lake = museum.folder / "lake"
    assert f"{lake}/quads" in counted
    assert f"{lake}/answers/rooms" in counted
    assert counted == {name: DeltaTable(name).to_pyarrow_table().num_rows for name in counted}


def test_a_failed_check_fails_its_query_and_its_stage_and_nothing_else(
    runs: Sequence[Mapping[str, Event]],
) -> None:
    failed = {job for job, event in runs[2].items() if event["eventType"] == "FAIL"}
    assert failed == {"validate.exhibits", "validate", "publish"}
    assert not [job for job, event in runs[0].items() if event["eventType"] == "FAIL"]
    event = runs[2]["validate.exhibits"]
    message = event["run"]["facets"]["errorMessage"]["message"]
    assert message == "check insured_is_positive: 1 unexpected (expectations/exhibits.yml:3)"
    (read,) = event["inputs"]
    checks = read["inputFacets"]["dataQualityAssertions"]["assertions"]
    (check,) = (check for check in checks if not check["success"])
    assert check == {
        "assertion": "expect_column_values_to_be_between",
        "name": "insured_is_positive",
        "column": "insured",
        "severity": "error",
        "success": False,
        "description": "Nothing is insured for less than nothing.",
        "actual": "1 unexpected row",
    }


def test_an_answer_has_its_columns_its_description_and_its_owner(
    runs: Sequence[Mapping[str, Event]],
) -> None:
    facets = runs[0]["publish.exhibits"]["outputs"][-1]["facets"]
    insured = {"name": "insured", "type": "BIGINT", "description": "in euros"}
    assert insured in facets["schema"]["fields"]
    assert facets["ownership"]["owners"] == [{"name": "registrar"}]
    assert facets["documentation"]["description"].startswith("All exhibits")


def columns_of(event: Event) -> Iterator[tuple[str, str, Any]]:
    """The columns that an event says something of: table, column, input fields."""
    for wrote in event["outputs"]:
        facet = wrote["facets"].get("columnLineage", {"fields": {}})
        for column, made in facet["fields"].items():
            yield wrote["name"], column, made["inputFields"]


def fields_of(dataset: Mapping[str, Any]) -> set[str]:
    """The columns of a dataset: readers join columns that both sides have."""
    schema = dataset["facets"].get("schema", {"fields": ()})
    return {field["name"] for field in schema["fields"]}


def test_lineage_of_columns_is_as_the_published_schema_has_it(
    runs: Sequence[Mapping[str, Event]],
) -> None:
    subtypes = {
        "DIRECT": {"IDENTITY", "TRANSFORMATION", "AGGREGATION"},
        "INDIRECT": {"JOIN", "GROUP_BY", "FILTER", "SORT"},
    }
    for event in runs[0].values():
        read = {(read["namespace"], read["name"]): fields_of(read) for read in event["inputs"]}
        for wrote in event["outputs"]:
            facet = wrote["facets"].get("columnLineage", {"fields": {}})
            assert {*facet["fields"]} <= fields_of(wrote)
            direct = [one for made in facet["fields"].values() for one in made["inputFields"]]
            pairs = [("DIRECT", one) for one in direct]
            pairs += [("INDIRECT", one) for one in facet.get("dataset", ())]
            for kind, one in pairs:
                assert {*one} == {"namespace", "name", "field", "transformations"}
                assert one["field"] in read[one["namespace"], one["name"]]
                for done in one["transformations"]:
                    assert {*done} == {"type", "subtype", "description"}
                    assert done["type"] == kind
                    assert done["subtype"] in subtypes[kind]


def test_a_column_that_people_read_is_joined_to_the_triples_that_its_terms_are_of(
    museum: Museum, runs: Sequence[Mapping[str, Event]]
) -> None:
    lake = museum.folder / "lake"
    made = dict[tuple[str, str], Any]([((f"{lake}/current/exhibits", "insured"), ())])
    for job in ("publish.exhibits", "maintain.exhibits"):
        for table, column, inputs in columns_of(runs[0][job]):
            if (table, column) in made:
                made |= {(one["name"], one["field"]): one["transformations"] for one in inputs}
    (read,) = made[f"{lake}/triples", "object"]
    assert (read["type"], read["subtype"]) == ("DIRECT", "IDENTITY")
    assert read["description"].startswith("object of <")
    assert "insured" in read["description"]


def test_every_column_of_an_answer_has_one_of_stored_rows(
    museum: Museum, runs: Sequence[Mapping[str, Event]]
) -> None:
    columns = [*columns_of(runs[0]["publish.exhibits"])]
    answers = f"{museum.folder}/lake/answers/exhibits"
    assert {column for table, column, _ in columns if table == answers} == {
        *DeltaTable(answers).schema().to_arrow().names
    } - {"epoch", "weight", "event_time"}
    assert {len(inputs) for _, _, inputs in columns} == {1}


def test_the_run_of_a_query_is_a_part_of_the_run_of_its_stage(
    runs: Sequence[Mapping[str, Event]],
) -> None:
    for run in runs:
        for job, event in run.items():
            stage, _, query = job.partition(".")
            if query:
                assert event["run"]["facets"]["parent"]["run"] == {
                    "runId": run[stage]["run"]["runId"]
                }


def test_the_same_run_gives_the_same_events_again(museum: Museum, tmp_path: Path) -> None:
    settings = Settings.load(museum.folder / CONFIG_FILE)
    own = opened(settings)
    with own:
        newest = own.lake.rows("runs", ["run_id", "number"]).sort_by("number").to_pylist()[-1]
    file = settings.openlineage.model_copy(update={"file": tmp_path / "again.jsonl"})
    again = settings.model_copy(update={"openlineage": file})
    assert call(emit_events, again, newest["run_id"]).events > 0
    lines = (tmp_path / "again.jsonl").read_text().splitlines()
    assert lines == (museum.folder / "lineage.jsonl").read_text().splitlines()[-len(lines) :]


def test_what_a_remote_said_is_joined_to_the_query_that_asked(tmp_path: Path) -> None:
    project = ReplicaProject(tmp_path)
    project.declare_remote()
    project.change_set("A <http://e/k> <http://e/p> <http://e/k> .")
    project.remote.set("http://e/k", "http://e/l", 1)
    project.query(
        "said", f"SELECT * {{ ?k <http://e/p> ?k SERVICE <{IRI}> {{ ?k <http://e/l> ?l }} }}"
    )
    steps = steps_of(project, RunOptions(refresh=project.surroundings()))
    assert steps["refresh.wd"] == [["remotes.wd"], ["replicas/wd"]]
    assert "replicas/wd" in steps["ingest"][0]
    assert "quads" in steps["ingest"][1]
    assert steps["maintain.said"] == [["quads", "replicas/wd", "triples"], ["embeddings/said"]]
    events = {event["job"]["name"]: event for event in events_of(tmp_path)}
    (replica,) = events["refresh.wd"]["outputs"]
    assert replica["outputFacets"]["outputStatistics"]["rowCount"] == 1


def test_events_of_a_stream_go_through_the_stream_out_of_a_query(tmp_path: Path) -> None:
    project = event_project(tmp_path, OFTEN)
    project.query("seen", SEEN)
    project.write("events/1.ttl", readings(("s1", 1), ("s2", 12), ("s1", 7_200)))
    steps = steps_of(project, RunOptions())
    assert steps["ingest"] == [["streams.readings"], ["streams/readings"]]
    assert steps["maintain.seen"] == [
        ["streams/readings"],
        ["embeddings/seen", "output_streams/seen"],
    ]
    assert steps["maintain.q"] == [["output_streams/seen"], ["embeddings/q"]]
    maintained = next(e for e in events_of(tmp_path) if e["job"]["name"] == "maintain.seen")
    made = {(table.rpartition("/lake/")[2], name) for table, name, _ in columns_of(maintained)}
    assert made >= {("output_streams/seen", "subject")}
    assert {table for table, _ in made} == {"embeddings/seen", "output_streams/seen"}


def test_events_of_a_derived_graph_go_from_what_gives_it_to_what_reads_it(tmp_path: Path) -> None:
    project = Project(tmp_path).declare(PATCHES)
    project.query("up", "#+ graph: urn:d:up\nCONSTRUCT WHERE { ?s <urn:p> ?o }")
    project.query("by_name", "#+ reads: [up]\nSELECT * { ?s <urn:p> ?o }")
    project.query("by_iri", "SELECT * FROM <urn:d:up> { ?s <urn:p> ?o }")
    project.change_set("A <urn:a> <urn:p> <urn:b>")
    steps = steps_of(project, RunOptions())
    assert steps["maintain.up"] == [["triples"], ["embeddings/up", "derived/up"]]
    assert steps["maintain.by_name"] == [["derived/up", "triples"], ["embeddings/by_name"]]
    assert steps["maintain.by_iri"] == [["derived/up"], ["embeddings/by_iri"]]


def steps_of(project: Project, options: RunOptions) -> dict[str, list[list[str]]]:
    """The names of what each job of a first run read and wrote."""
    lineage = OpenLineage(file=project.folder / "lineage.jsonl", namespace="house")
    settings = project.settings.model_copy(update={"openlineage": lineage})
    with opened(settings) as own:
        assert not errors_of([*run_pipeline(own, "first", options)])
    return {
        event["job"]["name"]: [
            [dataset["name"].removeprefix(f"{own.lake.root}/") for dataset in event[side]]
            for side in ("inputs", "outputs")
        ]
        for event in events_of(project.folder)
    }


@pytest.fixture
def young(tmp_path: Path) -> Museum:
    """A project before its first run."""
    museum = Museum(tmp_path / "young", exhibits=3)
    for name in ("loans", "rooms"):
        (museum.folder / f"queries/{name}.rq").unlink()
    museum.deliver()
    return museum


def warnings_of(museum: Museum) -> Sequence[str]:
    with weir.Project(museum.folder) as project:
        return project.run().warnings


def test_without_the_setting_nothing_is_imported_or_written(
    young: Museum, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("weir.lineage")]:
        monkeypatch.delitem(sys.modules, name)
    before = {path.name for path in young.folder.iterdir()}
    young.run()
    assert not [name for name in sys.modules if name.startswith("weir.lineage")]
    assert {path.name for path in young.folder.iterdir()} - before <= {"lake", ".weir_cache"}


def test_the_program_that_airflow_starts_writes_the_events_of_its_run(young: Museum) -> None:
    config = young.folder / CONFIG_FILE
    with opened(Settings.load(config)) as own:
        ingest_changes(own, "other")
        maintain_queries(own, "own")
    configure(young.folder, 'file = "lineage.jsonl"\n')
    assert write_documents.main(["--config", str(config), "--run-id", "own"]) == 0
    jobs = [event["job"]["name"] for event in events_of(young.folder)]
    assert jobs == ["maintain.exhibits", "maintain"]


def test_the_program_that_airflow_starts_writes_the_events_of_one_stage(young: Museum) -> None:
    config = young.folder / CONFIG_FILE
    configure(young.folder, 'file = "lineage.jsonl"\n')
    with opened(Settings.load(config)) as own:
        # Runs of two DAGs can begin at one time, and then have one id.
        ingest_changes(own, "scheduled")
        maintain_queries(own, "scheduled")
    arguments = ["--config", str(config), "--run-id", "scheduled"]
    assert write_documents.main([*arguments, "--lineage-of", "refresh"]) == 0
    assert events_of(young.folder) == []
    assert write_documents.main([*arguments, "--lineage-of", "ingest"]) == 0
    (event,) = events_of(young.folder)
    assert event["job"]["name"] == "ingest"


def test_an_endpoint_gets_each_event_once_with_credentials(
    young: Museum, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_CATALOGUE", "https://:correct-horse@catalogue.example")
    with CountingServer(lambda _: answer_of(b"", status="201 Created")) as server:
        configure(
            young.folder,
            f'url = "{server.url}"\nallow = ["127.0.0.1/32"]\nports = [{server.port}]\n'
            'connection = "catalogue"\nnamespace = "house"\n',
        )
        assert not warnings_of(young)
        young.run()
    parts = [request.partition(b"\r\n\r\n") for request in server.requests]
    sent = [json.loads(body) for _, _, body in parts]
    ends = [event for event in sent if event["eventType"] == "COMPLETE"]
    assert 2 * len(ends) == len(sent)
    assert sorted(event["job"]["name"] for event in ends) == [
        "ingest",
        *("maintain", "maintain.exhibits"),
        *("publish", "publish.exhibits"),
        *("validate", "validate.exhibits"),
    ]
    assert {event["job"]["namespace"] for event in sent} == {"house"}
    keys = [re.findall(rb"(?mi)^idempotency-key: (.+)\r$", head)[0] for head, _, _ in parts]
    assert len({*keys}) == len(keys)
    assert all(b"Authorization: Bearer correct-horse" in head for head, _, _ in parts)


def test_an_endpoint_that_refuses_is_a_warning_without_secrets_and_is_asked_once(
    young: Museum,
) -> None:
    def refuse(request: bytes) -> bytes:
        return answer_of(b"no " + request.split(b" ")[1], status="503 Service Unavailable")

    with CountingServer(refuse) as server:
        configure(
            young.folder,
            f'url = "http://127.0.0.1:{server.port}/T0KEN-of-ours"\nallow = ["127.0.0.1/32"]\n'
            f"ports = [{server.port}]\n",
        )
        (warning,) = warnings_of(young)
    assert "503" in warning
    assert "14 events of this run are not sent" in warning
    assert "T0KEN" not in warning
    assert len(server.requests) == 1
    assert DeltaTable(f"{young.folder}/lake/answers/exhibits").to_pyarrow_table().num_rows == 3


def test_an_endpoint_that_is_slow_gets_as_many_events_as_the_setting_gives_it_time(
    young: Museum,
) -> None:
    def slow(request: bytes) -> bytes:
        del request
        time.sleep(0.3)
        return answer_of(b"", status="201 Created")

    with CountingServer(slow) as server:
        configure(
            young.folder,
            f'url = "{server.url}"\nallow = ["127.0.0.1/32"]\nports = [{server.port}]\n'
            "seconds = 0.5\n",
        )
        (warning,) = warnings_of(young)
    assert "of this run are not sent" in warning
    assert len(server.requests) < 14


def test_a_file_that_cannot_be_written_is_a_warning(young: Museum) -> None:
    configure(young.folder, 'file = "data"\n')
    (warning,) = warnings_of(young)
    assert "data cannot be written" in warning


def test_processes_that_append_at_once_leave_whole_lines(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    file.write_bytes(b"half of a line")
    texts = [letter * 200_000 for letter in "abcdef"]
    threads = [
        threading.Thread(target=append_lines, args=(file, f"{text}\n".encode())) for text in texts
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    half, *lines = file.read_text().splitlines()
    assert half == "half of a line"
    assert sorted(lines) == texts


@pytest.mark.parametrize(
    ("root", "namespace", "name"),
    [
        ("/data/lake", "file", "/data/lake/quads"),
        ("s3://bucket/a/lake", "s3://bucket", "a/lake/quads"),
        ("s3a://bucket", "s3://bucket", "quads"),
        ("gs://bucket/lake", "gs://bucket", "lake/quads"),
        (
            "abfss://box@house.dfs.core.windows.net/lake",
            "abfss://box@house.dfs.core.windows.net",
            "lake/quads",
        ),
    ],
)
def test_a_table_has_the_name_that_openlineage_has_for_its_store(
    root: str, namespace: str, name: str
) -> None:
    lake: Any = SimpleNamespace(location=lambda table: f"{root}/{table}")
    dataset = table_dataset(lake, "quads")
    assert (dataset["namespace"], dataset["name"]) == (namespace, name)


def test_a_query_reads_the_tables_of_its_parts(tmp_path: Path) -> None:
    project = Project(tmp_path).declare(PATCHES, READINGS)
    project.remotes({"name": "far", "iri": REMOTE, "contact": "tests@example.org"})
    seeds = "seeds: ['https://a.example/'], contact: tests@example.org"
    project.write("traversals.yml", f"traversals:\n  - {{name: pods, {seeds}}}\n")
    project.query("all", "SELECT ?a { ?a <http://x/p> ?b }")
    project.query("named", "SELECT ?a { GRAPH <http://x/g> { ?a <http://x/p> ?b } }")
    project.query("asked", f"SELECT ?a {{ SERVICE <{REMOTE}> {{ ?a <http://x/p> ?b }} }}")
    project.query("walked", "SELECT ?a { GRAPH <urn:weir:web:pods> { ?a <http://x/p> ?b } }")
    project.query("seen", SEEN)
    project.query("often", OFTEN)
    project.program("steady", PROGRAM)
    now = datetime.fromisoformat("2030-01-01T00:00:00+00:00")
    contents = call(read_contents, project.settings, now)
    assert {name: {*read} for name, read in tables_read(contents).items()} == {
        "all": {"triples"},
        "named": {"quads"},
        "asked": {"quads", "replicas/far"},
        "walked": {"quads", "documents/pods"},
        "seen": {"streams/readings"},
        "often": {"output_streams/seen"},
        "steady": {"streams/readings"},
    }


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ('file = "a"\nurl = "https://a"', "one of file and url"),
        ('url = "https://a"\nallow = ["localhost"]', "localhost"),
        ('urls = "https://a"', "urls: no such setting"),
    ],
)
def test_a_wrong_setting_is_refused(young: Museum, text: str, mistake: str) -> None:
    configure(young.folder, text)
    with pytest.raises(weir.ConfigurationError, match=mistake):
        Settings.load(young.folder / CONFIG_FILE)
