"""The projects in this repository are valid."""

from __future__ import annotations

import pytest

from setup.steps import ROOT
from tests.support.catalogs import catalog_of
from weir.ingest.sources.declared import load_sources
from weir.settings import CONFIG_FILE, Settings

PROJECTS = (".", "demo")


@pytest.mark.parametrize("project", PROJECTS)
def test_every_query_of_the_project_is_accepted(project: str) -> None:
    catalog = catalog_of(Settings.load(ROOT / project / CONFIG_FILE).queries)
    assert catalog.members
    assert catalog.errors == {}


@pytest.mark.parametrize("project", PROJECTS)
def test_every_query_of_the_project_has_a_description(project: str) -> None:
    catalog = catalog_of(Settings.load(ROOT / project / CONFIG_FILE).queries)
    assert [query.name for query in catalog.members if not query.description] == []


def test_the_demo_reads_the_brick_ontology() -> None:
    (source,) = load_sources(Settings.load(ROOT / "demo" / CONFIG_FILE).sources)
    assert source.name == "brick"


def test_the_checkout_declares_no_source() -> None:
    assert load_sources(Settings.load(ROOT / CONFIG_FILE).sources) == ()
