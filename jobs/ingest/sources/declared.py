"""The declared sources: `sources.yml` as values, every mistake with its line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlparse

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from jobs.errors import ConfigurationError
from jobs.rdf.records import Format
from jobs.rdf.terms import check_term

UNNAMED_GRAPH = "default"
"""`graph: default` puts quads without a graph into the unnamed graph."""


class _Declared(BaseModel):
    """What every source has."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(
        pattern=r"^[a-z][a-z0-9_]{0,62}$", description="name, unique among the sources"
    )
    location: str = Field(
        min_length=1, description="folder, file or URI; relative to the folder of sources.yml"
    )
    graph: str | None = Field(
        None,
        description="where quads without a graph go: an IRI, or `default` for the unnamed graph;"
        " without it a graph of the source's own, <urn:weir:graph:NAME>",
    )

    @field_validator("graph")
    @classmethod
    def _is_iri(cls, graph: str | None) -> str | None:
        if graph in (None, UNNAMED_GRAPH):
            return graph
        term = graph if graph.startswith("<") else f"<{graph}>"
        reason = check_term(term, "graph")
        if reason is not None:
            raise ValueError(f"not an IRI: {reason}")
        return term

    @property
    def graph_term(self) -> str:
        """The graph of quads that name none, as `quads` holds it."""
        match self.graph:
            case None:
                return f"<urn:weir:graph:{self.name}>"
            case "default":
                return ""
            case term:
                return term


class _Files(_Declared):
    """A source that is a folder of files."""

    glob: str = Field("*", description="names that count, relative to the folder; * also matches /")


class Patches(_Files):
    """A folder of RDF Patch files; each is an epoch, in the order of their names."""

    kind: Literal["patches"]
    base: str | None = Field(
        None, description="file that holds the graph before the first patch; the first epoch"
    )
    base_id: str | None = Field(None, description="the id that the first patch's `H prev` names")


class Snapshots(_Files):
    """A folder of versions, files or folders of files; each is an epoch, numbers in names count."""

    kind: Literal["snapshots"]
    format: Format | None = Field(None, description="format of all files; else by their names")
    base_iri: str | None = Field(None, description="what relative IRIs are resolved against")


class Columns(BaseModel):
    """Names of the columns of a foreign table."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    subject: str = "subject"
    predicate: str = "predicate"
    object: str = "object"
    graph: str | None = None


class DeltaTable(_Declared):
    """A Delta table of terms in N-Triples form with its change feed on; each commit is an epoch."""

    kind: Literal["delta"]
    columns: Columns = Field(Columns(), description="which columns hold the terms")
    starting_version: int | None = Field(
        None,
        ge=0,
        description="version whose content is the first epoch; else the newest at first sight",
    )


Source = Patches | Snapshots | DeltaTable


class _SourcesFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    sources: tuple[Annotated[Source, Field(discriminator="kind")], ...]


_FILE = TypeAdapter(_SourcesFile)


def load_sources(file: Path) -> tuple[Source, ...]:
    """The sources that `file` declares, in its order; locations are absolute or URIs.

    Raises:
        ConfigurationError: the file is not there, is not YAML, or says something wrong; `where` is
            `file:line`.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigurationError(
            "there is no such file", str(file), "`weir init` writes one to start from."
        ) from None
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        declared = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigurationError(f"not YAML: {error.problem}", f"{file}:{line}") from None
    try:
        sources = _FILE.validate_python(declared).sources
    except ValidationError as error:
        # A misspelt key is also a missing one; the misspelling is what helps.
        first = min(error.errors(), key=lambda each: each["type"] == "missing")
        path = [part for part in first["loc"] if part not in ("patches", "snapshots", "delta")]
        line = _line(root, path)
        said = ".".join(str(part) for part in path) or "the file"
        wrong = "unknown key" if first["type"] == "extra_forbidden" else first["msg"].lower()
        raise ConfigurationError(f"{said}: {wrong}", f"{file}:{line}") from None
    names = [source.name for source in sources]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise ConfigurationError(
                f"two sources are named {name}",
                f"{file}:{_line(root, ['sources', index, 'name'])}",
            )
    return tuple(_resolved(source, file.absolute().parent) for source in sources)


def _resolved(source: Source, folder: Path) -> Source:
    """The source with absolute locations."""
    found: dict[str, Any] = {"location": _absolute(source.location, folder)}
    if isinstance(source, Patches) and source.base is not None:
        found["base"] = _absolute(source.base, folder)
    return source.model_copy(update=found)


def _absolute(location: str, folder: Path) -> str:
    # One letter before the colon is a drive.
    if len(urlparse(location).scheme) > 1:
        return location
    return str((folder / location).resolve())


def _line(node: yaml.Node | None, path: list[int | str]) -> int:
    """The line of the deepest node that `path` leads to; of the key where it names a key."""
    line = 1 if node is None else node.start_mark.line + 1
    for part in path:
        match node:
            case yaml.MappingNode(value=pairs):
                found = [(key, value) for key, value in pairs if key.value == part]
                if not found:
                    return line
                key, node = found[0]
                line = key.start_mark.line + 1
            case yaml.SequenceNode(value=items) if isinstance(part, int) and part < len(items):
                node = items[part]
                line = node.start_mark.line + 1
            case _:
                return line
    return line


_DIGITS = re.compile(r"(\d+)")


def natural_order(name: str) -> tuple[tuple[int, int | str], ...]:
    """A sort key by which `v9` comes before `v10`."""
    return tuple(
        (0, int(part)) if part.isdigit() else (1, part) for part in _DIGITS.split(name) if part
    )
