"""The documents of a project, written and read again by dbt-artifacts-parser."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from dbt_artifacts_parser.parsers.catalog.catalog_v1 import CatalogV1
from dbt_artifacts_parser.parsers.manifest.manifest_v12 import ManifestV12
from dbt_artifacts_parser.parsers.run_results.run_results_v6 import RunResultsV6
from dbt_artifacts_parser.parsers.sources.sources_v3 import SourcesV3

from tests.support.opened import call
from tests.support.projects.project import Project
from weir.artifacts.written import write_artifacts

NOW = datetime(2030, 1, 1, tzinfo=UTC)
NAMES = ("manifest", "catalog", "run_results", "sources")


@dataclass(frozen=True)
class Documents:
    """The documents as they are read by the parser; `files` has their text, by name."""

    files: dict[str, str]
    manifest: ManifestV12
    catalog: CatalogV1
    run_results: RunResultsV6
    sources: SourcesV3

    @classmethod
    def of(cls, project: Project, now: datetime = NOW) -> Self:
        """Those of a project, written into its folder `target`."""
        folder = project.folder / "target"
        call(write_artifacts, project.settings, folder, now)
        return cls.read(folder)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Those of a folder, which has no other file."""
        files = {file.stem: file.read_text() for file in folder.iterdir()}
        assert {*files} == {*NAMES}
        manifest, catalog, run_results, sources = (json.loads(files[name]) for name in NAMES)
        return cls(
            files,
            ManifestV12(**manifest),
            CatalogV1(**catalog),
            RunResultsV6(**run_results),
            SourcesV3(**sources),
        )

    def node(self, name: str) -> Any:
        """The node of a query or program."""
        return self.manifest.nodes[f"model.weir.{name}"]

    def reads(self, name: str) -> set[str]:
        """What a query or program reads, without the name of the project."""
        return {node.replace(".weir.", ".") for node in self.node(name).depends_on.nodes}

    def result(self, name: str) -> Any:
        """What the newest run did for a query, or the result of a check, `answer.check`."""
        ids = (f"model.weir.{name}", f"test.weir.{name}")
        (result,) = (r for r in self.run_results.results if r.unique_id in ids)
        return result
