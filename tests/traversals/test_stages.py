"""A traversal through its inbox and ingest: the graph has the documents that a search reaches."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.damage import append_foreign
from tests.support.opened import call
from tests.support.projects.project import Project
from tests.traversals.served import Served
from tests.traversals.webs import HOSTS, PREDICATES, Oracle, Web, change, random_web
from weir.audit.checked import table_of
from weir.audit.stage import examined
from weir.expectations.suite import QualityResult
from weir.ingest.stage import ingest_changes
from weir.lake.tables import Table
from weir.project import open_lake
from weir.rdf.reserved_graphs import about_graph, document_graph, web_graph
from weir.remotes.request_log import EvaluationLog
from weir.traversals import inbox
from weir.traversals.declarations import load_traversals
from weir.traversals.evaluation import TraversalEvaluation
from weir.traversals.reading import DESCRIBED_BY, ReadingOptions
from weir.traversals.rules import Rules
from weir.traversals.search import SearchLimits

START = datetime(2026, 1, 1, tzinfo=UTC)
SEEDS = ("https://a.example/0#me", "https://b.example/1")
TRAVERSALS = """
traversals:
  - name: nose
    seeds: ["https://a.example/0#me", "https://b.example/1"]
    follow: all
    hosts: [a.example, b.example, c.example]
    contact: team@example.org
    keep_unreachable: PT0S
    gone_after: 1
    pause: PT0S
"""


def expected_quads(web: Web, rules: Rules, limits: SearchLimits) -> set[tuple[str, ...]]:
    """The quads of the dataset that the oracle reaches: documents, about them, and the merge."""
    quads: set[tuple[str, ...]] = set()
    for iri, aliases in Oracle(web, rules, limits, HOSTS).run(SEEDS).items():
        triples = web.at(iri)
        assert isinstance(triples, list)
        about = [(f"<{alias}>", DESCRIBED_BY, f"<{iri}>") for alias in aliases]
        quads |= {(document_graph("nose", iri), *triple) for triple in triples}
        quads |= {(about_graph("nose", iri), *triple) for triple in about}
        quads |= {(web_graph("nose"), *triple) for triple in (*triples, *about)}
    return quads


def held(project: Project) -> set[tuple[str, ...]]:
    """The quads that hold now."""
    weights: dict[tuple[str, ...], int] = {}
    for row in project.table("quads"):
        quad = (row["graph"], row["subject"], row["predicate"], row["object"])
        weights[quad] = weights.get(quad, 0) + row["weight"]
    assert set(weights.values()) <= {0, 1}
    return {quad for quad, weight in weights.items() if weight}


def log_of(project: Project) -> list[tuple[Any, ...]]:
    """The log of the graph: quads with epoch and weight, in order; and the number of epochs."""
    quads = sorted(tuple(row.values()) for row in project.table("quads"))
    return [*quads, (len(project.table("transactions")),)]


def ingested_at_once(project: Project, folder: Path) -> Project:
    """Another project with the documents of this one, which one run ingests."""
    other = Project(folder)
    for file in ("traversals.yml", "sources.yml"):
        other.write(file, (project.folder / file).read_text())
    documents = "lake/documents/nose"
    shutil.copytree(project.folder / documents, folder / documents)
    call(ingest_changes, other.settings, "at-once")
    return other


def evaluate(project: Project, web: Web, at: datetime, lifetime: float = 0.0) -> Served:
    """Evaluate the traversal at an instant."""
    declared = load_traversals(project.settings.traversals)["nose"]
    lake, rules = open_lake(project.settings), declared.rules()
    log = EvaluationLog.since(lake, "nose", at, f"run-{at:%H%M}", lambda: at, -1)
    served = Served(web, ReadingOptions("nose", rules), at, lifetime)
    TraversalEvaluation(declared, rules, SEEDS, lake, log, served, lambda: at).run()
    return served


@pytest.mark.law("webs through ingest")
def test_the_graph_has_the_documents_that_a_search_reaches(
    seeds: Iterable[int], tmp_path: Path
) -> None:
    for seed in seeds:
        rng = random.Random(seed)
        project = Project(tmp_path / f"{seed}")
        project.write("traversals.yml", TRAVERSALS)
        project.write("sources.yml", "sources: []\n")
        web = random_web(rng, 12)
        rules, limits = Rules(every=True), SearchLimits()
        for step in range(6):
            evaluate(project, web, START + timedelta(hours=step))
            if rng.random() < 0.7 or step == 5:
                call(ingest_changes, project.settings, f"ingest-{step}")
                assert held(project) == expected_quads(web, rules, limits), (seed, step)
                assert project.table("triples") == []
            change(rng, web, 12)
        before = log_of(project)
        call(ingest_changes, project.settings, "again")
        assert log_of(project) == before, (seed, "a replay commits nothing")
        assert log_of(ingested_at_once(project, tmp_path / f"{seed}-once")) == before, seed


@pytest.mark.parametrize("weight", [1, -1])
def test_an_audit_finds_a_merge_that_is_not_that_of_the_documents(
    tmp_path: Path, weight: int
) -> None:
    project = Project(tmp_path)
    project.write("traversals.yml", TRAVERSALS)
    project.write("sources.yml", "sources: []\n")
    rng = random.Random(1)
    web = random_web(rng, 12)
    for step in range(3):
        evaluate(project, web, START + timedelta(hours=step))
        call(ingest_changes, project.settings, f"ingest-{step}")
        change(rng, web, 12)
    (good,) = merge_checks(project)
    assert good.success
    rows = (row for row in project.table("quads") if row["graph"] == web_graph("nose"))
    merged = next(row for row in rows if row["weight"] == 1)
    more = {"object": '"never"'} if weight > 0 else {}
    append_foreign(open_lake(project.settings), "quads", [{**merged, **more, "weight": weight}])
    (wrong,) = merge_checks(project)
    assert (table_of(wrong), wrong.success, wrong.unexpected_rows) == ("quads", False, 1)


def merge_checks(project: Project) -> list[QualityResult]:
    """The results of a whole audit about what traversals merged."""
    results = call(examined, project.settings, "audit", full=True).results
    return [result for result in results if result.expectation == "is_merged"]


def test_an_evaluation_without_a_change_is_no_epoch(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("traversals.yml", TRAVERSALS)
    project.write("sources.yml", "sources: []\n")
    web = Web({SEEDS[1]: [(f"<{SEEDS[1]}>", PREDICATES[0], '"text"')]})
    for hour in range(3):
        evaluate(project, web, START + timedelta(hours=hour))
        call(ingest_changes, project.settings, f"ingest-{hour}")
    assert [row["epoch"] for row in project.table("transactions")] == [1]


def test_links_that_were_read_again_by_other_rules_are_kept(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("sources.yml", "sources: []\n")
    first, second = "https://a.example/2", "https://a.example/3"
    # So many others that no summary is written.
    others = [f"https://c.example/{number}" for number in range(30)]
    both = [(f"<{SEEDS[1]}>", rule, f"<{iri}>") for iri in others for rule in PREDICATES[:2]]
    web = Web(
        {
            SEEDS[1]: [
                (f"<{SEEDS[1]}>", PREDICATES[0], f"<{first}>"),
                (f"<{SEEDS[1]}>", PREDICATES[1], f"<{second}>"),
                *both,
            ],
            **{iri: [(f"<{iri}>", PREDICATES[2], '"other"')] for iri in others},
            first: [(f"<{first}>", PREDICATES[2], '"first"')],
            second: [(f"<{second}>", PREDICATES[2], '"second"')],
        }
    )
    for hour, predicate in enumerate((PREDICATES[0], PREDICATES[1], PREDICATES[1])):
        follows = TRAVERSALS.replace("follow: all", f"follow: ['{predicate}']")
        project.write("traversals.yml", follows)
        # Nothing is asked for again: what is followed is what is known.
        evaluate(project, web, START + timedelta(hours=hour), lifetime=86_400.0)
        call(ingest_changes, project.settings, f"ingest-{hour}")
        reached = {row[0] for row in held(project)} & {
            document_graph("nose", iri) for iri in (first, second)
        }
        expected = first if predicate == PREDICATES[0] else second
        assert reached == {document_graph("nose", expected)}


def test_a_table_of_an_earlier_version_is_gone_on_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(tmp_path)
    project.write("traversals.yml", TRAVERSALS)
    project.write("sources.yml", "sources: []\n")
    web = random_web(random.Random(3), 12)
    with monkeypatch.context() as earlier:
        earlier.setattr(inbox, "SUMMARY_FORMAT", 1)
        for name in ("documents", "document_summary"):
            made = getattr(inbox, name)

            def without(traversal: str, own: Any = made) -> Table:
                table: Table = own(traversal)
                columns = tuple(column for column in table.columns if column.name != "by_header")
                return replace(table, columns=columns)

            earlier.setattr(inbox, name, without)
        evaluate(project, web, START)
    change(random.Random(4), web, 12)
    evaluate(project, web, START + timedelta(hours=1))
    call(ingest_changes, project.settings, "ingest")
    assert held(project) == expected_quads(web, Rules(every=True), SearchLimits())
