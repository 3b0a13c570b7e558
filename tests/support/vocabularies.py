"""Vocabularies in a folder: their versions, and what rdflib reads of these."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import yaml

from tests.support.oracles.rdf_lib_documents import read
from weir.ingest.sources.files import natural_order
from weir.rdf.files import format_of
from weir.rdf.limits import ParseLimits
from weir.rdf.parse import parse
from weir.rdf.parse_events import Changes
from weir.rdf.records import Format, ParseRequest

_COLUMNS = ("graph", "subject", "predicate", "object")


def vocabularies(folder: Path) -> list[Vocabulary]:
    """The vocabularies in a folder, in the order of their names."""
    folder = folder.resolve()
    contexts = folder / "_contexts"
    listed = contexts / "contexts.yml"
    files = yaml.safe_load(listed.read_text()) if listed.exists() else {}
    by_iri = {iri: contexts / file for iri, file in files.items()}
    return [Vocabulary(path, by_iri) for path in sorted(_visible(folder)) if path.is_dir()]


@dataclass(frozen=True)
class Vocabulary:
    """The versions of a vocabulary; `contexts`: the remote contexts that they may name, by IRI."""

    folder: Path
    contexts: Mapping[str, Path]

    @property
    def name(self) -> str:
        """The name of its source."""
        return self.folder.name.replace("-", "_")

    @property
    def graph(self) -> ox.NamedNode:
        """The graph of what is in none."""
        return ox.NamedNode(f"urn:weir:graph:{self.name}")

    @cached_property
    def versions(self) -> list[Path]:
        """In their order."""
        return sorted(_visible(self.folder), key=lambda path: natural_order(path.name))

    @cached_property
    def options(self) -> dict[str, Any]:
        """Further keys of its source."""
        file = self.folder / "_source.yml"
        return dict(yaml.safe_load(file.read_text())) if file.exists() else {}

    def documents(self, version: Path) -> Iterator[tuple[Path, Format]]:
        """The documents of a version."""
        for path in sorted(version.rglob("*")) if version.is_dir() else [version]:
            format_ = format_of(path.name)
            if path.is_file() and format_ and not path.name.startswith((".", "_")):
                yield path, format_

    def read(self, path: Path, format_: Format) -> list[ox.Quad]:
        """What rdflib reads."""
        return [*read(path, format_, self.options.get("base_iri"), self.contexts)]

    def content(self, version: Path) -> list[ox.Quad]:
        """What rdflib reads of all documents, as it is to be stored."""
        quads = (quad for document in self.documents(version) for quad in self.read(*document))
        return [_in_graph(quad, self.graph) for quad in quads]

    def is_unchanged_in_another_order(self, version: Path, chance: random.Random) -> bool:
        """Whether the reader makes the same of each document and of rdflib's statements of it."""
        base, contexts = self.options.get("base_iri"), {k: str(v) for k, v in self.contexts.items()}
        with tempfile.TemporaryDirectory() as name:
            for path, format_ in self.documents(version):
                file = shuffled(self.read(path, format_), Path(name) / "shuffled.nq", chance)
                requests = (
                    ParseRequest(str(path), format_, "snapshot", "s", base=base, contexts=contexts),
                    ParseRequest(str(file), "n-quads", "snapshot", "s"),
                )
                one, other = ({*map(str, _statements(request))} for request in requests)
                if one != other:
                    return False
        return True


def shuffled(quads: list[ox.Quad], file: Path, chance: random.Random) -> Path:
    """A file of the quads in a random order."""
    file.write_bytes(
        ox.serialize(chance.sample(quads, len(quads)), format=ox.RdfFormat.N_QUADS) or b""
    )
    return file


def _statements(request: ParseRequest) -> Iterator[tuple[Any, ...]]:
    """What the reader makes of a document."""
    for event in parse(request, ParseLimits()):
        if isinstance(event, Changes):
            yield from zip(*(event.batch[n].to_pylist() for n in _COLUMNS), strict=True)


def _visible(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if not path.name.startswith((".", "_"))]


def _in_graph(quad: ox.Quad, graph: ox.NamedNode) -> ox.Quad:
    """The quad, in `graph` if it is in none."""
    is_in_none = isinstance(quad.graph_name, ox.DefaultGraph)
    return ox.Quad(quad.subject, quad.predicate, quad.object, graph) if is_in_none else quad
