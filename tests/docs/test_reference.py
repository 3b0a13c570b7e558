"""docs/reference*.md and the tables of docs/testing.md agree with the code.

`WEIR_UPDATE_EXPECTED=1 pytest tests/docs` writes the generated tables again; read the difference
before committing it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from setup.steps import ROOT
from tests.docs.reference_tables import SECTIONS, section_of, with_section
from weir.errors import EXIT_BUSY, EXIT_FAILED, EXIT_QUALITY, EXIT_USAGE
from weir.ingest.sources.declared import AnySource, load_sources
from weir.lake.tables import SHARED_TABLES
from weir.process.interrupts import INTERRUPTED
from weir.remotes.declarations import load_remotes
from weir.settings import Settings

REFERENCE = ROOT / "docs" / "reference.md"
CODE = ("dags", "jobs", "weir", "lake", "expectations", "setup", "tests", "bench")


@pytest.mark.parametrize("name", SECTIONS)
def test_a_table_of_the_reference_agrees_with_the_code(name: str) -> None:
    path, render = SECTIONS[name]
    file = ROOT / path
    page, text = file.read_text(encoding="utf-8"), render()
    if os.environ.get("WEIR_UPDATE_EXPECTED"):
        file.write_text(with_section(page, name, text), encoding="utf-8")
    else:
        assert section_of(page, name) == text


def test_every_exit_code_is_in_the_reference() -> None:
    exits = REFERENCE.read_text(encoding="utf-8").partition("\n## Exit codes\n")[2]
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", exits, re.MULTILINE)}
    assert listed == {0, EXIT_FAILED, EXIT_USAGE, EXIT_QUALITY, EXIT_BUSY, INTERRUPTED}


def test_every_shared_table_is_in_the_list_of_views() -> None:
    page = REFERENCE.read_text(encoding="utf-8")
    views = page.partition("\n## Views\n")[2].partition("\n## ")[0]
    row = re.search(r"^\| (.*) \| the tables \|$", views, re.MULTILINE)
    assert row is not None
    listed = {*re.findall(r"`(\w+)`", row[1])}
    assert listed == {table.name for table in SHARED_TABLES}


def test_every_environment_variable_is_in_a_document() -> None:
    documents = "".join(
        (ROOT / file).read_text(encoding="utf-8")
        for file in ("docs/reference-settings.md", "docs/testing.md")
    )
    assert {name for name in _variables() if f"`{name}" not in documents} == set()


def test_the_sources_of_the_reference_can_be_declared(tmp_path: Path) -> None:
    page = REFERENCE.read_text(encoding="utf-8")
    example = page.partition("```yaml\nsources:")[2].partition("```")[0]
    file = tmp_path / "sources.yml"
    file.write_text(f"sources:{example}", encoding="utf-8")
    assert {type(source) for source in load_sources(file)} == set(get_args(AnySource))


def test_the_remotes_of_the_reference_can_be_declared(tmp_path: Path) -> None:
    page = REFERENCE.read_text(encoding="utf-8")
    example = page.partition("```yaml\nremotes:")[2].partition("```")[0]
    file = tmp_path / "remotes.yml"
    file.write_text(f"remotes:{example}", encoding="utf-8")
    assert [remote.name for remote in load_remotes(file).values()] == ["wikidata"]


def _variables() -> Iterator[str]:
    """The environment variables that the code names, without those that are settings."""
    sections = tuple(f"WEIR_{name}".upper() for name in Settings.model_fields)
    for folder in CODE:
        for file in (ROOT / folder).rglob("*.py"):
            for name in re.findall(r"\bWEIR_[A-Z_]*[A-Z]\b", file.read_text(encoding="utf-8")):
                if not name.startswith(sections) or name == "WEIR_PROJECT":
                    yield name
