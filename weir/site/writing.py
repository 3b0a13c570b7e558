"""Writes the site of a project: pages, their data, and what they load."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from importlib.resources import files as resources
from pathlib import Path
from typing import Any, Final

from weir.answers.plain_values import connect_with_plain_values
from weir.artifacts.contents import read_contents
from weir.errors import ConfigurationError
from weir.lake.counted import counted
from weir.lake.delta.bindings import Bindings
from weir.lake.whole_files import one_writer
from weir.pages.page import render
from weir.pending import Pending
from weir.project import Project
from weir.site.answers import AnswerPages
from weir.site.epochs import Epochs
from weir.site.files import SiteFiles, called
from weir.site.graph_counts import GraphCounts
from weir.site.lineage import Lineage
from weir.site.overview import listed, overview
from weir.site.project_pages import (
    audit_page,
    checks_page,
    ended_audits,
    graph_page,
    runs_page,
    sources_page,
)
from weir.site.remotes_page import remotes_page
from weir.stage import StageResult
from weir.status.status import Status

FOLDER: Final = "site"
"""Where the site is, in the folder of the project."""
_GRAPH: Final = " graph"
"""What is kept of the graph; no answer is called so."""
_LIBRARIES: Final = (
    *("tabulator.js", "tabulator.css", "vega.js", "vega-lite.js", "vega-embed.js"),
    *("cytoscape.js", "cytoscape-dagre.js"),
)


@dataclass(frozen=True, slots=True)
class Site(StageResult):
    """A site that was written.

    Attributes:
        folder: has it.
        files: how many it has.
        written: how many of them are new, or were changed.
    """

    folder: Path
    files: int
    written: int

    @property
    def summary(self) -> str:
        """How many files were written, and where."""
        return f"{counted(self.written, 'file')} of {self.files:,} in {self.folder.name}"

    @property
    def index(self) -> Path:
        """Its start page."""
        return self.folder / "index.html"


def write_site(
    project: Project,
    folder: Path | None = None,
    now: datetime | None = None,
    *,
    explains: bool = False,
) -> Site:
    """Write the site as of the lake as it is now; no claim is taken.

    Pages whose content is as before are left: the cost follows what changed.

    Args:
        project: the project.
        folder: instead of that of the settings.
        now: instead of the time.
        explains: whether pages have the reasons for the newest changes.

    Raises:
        ConfigurationError: the folder of queries does not exist, or the JavaScript of pages is not
            installed.
    """
    settings, assets = project.settings, _assets()
    into = folder or settings.site or settings.project / FOLDER
    with one_writer(into):
        return _written(project, into, now or datetime.now(UTC), assets, explains=explains)


def _written(
    project: Project, into: Path, time: datetime, assets: Mapping[str, bytes], *, explains: bool
) -> Site:
    settings, lake = project.settings, project.open_lake()
    wrong: list[ConfigurationError] = []
    pending, epochs = Pending(project), Epochs.read(lake)
    contents = read_contents(project, time, wrong, pending)
    status = Status.of(project, pending=pending)
    files = SiteFiles(into, _version(assets))
    for path, content in assets.items():
        files.put(path, content)
    with closing(connect_with_plain_values(settings)) as connection:
        bindings = Bindings(connection)
        pages = AnswerPages(
            project,
            contents,
            pending.completion,
            epochs,
            Lineage.of(contents),
            files,
            bindings,
            explains,
        )
        shown = {model.state.name: pages.write(model) for model in contents.models}
        head, before = max(epochs.rows, default=0), files.kept(_GRAPH)
        counts = GraphCounts.of(bindings, lake, head, before)
    files.keep(_GRAPH, counts.to_json())
    name = settings.project.resolve().name
    about = {
        "project": name,
        "at": time.isoformat(timespec="seconds"),
        "epoch": head,
        "answers": [*listed(status, contents, shown)],
    }
    files.put("data/site.js", called("site", about))
    _put(files, "index", name, overview(status, contents, shown, wrong))
    _put(files, "sources", "Sources", sources_page(status, lake))
    graph = graph_page(epochs, counts, settings.prefixes)
    known = {
        "quads": graph["quads"],
        "has_classes": counts.classes is not None,
        "charts": [*graph["charts"]],
    }
    _put(files, "graph", "Graph", known, graph)
    files.put("void.ttl", counts.void())
    remotes, charts = remotes_page(settings, lake, status.remotes, time)
    _put(files, "remotes", "Remotes", remotes, charts)
    _put(files, "runs", "Runs", {}, runs_page(lake, contents.within))
    audits = ended_audits(lake)
    own = {
        (model.state.name, check.name): check.severity
        for model in contents.models
        for check in model.checks
    }
    _put(files, "checks", "Checks", checks_page(lake, audits, own))
    _put(files, "audit", "Audit", audit_page(lake, audits))
    return Site(into, files.finish(), files.written)


def _put(
    files: SiteFiles,
    name: str,
    title: str,
    values: Mapping[str, Any],
    data: Mapping[str, Any] | None = None,
) -> None:
    """Put a page, and the data that its scripts show."""
    file = None if data is None else f"data/{name}.js"
    if file is not None and data is not None:
        files.put(file, called("page", data))
    text = render(f"{name}.html", root="", here=name, title=title, data=file, **values)
    files.put(f"{name}.html", text)


@cache
def _assets() -> Mapping[str, bytes]:
    """What pages load, by its path: the libraries, and the styles and scripts of Weir.

    Raises:
        ConfigurationError: the libraries are not installed.
    """
    package = resources("weir.pages")
    try:
        libraries = {name: (package / "javascript" / name).read_bytes() for name in _LIBRARIES}
    except FileNotFoundError as error:
        raise ConfigurationError(
            "the JavaScript libraries of pages are not there",
            str(error.filename),
            "A wheel has them; in a checkout, `make setup` gets them.",
        ) from None
    own = {name: (package / "assets" / name).read_bytes() for name in ("site.css", "site.js")}
    return {f"assets/{name}": content for name, content in (libraries | own).items()}


def _version(assets: Mapping[str, bytes]) -> str:
    """Another one for other templates, scripts or code, by which all pages are written again."""
    digest = hashlib.sha256(version("weir").encode())
    for content in assets.values():
        digest.update(content)
    for folder in (resources("weir.site"), resources("weir.pages") / "templates"):
        for file in sorted(folder.iterdir(), key=lambda file: file.name):
            if file.is_file():
                digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
