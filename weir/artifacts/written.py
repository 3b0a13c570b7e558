"""Writes the four documents of a project: each file is replaced as a whole."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from weir.artifacts.catalog import catalog
from weir.artifacts.contents import read_contents
from weir.artifacts.manifest import manifest
from weir.artifacts.run_results import run_results
from weir.artifacts.sources import sources
from weir.lake.counted import counted
from weir.lake.whole_files import write_whole
from weir.project import Project
from weir.stage import StageResult
from weir.text.secret_values import public

_DOCUMENTS = {
    "manifest.json": manifest,
    "catalog.json": catalog,
    "run_results.json": run_results,
    "sources.json": sources,
}
_FOLDER = "target"
"""Where dbt writes them."""


@dataclass(frozen=True, slots=True)
class Artifacts(StageResult):
    """The files that were written."""

    folder: Path

    @property
    def summary(self) -> str:
        """How many, and where."""
        return f"{counted(len(_DOCUMENTS), 'file')} in {self.folder.name}"


def write_artifacts(
    project: Project, folder: Path | None = None, now: datetime | None = None
) -> Artifacts:
    """Write the documents, from the lake as it is now; no claim is taken.

    But for times they are equal as long as the project and its lake are.

    Args:
        project: the project.
        folder: instead of that of the settings.
        now: instead of the time.

    Raises:
        ConfigurationError: as of `read_contents`.
    """
    settings = project.settings
    into = folder or settings.artifacts or settings.project / _FOLDER
    contents = read_contents(project, now or datetime.now(UTC))
    texts = {name: _text(document(contents)) for name, document in _DOCUMENTS.items()}
    for name, text in texts.items():
        write_whole(into / name, text)
    return Artifacts(into)


def _text(document: dict[str, Any]) -> str:
    return json.dumps(public(document)) + "\n"
