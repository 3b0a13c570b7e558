"""The histories that the operators are measured on, and changes of one triple to add to them."""

from __future__ import annotations

import gzip
import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import duckdb
import pyoxigraph as ox
from deltalake import DeltaTable

from bench.nomisma import BASE_ID
from bench.places import shared_data


@dataclass(frozen=True, slots=True)
class Singles:
    """Change sets that remove one triple and insert it again, after `first`, in this order."""

    first: tuple[Path, ...]
    pairs: tuple[tuple[Path, Path], ...]


class History(Protocol):
    """A source, its change sets one by one, and the queries over it.

    Attributes:
        name: of the source, and of the folder of its queries.
        title: in reports.
        yardstick: the query of two triple patterns that the others are compared with.
    """

    name: str
    title: str
    yardstick: str

    def source(self, location: Path) -> Mapping[str, Any]:
        """The declaration of the source whose change sets are in the folder `location`."""

    def changes(self) -> Sequence[Path]:
        """All change sets in order, files or folders; each is an epoch."""

    def touches(self, changes: Path, predicates: frozenset[str]) -> bool:
        """Whether a change set has a triple with one of these predicates."""

    def is_usable(self, lake: Path, triple: str) -> bool:
        """Whether `singles` can remove a triple."""

    def singles(self, folder: Path, lake: Path, triples: Sequence[str]) -> Singles:
        """A pair of change sets for each triple, written to `folder`."""


class NomismaHistory:
    """203 change sets over 583,314 quads, as patches."""

    name = "nomisma"
    title = "nomisma"
    yardstick = "bgp"

    @property
    def _data(self) -> Path:
        return shared_data() / self.name

    def source(self, location: Path) -> Mapping[str, Any]:
        """With the base, which is an epoch of its own."""
        return {
            "name": self.name,
            "kind": "patches",
            "location": str(location),
            "base": str(self._data / "base.nq.gz"),
            "base_id": BASE_ID,
        }

    def changes(self) -> Sequence[Path]:
        """One per commit of the repository."""
        return sorted((self._data / "changes").iterdir())

    def touches(self, changes: Path, predicates: frozenset[str]) -> bool:
        """By the third word of its lines."""
        with gzip.open(changes, "rt", encoding="utf-8", newline="\n") as lines:
            return any(
                line[0] in "AD" and line.split(" ", 3)[2] in predicates
                for line in lines
                if line[1] == " "
            )

    def is_usable(self, lake: Path, triple: str) -> bool:
        """If one graph only has it, so that it goes with that quad."""
        return len(_graphs(lake, triple)) == 1

    def singles(self, folder: Path, lake: Path, triples: Sequence[str]) -> Singles:
        """Patches that continue the chain of the last one."""
        table = (self._data / "changes.tsv").read_text(encoding="utf-8")
        previous = table.rstrip("\n").rpartition("\t")[2]
        files: list[Path] = []
        for triple in triples:
            (graph,) = _graphs(lake, triple)
            for letter in "DA":
                patch = f"urn:bench:{len(files)}"
                head = f"H id <{patch}> .\nH prev <{previous}> .\n"
                file = folder / f"single{len(files):04d}.nqp"
                file.write_text(f"{head}TX .\n{letter} {triple} {graph} .\nTC .\n", "utf-8")
                previous = patch
                files.append(file)
        return Singles((), tuple(zip(files[::2], files[1::2], strict=True)))


class BrickHistory:
    """Versions 1.1 to 1.5 of the ontology, as the Python package `brickschema` carries them."""

    name = "brick"
    title = "Brick"
    yardstick = "brick_bgp"

    def source(self, location: Path) -> Mapping[str, Any]:
        """As the demo declares it."""
        return {
            "name": self.name,
            "kind": "snapshots",
            "location": str(location),
            "glob": "*/Brick.ttl",
            "base_iri": _BRICK_BASE,
            # 1.2 has another namespace.
            "max_deleted_share": 1,
        }

    def changes(self) -> Sequence[Path]:
        """One folder per version; the first is the graph to begin with."""
        package = importlib.util.find_spec("brickschema")
        if package is None or package.origin is None:
            raise FileNotFoundError("the package brickschema is not installed")
        files = (Path(package.origin).parent / "ontologies").glob("*/Brick.ttl")
        return sorted(file.parent for file in files)

    def touches(self, changes: Path, predicates: frozenset[str]) -> bool:
        """Every version changes the hierarchy."""
        del changes, predicates
        return True

    def is_usable(self, lake: Path, triple: str) -> bool:
        """If it has no blank node, whose label would depend on it."""
        del lake
        return "_:" not in triple

    def singles(self, folder: Path, lake: Path, triples: Sequence[str]) -> Singles:
        """The newest version rewritten, then without a triple, with it, and so on."""
        del lake
        newest = self.changes()[-1] / "Brick.ttl"
        quads = ox.parse(path=str(newest), format=ox.RdfFormat.TURTLE, base_iri=_BRICK_BASE)
        lines = sorted({f"{quad.triple} .\n" for quad in quads})
        folders: list[Path] = []

        def version(without: str = "") -> Path:
            to = folder / f"2.{len(folders)}"
            to.mkdir()
            left = [line for line in lines if line != f"{without} .\n"]
            assert len(left) + bool(without) == len(lines), without
            # N-Triples is Turtle.
            (to / "Brick.ttl").write_text("".join(left), "utf-8")
            folders.append(to)
            return to

        first = version()
        return Singles((first,), tuple((version(triple), version()) for triple in triples))


_BRICK_BASE = "https://brickschema.org/schema/"


def _graphs(lake: Path, triple: str) -> list[str]:
    """The graphs that have a triple at the head."""
    connection = duckdb.connect()
    connection.register("quads", DeltaTable(lake / "quads").to_pyarrow_dataset())
    subject, predicate, object_ = triple.split(" ", 2)
    rows = connection.execute(
        "SELECT graph FROM quads WHERE predicate = ? AND subject = ? AND object = ?"
        " GROUP BY graph HAVING sum(weight) > 0",
        [predicate, subject, object_],
    ).fetchall()
    return [str(graph) for (graph,) in rows]
