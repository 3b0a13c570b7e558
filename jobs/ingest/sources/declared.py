"""The declared sources: `sources.yml` as values, every mistake with its line."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Annotated, TypeAlias

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from jobs.errors import ConfigurationError
from jobs.ingest.sources.delta import DeltaTable
from jobs.ingest.sources.patches import Patches
from jobs.ingest.sources.snapshots import Snapshots
from jobs.ingest.sources.source import Source

AnySource: TypeAlias = Patches | Snapshots | DeltaTable
"""The kinds of sources. The only place that lists them."""


class _SourcesFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    sources: tuple[Annotated[AnySource, Field(discriminator="kind")], ...]


_FILE = TypeAdapter(_SourcesFile)


def load_sources(file: Path) -> tuple[Source, ...]:
    """The sources that `file` declares, in its order; locations are absolute or URIs.

    Raises:
        ConfigurationError: the file does not exist, is not YAML, or has a wrong key or value;
            `where` is `file:line`.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigurationError(
            "there is no such file", str(file), "`weir init` writes one to start from."
        ) from None
    return _declared(file, file.absolute().parent, text)


@lru_cache(8)
def _declared(file: Path, folder: Path, text: str) -> tuple[Source, ...]:
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        content = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigurationError(f"not YAML: {error.problem}", f"{file}:{line}") from None
    try:
        sources: tuple[Source, ...] = _FILE.validate_python(content).sources
    except ValidationError as error:
        # A misspelt key is also a missing one; the misspelling is what helps.
        first = min(error.errors(), key=lambda each: each["type"] == "missing")
        # sources, index, kind, keys: the kind is no key of the file.
        path = [*first["loc"][:2], *first["loc"][3:]]
        key = ".".join(str(part) for part in path) or "the file"
        wrong = _mistake(first)
        raise ConfigurationError(f"{key}: {wrong}", f"{file}:{_line(root, path)}") from None
    names = [source.name for source in sources]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise ConfigurationError(
                f"two sources are named {name}",
                f"{file}:{_line(root, ['sources', index, 'name'])}",
            )
    return tuple(source.located_in(folder) for source in sources)


def _mistake(error: ErrorDetails) -> str:
    match error:
        case {"type": "extra_forbidden"}:
            return "unknown key"
        case {"type": "value_error", "ctx": {"error": ValueError() as own}}:
            return str(own)
        case _:
            return error["msg"].lower()


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
