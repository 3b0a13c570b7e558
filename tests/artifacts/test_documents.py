"""What the documents say of definitions, tables, runs, checks and sources."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from tests.support.artifacts import NOW, Documents
from tests.support.opened import opened
from tests.support.projects.project import PATCHES, SNAPSHOTS, Project
from weir.artifacts.contents import Contents, SourceNode
from weir.artifacts.sources import sources
from weir.definitions.catalog import Catalog
from weir.errors import WeirError
from weir.stage import claimed
from weir.text.secret_values import hide

INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
AGES = """#+ description: Who is how old.
#+ owner: ana
#+ tags: [people]
#+ columns: {age: In years.}
SELECT ?who ?age { ?who <http://x/age> ?age }
"""
LIMITS = {"column": "age", "min_value": 0, "max_value": 120}
BETWEEN = {"type": "expect_column_values_to_be_between", "kwargs": LIMITS, "name": "plausible"}
FEW = {
    "type": "UnexpectedRowsExpectation",
    "kwargs": {"unexpected_rows_query": "SELECT * FROM {current} WHERE age > 40"},
    "name": "young",
    "severity": "warn",
}
UNIQUE = {"type": "expect_column_values_to_be_unique", "kwargs": {"column": "who"}}
TIMES = re.compile(r'"(generated_at|snapshotted_at|max_loaded_at_time_ago_in_s)": [^,}]+')


def age(who: str, years: int) -> str:
    return f'A <http://x/{who}> <http://x/age> "{years}"^^<{INTEGER}>'


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project whose first run published all, and whose second holds an answer.

    `ages` has a typed table and checks, `names` neither; the file of `broken` is wrong.
    """
    project = Project(tmp_path_factory.mktemp("ran")).declare(PATCHES, current_rows=1_000)
    project.query("ages", AGES)
    project.query("names", "SELECT DISTINCT ?name { ?who <http://x/name> ?name }")
    suite = {"answers": "ages", "expectations": [BETWEEN, FEW, UNIQUE]}
    project.write("expectations/ages.yml", yaml.safe_dump(suite, sort_keys=False))
    project.change(age("a", 42), age("b", 9), 'A <http://x/a> <http://x/name> "Ann"')
    project.stages("maintain", "validate", "publish", run_id="first")
    project.query("broken", "SELECT ?s WHERE")
    project.change(age("c", 300), age("d", 400), 'A <http://x/b> <http://x/name> "Bo"')
    for stage, error in (("maintain", "broken"), ("validate", "ages"), ("publish", "ages")):
        with pytest.raises(WeirError, match=error):
            project.stages(stage, run_id="second")
    project.write("queries/names.rq", "SELECT ?name ?who { ?who <http://x/name> ?name }")
    return project


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project that published `ages` without a typed table."""
    project = Project(tmp_path_factory.mktemp("plain")).declare(PATCHES)
    project.query("ages", AGES)
    project.change(age("a", 42))
    project.stages("maintain", "validate", "publish", run_id="first")
    return project


@pytest.fixture(scope="module")
def documents(ran: Project) -> Documents:
    """Those of the project."""
    return Documents.of(ran)


def test_every_definition_is_a_node_with_its_text_and_what_is_said_of_it(
    ran: Project, documents: Documents
) -> None:
    models = {n.name: n for n in documents.manifest.nodes.values() if n.resource_type == "model"}
    assert {name: node.raw_code for name, node in models.items()} == {
        file.stem: file.read_text() for file in ran.settings.queries.iterdir()
    }
    ages = documents.node("ages")
    assert (ages.description, ages.tags, ages.meta) == (
        "Who is how old.",
        ["people"],
        {"kind": "query", "form": "select", "owner": "ana"},
    )
    assert (ages.original_file_path, ages.language) == ("queries/ages.rq", "sql")
    assert (ages.relation_name, ages.alias) == ('"weir"."current"."ages"', "ages")
    assert documents.node("broken").columns == {}


def test_every_definition_that_can_be_used_has_its_columns(tmp_path: Path) -> None:
    project = Project(tmp_path).declare()
    texts = ("SELECT ?a ?b { ?a ?p ?b }", "ASK { ?a ?p ?b }", "CONSTRUCT { ?b ?p ?a } { ?a ?p ?b }")
    for number, text in enumerate(texts):
        project.query(f"q{number}", text)
    documents = Documents.of(project)
    for member in Catalog.of(project.settings).members:
        columns = [*documents.node(member.name).columns]
        assert columns == ["epoch", "weight", *member.output.columns, "event_time"]


def test_a_published_table_is_in_the_catalogue_with_its_columns_types_and_rows(
    ran: Project, documents: Documents
) -> None:
    ages, names = (documents.catalog.nodes[f"model.weir.{name}"] for name in ("ages", "names"))
    shown = [(c.index, c.name, c.type, c.comment) for c in ages.columns.values()]
    assert shown == [
        (1, "who", "STRING", ""),
        (2, "age", "BIGINT", "In years."),
        (3, "count", "BIGINT", "how often the answer has the row"),
    ]
    assert (ages.metadata.schema_, ages.metadata.owner) == ("current", "ana")
    assert (ages.stats["num_rows"].value, ages.stats["epoch"].value) == (2, 1)
    # The table of an edited query has the columns of the text before.
    assert [*names.columns][:1] == ["name"]
    assert {*documents.catalog.nodes} == {"model.weir.ages", "model.weir.names"}
    assert sorted(ran.columns("current/ages")) == sorted(ages.columns)


def test_the_columns_of_a_log_are_those_that_it_has(plain: Project) -> None:
    columns = Documents.of(plain).catalog.nodes["model.weir.ages"].columns
    assert [*columns] == plain.columns("answers/ages")
    assert columns["age"].comment == "In years."


def test_a_held_query_is_an_error_with_its_reason(documents: Documents) -> None:
    held = documents.result("ages")
    assert held.status.value == "error"
    assert held.message == "check plausible: 2 unexpected (expectations/ages.yml:3)"


def test_a_broken_file_is_an_error_with_its_place_and_an_edited_query_is_skipped(
    documents: Documents,
) -> None:
    broken, names = documents.result("broken"), documents.result("names")
    assert (broken.status.value, "broken.rq:1" in broken.message) == ("error", True)
    edited = ("skipped", "edited: the next run recomputes it")
    assert (names.status.value, names.message) == edited


def test_a_query_that_the_run_brought_up_to_date_is_a_success_with_its_time(
    plain: Project,
) -> None:
    documents = Documents.of(plain)
    result = documents.result("ages")
    seconds = sum(plain.ledger(job)["ages"]["seconds"] for job in ("maintain", "publish"))
    assert (result.status.value, result.adapter_response) == ("success", {"rows_affected": 1})
    assert result.execution_time == seconds
    (timing,) = result.timing
    begun, ended = map(datetime.fromisoformat, (timing.started_at, timing.completed_at))
    assert (ended - begun).total_seconds() == pytest.approx(seconds, abs=1e-5)
    assert documents.run_results.metadata.invocation_id == "first"


def test_a_query_that_the_newest_run_did_not_compute_has_no_time(
    plain: Project, tmp_path: Path
) -> None:
    project = plain.copy(tmp_path / "untouched")
    project.change('A <http://x/a> <http://x/other> "x"')
    project.stages("maintain", "validate", "publish", run_id="second")
    documents = Documents.of(project)
    result = documents.result("ages")
    assert (result.status.value, result.timing, result.execution_time) == ("success", [], 0)
    assert documents.run_results.metadata.invocation_id == "second"


def test_a_query_that_failed_is_an_error_with_its_reason(tmp_path: Path) -> None:
    project = Project(tmp_path / "failed").declare(PATCHES)
    project.configure(product_rows=1)
    project.query("pairs", "SELECT * { ?a <http://x/age> ?x . ?b <http://x/age> ?y }")
    project.change(age("a", 42), age("b", 9))
    with pytest.raises(WeirError, match="pairs"):
        project.maintain()
    result = Documents.of(project).result("pairs")
    assert (result.status.value, "product" in result.message) == ("error", True)


def test_a_check_is_a_test_of_its_query_with_its_arguments(documents: Documents) -> None:
    test: Any = documents.manifest.nodes["test.weir.ages.plausible"]
    assert test.depends_on.nodes == ["model.weir.ages"] == [test.attached_node]
    assert (test.column_name, test.config.severity) == ("age", "ERROR")
    assert test.original_file_path == "expectations/ages.yml"
    assert test.test_metadata.model_dump() == {
        "name": BETWEEN["type"],
        "namespace": "dbt_expectations",
        "kwargs": LIMITS | {"column_name": "age"},
    }
    warning: Any = documents.manifest.nodes["test.weir.ages.young"]
    assert (warning.config.severity, warning.column_name) == ("WARN", None)
    assert warning.raw_code == "SELECT * FROM {current} WHERE age > 40"


def test_a_check_that_fails_warns_or_passes_says_so_with_its_failures(
    documents: Documents,
) -> None:
    checks = ("plausible", "young", "expect_column_values_to_be_unique_who")
    results = {name: documents.result(f"ages.{name}") for name in checks}
    assert [(r.status.value, r.failures) for r in results.values()] == [
        ("fail", 2),
        ("warn", 3),
        ("pass", 0),
    ]
    assert "2 unexpected rows" in results["plausible"].message


def test_a_check_that_has_not_run_has_no_result(tmp_path: Path, ran: Project) -> None:
    project = ran.copy(tmp_path / "copy")
    check = {"type": "expect_column_values_to_be_unique", "kwargs": {"column": "name"}}
    suite = {"answers": "names", "expectations": [check | {"name": "plausible"}]}
    project.write("expectations/names.yml", yaml.safe_dump(suite))
    documents = Documents.of(project)
    assert "test.weir.names.plausible" in documents.manifest.nodes
    assert "test.weir.names.plausible" not in {
        result.unique_id for result in documents.run_results.results
    }


def test_a_source_is_as_fresh_as_its_newest_epoch(ran: Project, documents: Documents) -> None:
    newest = max(row["ingested_at"] for row in ran.table("transactions"))
    (result,) = documents.sources.results
    said: Any = result
    assert (said.unique_id, said.status.value) == ("source.weir.graph.p", "pass")
    assert datetime.fromisoformat(said.max_loaded_at) == newest
    assert said.max_loaded_at_time_ago_in_s == (NOW - newest).total_seconds()
    assert documents.catalog.sources[said.unique_id].stats["epoch"].value == 2


def test_a_source_that_is_stopped_is_an_error_with_its_reason(tmp_path: Path) -> None:
    project = Project(tmp_path / "stopped").declare(SNAPSHOTS)
    project.write("versions/1.ttl", "<html>")
    (reason,) = (str(error) for error in project.ingest().errors)
    (result,) = Documents.of(project).sources.results
    assert getattr(result, "error", None) == reason.replace(f"{project.folder}/", "")


@pytest.mark.parametrize(
    ("state", "evaluated", "expected"),
    [
        ("fresh", True, "pass"),
        ("backing_off", True, "pass"),
        ("warn", True, "warn"),
        ("error", True, "error"),
        ("error", False, "runtime error"),
        ("never_evaluated", False, None),
    ],
)
def test_a_remote_is_as_fresh_as_its_limits_say(
    state: str, evaluated: bool, expected: str | None
) -> None:
    limits = SimpleNamespace(warn_after="PT90S", error_after="PT1H")
    at = NOW - timedelta(minutes=5) if evaluated else None
    fresh: Any = SimpleNamespace(state=state, evaluation=at, reason="why", remote=limits)
    node = SourceNode("source.weir.remotes.far", "remotes", "far", None, None, fresh)
    settings: Any = None
    document = sources(Contents(settings, NOW, (), (node,), None, {}, {}))
    assert [result["status"] for result in document["results"]] == ([expected] if expected else [])
    if evaluated:
        (result,) = document["results"]
        assert result["max_loaded_at_time_ago_in_s"] == 300
        assert result["criteria"] == {
            "warn_after": {"count": 2, "period": "minute"},
            "error_after": {"count": 60, "period": "minute"},
        }


def test_two_calls_write_equal_bytes_but_for_the_times(ran: Project, documents: Documents) -> None:
    assert Documents.of(ran).files == documents.files
    later = Documents.of(ran, NOW + timedelta(days=1)).files
    assert later != documents.files
    assert {name: TIMES.sub(r"\1", text) for name, text in later.items()} == {
        name: TIMES.sub(r"\1", text) for name, text in documents.files.items()
    }


def test_the_documents_do_not_depend_on_where_the_project_is(
    ran: Project, documents: Documents, tmp_path: Path
) -> None:
    assert Documents.of(ran.copy(tmp_path / "elsewhere")).files == documents.files


def test_a_project_without_a_lake_has_a_manifest_and_nothing_else(tmp_path: Path) -> None:
    project = Project(tmp_path).declare(PATCHES)
    project.query("ages", AGES)
    documents = Documents.of(project)
    assert [*documents.manifest.nodes] == ["model.weir.ages"]
    assert [*documents.manifest.sources] == ["source.weir.graph.p"]
    assert (documents.catalog.nodes, documents.catalog.sources) == ({}, {})
    assert documents.run_results.results == []
    assert documents.sources.results == []
    assert not Path(project.settings.lake).exists()


def test_beside_a_run_that_is_at_work_the_run_before_is_reported(
    ran: Project, tmp_path: Path
) -> None:
    project = ran.copy(tmp_path / "copy")
    with opened(project.settings) as own, claimed(own.open_lake(), "maintain", "third", 60):
        versions = project.versions()
        documents = Documents.of(project)
        assert project.versions() == versions
    assert documents.run_results.metadata.invocation_id == "second"
    assert documents.result("ages").status.value == "error"


def test_no_secret_of_a_store_or_of_a_source_is_in_a_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, token, word = "c4n4ry-of-the-store", "c4n4ry-of-a-source", "query"
    options = {"AWS_SECRET_ACCESS_KEY": key, "AWS_SESSION_TOKEN": word}
    monkeypatch.setenv("WEIR_STORAGE_OPTIONS", json.dumps(options))
    location = f"https://user:{token}@store.example/table?sig={token}"
    project = Project(tmp_path).declare({"name": "t", "kind": "delta", "location": location})
    hide([token])
    project.query("ages", f"{AGES.replace('Who', key)}# {key}\n")
    documents = Documents.of(project)
    assert not [name for name, text in documents.files.items() if "c4n4ry" in text]
    # A short secret is an ordinary word elsewhere.
    assert documents.node("ages").meta["kind"] == "query"
    assert documents.node("ages").description == "[secret] is how old."


def test_times_are_written_as_dbt_writes_them(documents: Documents) -> None:
    assert documents.manifest.metadata.generated_at == "2030-01-01T00:00:00.000000Z"
    assert datetime.now(UTC) < NOW
