"""A public client of event streams, ldes-client of npm, replays a stream to the answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyoxigraph as ox
import pytest

from setup.javascript_files import installed_client
from tests.support.opened import call
from tests.support.projects.project import PATCHES, Project
from tests.support.served_folder import fetched, served
from tests.support.stream_reader import Reader
from weir.export import ldes
from weir.export.ldes import write_stream

pytestmark = pytest.mark.usefixtures("slow")

QUERIES = {
    "select": "SELECT ?who ?label { ?s <urn:p> ?who OPTIONAL { ?s <urn:l> ?label } }",
    "construct": "CONSTRUCT { ?s <urn:shown> ?who } { ?s <urn:p> ?who }",
}


def members_by_the_client(url: str) -> dict[str, ox.Store]:
    """The members of a stream, in its order, each with its quads."""
    script = Path(__file__).parents[1] / "support" / "ldes_client.mjs"
    node = Path(sys.executable).with_name("node")
    command = [str(node), str(script), str(installed_client()), url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    members = {}
    for line in done.stdout.splitlines():
        member = json.loads(line)
        store = members[member["id"]] = ox.Store()
        store.load(member["quads"].encode(), ox.RdfFormat.N_QUADS)
    return members


@pytest.mark.parametrize("form", QUERIES)
def test_a_public_client_replays_the_answer_at_each_epoch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setattr(ldes, "MEMBERS", 3)
    monkeypatch.setattr(ldes, "LINKS", 2)
    project = Project(tmp_path / "project").declare(PATCHES)
    project.query("g", f"#+ history: full\n{QUERIES[form]}")
    for number in range(12):
        project.change_set(f"A <urn:{number}> <urn:p> <urn:{number % 5}>")
    project.change_set('A <urn:1> <urn:l> "x"@en', "D <urn:2> <urn:p> <urn:2>")
    project.run()
    folder = tmp_path / "out"
    root = call(write_stream, project.settings, "g", folder).root.name
    with served(folder) as base:
        reader = Reader(fetched, f"{base}{root}")
        members = members_by_the_client(f"{base}{root}")
        assert len(members) > 12
        assert reader.states_of(members) == Reader(fetched, f"{base}{root}").states()
