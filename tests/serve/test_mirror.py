"""The mirror: at each epoch it is the graph of the lake, however it came to it."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyoxigraph as ox
import pytest
from deltalake import DeltaTable, QueryBuilder, write_deltalake
from pyspark.sql import SparkSession

from tests.support.generators.basic_cases import XSD, Quad, case
from tests.support.laws import Seeds
from tests.support.opened import on_spark
from tests.support.oracles.answers import anonymous
from tests.support.oracles.histories import states
from tests.support.oracles.oxigraph import Oxigraph, answers
from tests.support.projects.graphs import knows
from tests.support.projects.project import PATCHES, Project
from tests.support.serving import serving
from weir.compact.stage import compact_lake
from weir.plan.lower import lower
from weir.project import Project as OpenProject
from weir.rdf.reserved_graphs import replica_graph
from weir.serve.mirror import Mirror
from weir.serve.problems import Problem
from weir.serve.store_worker import StoreWriter
from weir.sparql.frontend.translate import translate

Terms = tuple[str, str, str, str]


@contextmanager
def mirror_of(project: Project) -> Iterator[Mirror]:
    """A mirror, as a server opens it."""
    mirror = Mirror(OpenProject(project.settings), lambda _: None)
    try:
        yield mirror
    finally:
        mirror.close()


def quads_of(store: ox.Store) -> set[Terms]:
    """The quads of a store as texts; the default graph is the union."""
    return {
        (
            "" if isinstance(quad.graph_name, ox.DefaultGraph) else str(quad.graph_name),
            str(quad.subject),
            str(quad.predicate),
            str(quad.object),
        )
        for quad in store
    }


def read(mirror: Mirror, epoch: int | None, words: str = "") -> set[Terms]:
    """The quads of an epoch."""
    with mirror.at(epoch, words) as (_, folder):
        return quads_of(ox.Store.read_only(str(folder)))


def expected(state: frozenset[Quad]) -> set[Terms]:
    """A state with the union of its graphs as the default graph."""
    return {("", *quad[1:]) for quad in state} | {quad for quad in state if quad[0]}


def ingested(folder: Path, history: Sequence[tuple[frozenset[Quad], frozenset[Quad]]]) -> Project:
    """A project with a history."""
    project = Project(folder).declare(PATCHES | {"graph": "default"})
    for vanish, appear in history:
        lines = [("D", quad) for quad in sorted(vanish)] + [("A", quad) for quad in sorted(appear)]
        project.change_set(*(f"{sign} {' '.join((*q[1:], q[0])).strip()}" for sign, q in lines))
    project.ingest()
    project.stages("validate")
    return project


@pytest.mark.law("endpoint")
def test_a_query_at_an_epoch_has_the_answer_over_the_history_up_to_it(
    seeds: Seeds, tmp_path: Path
) -> None:
    for seed in seeds:
        pair, rng = case(seed), random.Random(seed)
        project = ingested(tmp_path / str(seed), pair.history)
        held = [*states(pair.history)]
        names = [name for name, _ in lower(translate(pair.query, "union")).columns]
        oracle = [*answers(pair.query, "union", pair.history, names)]
        endpoint = Oxigraph("union")
        with mirror_of(project) as mirror:
            for epoch in rng.sample(range(1, len(held) + 1), min(len(held), 4)):
                with mirror.at(epoch) as (_, folder):
                    endpoint.store = ox.Store.read_only(str(folder))
                    assert quads_of(endpoint.store) == expected(held[epoch - 1]), (seed, epoch)
                    answer = endpoint.answer(pair.query, names)
                    assert anonymous(answer) == anonymous(oracle[epoch - 1]), (seed, epoch)


SPELLED = [
    f'"{text}"^^<{XSD}{kind}>' for kind in ("integer", "decimal") for text in ("1", "01", "1.0")
]


@pytest.mark.law("spellings of a mirror")
def test_a_value_is_there_until_its_last_spelling_is_gone(seeds: Seeds, tmp_path: Path) -> None:
    for seed in seeds:
        rng, held = random.Random(seed), set[str]()
        every = [f"<a:s> <a:{p}> {o}{g} ." for p in "pq" for o in SPELLED for g in ("", " <a:g>")]
        folder = tmp_path / str(seed)
        for _ in range(rng.randint(1, 5)):
            gone = {line for line in held if rng.random() < 0.4}
            new = {line for line in every if rng.random() < 0.3} - held
            folder.mkdir(exist_ok=True)
            writer = StoreWriter(folder)
            writer.remove("\n".join(sorted(gone)).encode())
            writer.add("\n".join(sorted(new)).encode())
            writer.close()
            held = (held - gone) | new
            oracle = ox.Store()
            oracle.load("\n".join(held).encode(), ox.RdfFormat.N_QUADS)
            stored = ox.Store.read_only(str(folder / "graph"))
            assert quads_of(stored) == quads_of(oracle), seed
            assert {*stored.named_graphs()} == {*oracle.named_graphs()}, seed


def test_a_later_epoch_is_made_of_an_earlier_copy_and_its_changes(growing: Project) -> None:
    made: list[str] = []
    with mirror_of(growing) as mirror:
        mirror.progress = made.append
        before = read(mirror, None)
        growing.change_set("A " + knows("x", "y"))
        growing.run()
        after = read(mirror, None)
        assert after - before == {
            (graph, "<urn:x>", "<urn:knows>", "<urn:y>") for graph in ("", "<urn:g>")
        }
        assert before <= after
    assert [line.split(",")[0] for line in made] == ["copying the graph at epoch 6"]


def test_copies_are_kept_for_the_next_process_and_no_more_than_the_setting_says(
    growing: Project,
) -> None:
    with mirror_of(growing) as mirror:
        contents = {epoch: read(mirror, epoch) for epoch in (6, 1, 2, 3, 4, 5)}
        folder = mirror._folder
        kept = {file.name for file in folder.iterdir()}
    assert kept == {"6", "3", "4", "5"}
    with mirror_of(growing) as mirror:
        mirror.progress = pytest.fail
        assert {epoch: read(mirror, epoch) for epoch in (3, 4, 5, 6)} == {
            epoch: contents[epoch] for epoch in (3, 4, 5, 6)
        }
        assert {epoch: read(mirror, epoch) for epoch in (1, 2)} == {e: contents[e] for e in (1, 2)}


_KILLED = """
import os, signal, sys
from pathlib import Path
from weir.project import Project
from weir.serve import copies, filling, mirror
from weir.settings import Settings

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

setattr(*{"note": (copies, "write_whole", die), "lines": (filling.Child, "send", die)}[sys.argv[2]])
with mirror.Mirror(Project(Settings.load(Path(sys.argv[1]))), print).at(None):
    pass
"""


@pytest.mark.parametrize("point", ["note", "lines"])
def test_a_process_that_is_killed_while_it_makes_a_copy_leaves_nothing_that_is_read(
    growing: Project, point: str
) -> None:
    with mirror_of(growing) as mirror:
        read(mirror, None)
        folder = mirror._folder
    growing.change_set("A " + knows("x", "y"))
    growing.run()
    killed = subprocess.run(
        [sys.executable, "-c", _KILLED, str(growing.folder / "weir.toml"), point],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert any(file.name.startswith("draft-") for file in folder.iterdir())
    with mirror_of(growing) as mirror:
        assert ("", "<urn:x>", "<urn:knows>", "<urn:y>") in read(mirror, None)
        assert sorted(file.name for file in folder.iterdir()) == ["6", "7"]


def test_a_draft_is_not_read_though_its_note_is_complete(growing: Project) -> None:
    with mirror_of(growing) as mirror:
        before = read(mirror, None)
        folder = mirror._folder
    (folder / "6").rename(folder / "draft-complete")
    with mirror_of(growing) as mirror:
        assert read(mirror, None) == before
        assert sorted(file.name for file in folder.iterdir()) == ["6"]


def test_an_epoch_whose_checks_are_to_come_is_not_shown_yet(growing: Project) -> None:
    growing.change_set("A " + knows("x", "y"))
    growing.ingest()
    with mirror_of(growing) as mirror:
        with mirror.at(None) as (epoch, _):
            assert epoch == 6
        with pytest.raises(Problem), mirror.at(7):
            pass


_APPEARED = "SELECT * FROM q WHERE epoch = 1 AND weight = 1 LIMIT 1"


def test_reserved_graphs_are_in_no_copy(growing: Project) -> None:
    table = DeltaTable(growing.folder / "lake/quads")
    names = [field.name for field in table.schema().fields]
    rows = pa.table(QueryBuilder().register("q", table).execute(_APPEARED))
    graph = pa.array([replica_graph("<http://remote/>")], pa.string())
    replica = rows.set_column(rows.column_names.index("graph"), "graph", graph).select(names)
    with mirror_of(growing) as mirror:
        before = read(mirror, None)
    write_deltalake(table, replica, mode="append")
    shutil.rmtree(mirror._folder / "6")
    with mirror_of(growing) as mirror:
        assert read(mirror, None) == before


def test_a_copy_of_an_epoch_whose_changes_are_compacted_away_is_not_used(
    growing: Project, quick_spark: SparkSession
) -> None:
    with mirror_of(growing) as mirror:
        contents = {epoch: read(mirror, epoch) for epoch in range(1, 7)}
    folder = mirror._folder
    for epoch in (5, 6):
        shutil.rmtree(folder / str(epoch), ignore_errors=True)
    growing.declare(PATCHES, keep_epochs=1, consolidate_share=0.01)
    on_spark(quick_spark, compact_lake, growing.settings, "test")
    with mirror_of(growing) as mirror:
        assert read(mirror, 6) == contents[6]
        assert read(mirror, 5) == contents[5]
        with pytest.raises(Problem) as refused, mirror.at(4):
            pass
        assert refused.value.status == 410
        assert {file.name for file in folder.iterdir()} == {"5", "6"}


def test_a_copy_of_another_lake_is_not_used(growing: Project) -> None:
    with mirror_of(growing) as mirror:
        read(mirror, None)
    other = Project(growing.folder.parent / "other").declare(PATCHES)
    other.change_set("A " + knows("p", "q"))
    other.run()
    (growing.folder / "lake").rename(growing.folder / "gone")
    (other.folder / "lake").rename(growing.folder / "lake")
    with mirror_of(growing) as mirror:
        assert {quad[1] for quad in read(mirror, None)} == {"<urn:p>"}


def test_a_copy_that_is_damaged_is_made_again(growing: Project) -> None:
    with serving(growing.settings) as client:
        before = client.query("SELECT * { ?s ?p ?o }").rows
        assert client.query("SELECT * { ?s ?p ?o }", epoch=1).status == 200
    for file in (growing.settings.cache / "mirror").glob("*/*/graph/*.sst"):
        content = file.read_bytes()
        file.unlink()  # other copies may have it, too
        file.write_bytes(bytes(byte ^ 0x55 for byte in content))
    with serving(growing.settings) as client:
        assert client.query("SELECT * { ?s ?p ?o }").rows == before
        assert client.query("SELECT * { ?s ?p ?o }", epoch=1).status == 200
        growing.change_set("A " + knows("x", "y"))
        growing.run()
        assert len(client.query("SELECT * { ?s ?p ?o }").rows) == len(before) + 1


def test_two_servers_of_a_lake_have_copies_of_their_own(growing: Project) -> None:
    with mirror_of(growing) as one, mirror_of(growing) as other:
        assert one._folder != other._folder
        assert read(one, None) == read(other, None)
    with mirror_of(growing) as again:
        assert again._folder == one._folder


def test_a_damaged_note_of_a_copy_costs_time_only(growing: Project) -> None:
    with mirror_of(growing) as mirror:
        before = read(mirror, None)
        (note,) = mirror._folder.glob("*/mirror.json")
    note.write_text("{")
    with mirror_of(growing) as mirror:
        assert read(mirror, None) == before


def test_an_answer_is_a_graph_for_the_queries_that_name_it(people: Project) -> None:
    with mirror_of(people) as mirror:
        plain = read(mirror, None)
        named = read(mirror, None, "GRAPH <urn:weir:answer:known> {}")
        assert {quad[0] for quad in named - plain} == {"<urn:weir:answer:known>"}
        assert {quad[2] for quad in named - plain} == {"<urn:known-by>"}
        assert plain <= named
        at_one = read(mirror, 1, "PREFIX a: <urn:weir:answer:> # GRAPH a:known")
        assert len([quad for quad in at_one if "answer" in quad[0]]) == 2
        assert read(mirror, None, "known, pairs") == plain


def test_a_row_of_an_answer_is_a_resource_with_its_columns(people: Project) -> None:
    with mirror_of(people) as mirror:
        graph = "<urn:weir:answer:pairs>"
        quads = {quad[1:] for quad in read(mirror, 2, graph) if quad[0] == graph}
    rows: dict[str, dict[str, str]] = {}
    for subject, predicate, value in quads:
        rows.setdefault(subject, {})[predicate.partition("#")[2][:-1]] = value
    weight = f'"1"^^<{XSD}integer>'
    assert sorted(rows.values(), key=lambda row: row["a"]) == [
        {"a": "<urn:a>", "b": "<urn:b>", "weight": weight},
        {"a": "<urn:b>", "b": "<urn:c>", "weight": weight},
    ]


@pytest.mark.parametrize(("epoch", "status"), [(0, 404), (7, 404)])
def test_an_epoch_that_is_none_is_refused(people: Project, epoch: int, status: int) -> None:
    with mirror_of(people) as mirror, pytest.raises(Problem) as refused, mirror.at(epoch):
        pass
    assert refused.value.status == status
    assert refused.value.hint == "Epochs 1 to 6 are kept."
