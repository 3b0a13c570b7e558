"""Ingest of any kind of source, with a kind that only these tests have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal, NoReturn

import pytest
from pyspark.sql import SparkSession

from tests.support.opened import no_spark
from tests.support.projects.project import Project
from weir.ingest.changesets import AcceptedChangeSets, ChangeSet, Document, SourcePosition, State
from weir.ingest.reading import ChangeSetReading, Reader, SourceReading
from weir.ingest.sources.source import Source
from weir.project import Project as OpenProject
from weir.rdf.records import ParseRequest


class Pages(Source):
    """A folder of retrievals, folders of pages: each is the content of the pages in it.

    A page is a graph; its IRI is what relative IRIs are resolved against.
    """

    kind: Literal["pages"] = "pages"

    def pending(self, position: SourcePosition, project: OpenProject) -> list[ChangeSet]:
        """The retrievals after the last one."""
        del project
        return [
            self._change_set(folder)
            for folder in sorted(Path(self.location).iterdir())
            if folder.name not in position.positions
        ]

    def read(
        self, accepted: AcceptedChangeSets, position: SourcePosition, reader: Reader
    ) -> SourceReading:
        """The rows of the pages."""
        del position
        parsed = reader.parse(accepted, self.name)
        readings = {
            ordinal: ChangeSetReading(None, None, sum(page.result.changes for page in pages), 0)
            for ordinal, pages in parsed.documents.items()
        }
        return SourceReading(parsed.rows, readings)

    def _change_set(self, folder: Path) -> ChangeSet:
        documents = tuple(self._document(file) for file in sorted(folder.iterdir()))
        graphs = frozenset(document.request.graph for document in documents)
        return ChangeSet(self, folder.name, State(graphs), documents)

    def _document(self, file: Path) -> Document:
        iri = f"http://example.org/{file.stem}/"
        request = ParseRequest(
            str(file), "turtle", "snapshot", f"{self.name}/{file.stem}", f"<{iri}>", iri
        )
        return Document(file.stem, file.stat().st_size, request)


@pytest.fixture
def pages(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    source = Pages(name="pages", location=str(project.folder / "pages"))
    monkeypatch.setattr("weir.ingest.run.all_sources", lambda _: (source,))
    project.declare()
    return project


def retrieve(project: Project, number: int, **retrieved: str) -> None:
    for page, turtle in retrieved.items():
        project.write(f"pages/{number}/{page}.ttl", turtle)


def test_a_document_has_its_own_graph_and_base(pages: Project) -> None:
    retrieve(pages, 1, a="<x> <urn:p> <> .", b="<x> <urn:p> <> .")
    pages.ingest()
    assert pages.state(1) == {
        (
            "<http://example.org/a/>",
            "<http://example.org/a/x>",
            "<urn:p>",
            "<http://example.org/a/>",
        ),
        (
            "<http://example.org/b/>",
            "<http://example.org/b/x>",
            "<urn:p>",
            "<http://example.org/b/>",
        ),
    }


def retrieve_thrice(project: Project, spark: SparkSession | Callable[[], NoReturn]) -> None:
    one, two = "<x> <urn:p> 1 .", "<x> <urn:p> 2 ."
    retrieve(project, 1, a=one, b=one)
    retrieve(project, 2, a=two)
    project.ingest(spark)
    retrieve(project, 3, b="", c=one)
    project.ingest(spark)


def assert_each_retrieval_changes_its_pages_only(project: Project) -> None:
    columns = ("epoch", "inserted", "deleted")
    assert project.rows("transactions", *columns) == [(1, 2, 0), (2, 1, 1), (3, 1, 1)]
    changed = {(quad[0], quad[3]) for quad in project.state(3)}
    two, one = (f'"{n}"^^<http://www.w3.org/2001/XMLSchema#integer>' for n in (2, 1))
    assert changed == {("<http://example.org/a/>", two), ("<http://example.org/c/>", one)}


def test_pages_that_are_not_retrieved_again_do_not_change(pages: Project) -> None:
    retrieve_thrice(pages, no_spark)
    assert_each_retrieval_changes_its_pages_only(pages)


def test_on_spark_pages_that_are_not_retrieved_again_do_not_change(
    pages: Project, spark: SparkSession
) -> None:
    pages.declare(driver_parse_bytes=0, driver_rows=0)
    retrieve_thrice(pages, spark)
    assert_each_retrieval_changes_its_pages_only(pages)


def test_blank_nodes_of_equal_content_are_one_node_per_document(pages: Project) -> None:
    node = "[] <urn:p> 1 ."
    retrieve(pages, 1, a=node, b=node)
    retrieve(pages, 2, a=node)
    pages.ingest()
    assert len({quad[1] for quad in pages.state(2)}) == 2
    assert pages.rows("transactions", "inserted", "deleted") == [(0, 0), (2, 0)]
