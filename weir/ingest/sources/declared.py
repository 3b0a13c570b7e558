"""The declared sources: `sources.yml` as values, every mistake with its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from weir.errors import ConfigurationError
from weir.files.text import read_text
from weir.files.yaml_file import YamlFile
from weir.ingest.sources.delta import DeltaTable
from weir.ingest.sources.patches import Patches
from weir.ingest.sources.snapshots import Snapshots
from weir.ingest.sources.source import Source, absolute
from weir.lake.lake import local_folder

AnySource: TypeAlias = Patches | Snapshots | DeltaTable
"""The kinds of sources. The only place that lists them."""


class _SourcesFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    sources: tuple[Annotated[AnySource, Field(discriminator="kind")], ...]
    contexts: dict[str, str] = Field(
        default_factory=dict,
        description="files that have the remote contexts of JSON-LD documents, by IRI; no context"
        " is fetched",
    )


_HINT = (
    "Write `sources:` and below it a list of sources, each with name, kind and location; `sources:"
    " []` if there are none."
)


def load_sources(file: Path) -> tuple[Source, ...]:
    """The sources that `file` declares, in its order; locations are absolute or URIs.

    Raises:
        ConfigurationError: the file does not exist, is not YAML, or has a wrong key or value;
            `where` is `file:line:column`.
    """
    try:
        text = read_text(file)
    except FileNotFoundError:
        raise ConfigurationError(
            "there is no such file",
            str(file),
            "Declare a source in it: name, kind, location. `weir init` in an empty folder writes an"
            " example.",
        ) from None
    return _declared(file, file.absolute().parent, text)


def missing_places(sources: Iterable[Source]) -> Iterator[tuple[Source, Path]]:
    """The sources on this machine whose file or folder does not exist, and where it should be."""
    for source in sources:
        place = local_folder(source.location)
        if place is not None and not place.exists():
            yield source, place


@lru_cache(8)
def _declared(file: Path, folder: Path, text: str) -> tuple[Source, ...]:
    read = YamlFile.of(file, text)
    if read.content is None:
        raise ConfigurationError("it declares no source", str(file), _HINT)
    declared = read.validated(_SourcesFile, tags=1)
    sources: tuple[Source, ...] = declared.sources
    read.check_names("sources", [source.name for source in sources])
    for iri, file_of_context in declared.contexts.items():
        if file_of_context.startswith(("http:", "https:")):
            raise ConfigurationError(
                f"the context {iri} is named by a URL, and contexts are never fetched",
                read.place(["contexts", iri]),
                "Save it as a file, and name that.",
            )
    contexts = {iri: absolute(file, folder) for iri, file in declared.contexts.items()}
    return tuple(source.located_in(folder).with_contexts(contexts) for source in sources)
