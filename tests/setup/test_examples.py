"""The projects in this repository are valid."""

from __future__ import annotations

import pytest

from jobs.catalog.queries import load_registry
from jobs.ingest.sources.declared import load_sources
from jobs.settings import CONFIG_FILE, Settings
from setup.steps import ROOT

PROJECTS = (".", "demo")


@pytest.mark.parametrize("project", PROJECTS)
def test_every_query_of_the_project_is_accepted(project: str) -> None:
    registry = load_registry(Settings.load(ROOT / project / CONFIG_FILE).queries)
    assert registry.queries
    assert registry.errors == ()


@pytest.mark.parametrize("project", PROJECTS)
def test_every_query_of_the_project_has_a_description(project: str) -> None:
    registry = load_registry(Settings.load(ROOT / project / CONFIG_FILE).queries)
    assert [query.name for query in registry.queries if not query.front_matter.description] == []


def test_the_demo_reads_the_brick_ontology() -> None:
    (source,) = load_sources(Settings.load(ROOT / "demo" / CONFIG_FILE).sources)
    assert source.name == "brick"


def test_the_checkout_declares_no_source() -> None:
    assert load_sources(Settings.load(ROOT / CONFIG_FILE).sources) == ()
