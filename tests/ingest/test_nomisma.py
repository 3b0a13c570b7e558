"""The whole of a real history in one run."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow.compute as pc
import pyoxigraph
import pytest

from tests.support.projects.project import PATCHES, Project
from weir.project import open_lake

BASE_ID = "urn:uuid:f3dd7e3d-d9a4-5650-89e3-090c2022e7c9"


def patched(folder: Path) -> set[tuple[str, str, str, str]]:
    """The head of the history by pyoxigraph: graph, subject, predicate, object."""

    def quads(text: bytes) -> set[pyoxigraph.Quad]:
        return {*pyoxigraph.parse(text, format=pyoxigraph.RdfFormat.N_QUADS)}

    state = quads(gzip.decompress((folder / "base.nq.gz").read_bytes()))
    for file in sorted((folder / "changes").iterdir()):
        lines = gzip.decompress(file.read_bytes()).split(b"\n")
        state -= quads(b"\n".join(line[2:] for line in lines if line.startswith(b"D ")))
        state |= quads(b"\n".join(line[2:] for line in lines if line.startswith(b"A ")))
    return {(f"{q.graph_name}", f"{q.subject}", f"{q.predicate}", f"{q.object}") for q in state}


@pytest.mark.usefixtures("slow")
def test_base_and_all_change_sets_in_one_run_give_the_head(project: Project, shared: Path) -> None:
    folder = shared / "data/nomisma"
    base = {"base": str(folder / "base.nq.gz"), "base_id": BASE_ID}
    project.declare(PATCHES | base | {"location": str(folder / "changes")})
    result = project.ingest()
    assert (result.to_epoch, result.errors) == (204, ())
    assert project.state(204) == patched(folder)
    triples = open_lake(project.settings).rows("triples", columns=["weight"])
    assert pc.sum(triples["weight"]).as_py() == 757_171
