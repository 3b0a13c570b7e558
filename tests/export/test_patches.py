"""The published changes of a CONSTRUCT as a folder of RDF Patch."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterable, Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest
import rdflib
from pyoxigraph import CanonicalizationAlgorithm, Dataset, Quad

from demo.fuseki import Fuseki
from tests.support.laws import Seeds
from tests.support.opened import call
from tests.support.patch_reader import Graph, at, changes_in, replayed, triples_of
from tests.support.projects.exported import Answer
from tests.support.projects.handmade import HandMadeLake, publish_by_hand
from tests.support.projects.project import Project
from tests.support.streams.projects import event_project, readings
from weir.errors import ConfigurationError
from weir.export import patches
from weir.export.patches import WrittenPatch, write_patches
from weir.export.triples import TRIPLE, Change
from weir.project import Project as Opened
from weir.project import open_lake

P = "<http://ex/p>"
X, Y, BLANK = ("<urn:x>", P, '"1"'), ("<urn:y>", P, "_:b2"), ("_:b1", P, '"<_:b2> ."@en')


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a folder."""
    return {file.name: file.read_bytes() for file in sorted(folder.glob("*")) if file.is_file()}


def graph(*rows: Iterable[str]) -> Graph:
    return triples_of([f"{' '.join(row)} ." for row in rows])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of the patches; it is not there yet."""
    return tmp_path / "out"


@pytest.fixture
def changed(answer: Answer) -> Answer:
    """x and y at epoch 2, y goes and a blank node comes at epoch 4; nothing else changes."""
    answer.publish((2, 1, *X), (2, 1, *Y), epoch=3)
    answer.publish((4, -1, *Y), (4, 1, *BLANK), epoch=5)
    return answer


def test_a_patch_is_written_in_one_way(changed: Answer, folder: Path) -> None:
    first, second = changed.patches(folder)
    assert first == WrittenPatch(folder / "000000000002.rdfp", 2, added=2, deleted=0)
    own = first.file.read_text().partition("<")[2].partition(">")[0]
    head, _, rows = second.file.read_text().partition("\n")
    assert head.startswith("H id <urn:uuid:")
    assert rows == (
        f"H prev <{own}> .\n"
        'H time "2026-01-05T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .\n'
        "TX .\n"
        f"D <urn:y> {P} <_:b2> .\n"
        f'A <_:b1> {P} "<_:b2> ."@en .\n'
        "TC .\n"
    )


def test_a_later_call_adds_what_is_new_and_leaves_the_rest(changed: Answer, folder: Path) -> None:
    whole = folder.with_name("whole")
    changed.patches(folder, last=3)
    before = contents(folder)
    assert [patch.epoch for patch in changed.patches(folder)] == [4]
    assert changed.patches(folder) == []
    assert contents(folder).items() > before.items()
    changed.patches(whole)
    assert contents(folder) == contents(whole)


def test_a_call_that_is_interrupted_is_continued(
    changed: Answer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = folder.with_name("whole")
    changed.patches(whole)
    written = patches._written

    def interrupted(file: Path, epoch: int, head: str, changes: Iterator[Change]) -> object:
        def some() -> Iterator[Change]:
            yield next(changes)
            raise KeyboardInterrupt

        return written(file, epoch, head, some() if epoch == 4 else changes)

    with monkeypatch.context() as patched:
        patched.setattr(patches, "_written", interrupted)
        with pytest.raises(KeyboardInterrupt):
            changed.patches(folder)
    assert [*contents(folder)] == ["000000000002.rdfp"]
    changed.patches(folder)
    assert contents(folder) == contents(whole)


def test_an_edit_at_an_epoch_that_has_its_file_is_a_further_part_of_it(
    changed: Answer, folder: Path
) -> None:
    changed.publish((6, 1, *Y))
    changed.patches(folder)
    before = contents(folder)
    for change in ((6, -1, *Y), (6, 1, *Y), (6, -1, *X)):
        # An edit of the query publishes the difference at the newest epoch.
        changed.publish(change, epoch=6)
        assert len(changed.patches(folder)) == 1
    later = contents(folder)
    assert later.items() > before.items()
    assert [*later][-3:] == [f"000000000006_{part:03}.rdfp" for part in (2, 3, 4)]
    assert b"H time" not in later["000000000006_002.rdfp"]
    changed.publish((7, 1, *X))
    changed.patches(folder)
    states = replayed(folder)
    assert (states[6], states[7]) == (graph(Y, BLANK), graph(X, Y, BLANK))


def test_a_triple_that_appears_and_vanishes_within_an_epoch_is_in_no_file(
    answer: Answer, folder: Path
) -> None:
    answer.publish((1, 1, *X), (2, 1, *Y), (2, -1, *Y), (3, -1, *X), (3, 1, *X))
    assert [patch.epoch for patch in answer.patches(folder)] == [1]


def test_multiplicities_of_an_earlier_text_are_no_changes_of_the_graph(
    lake: HandMadeLake, folder: Path
) -> None:
    answer = Answer(lake)
    lake.ingest(4)
    no_triple = ('"a"', P, "<urn:x>")
    rows = [(1, 2, *X), (1, 1, *no_triple), (2, 1, *X), (3, -2, *X), (4, -1, *X)]
    publish_by_hand(lake, "g", TRIPLE, rows, watermark=4, is_maintained=True)
    assert [patch.epoch for patch in answer.patches(folder)] == [1, 4]
    assert replayed(folder) == {1: graph(X), 4: graph()}


def test_a_folder_may_begin_at_an_epoch(changed: Answer, folder: Path) -> None:
    assert [patch.epoch for patch in changed.patches(folder, first=3)] == [4]
    assert {*changes_in(folder / "000000000004.rdfp")} == {
        *(("D ", triple) for triple in graph(Y)),
        *(("A ", triple) for triple in graph(BLANK)),
    }
    assert changed.patches(folder, first=3) == []
    with pytest.raises(ConfigurationError, match="ends at epoch 4, so --from 6 would leave"):
        changed.patches(folder, first=6)


def test_an_epoch_that_is_not_published_is_refused(changed: Answer, folder: Path) -> None:
    changed.lake.ingest(1)
    with pytest.raises(ConfigurationError, match="not known at epoch 6: it is published up to"):
        changed.patches(folder, last=6)
    with pytest.raises(ConfigurationError, match="epoch 7 does not exist yet"):
        changed.patches(folder, last=7)


def test_a_folder_of_another_log_is_refused(changed: Answer, folder: Path) -> None:
    changed.patches(folder)
    before = contents(folder)
    shutil.rmtree(open_lake(changed.lake.settings).location("answers/g"))
    changed.publish((5, 1, *X))
    with pytest.raises(ConfigurationError, match="it is no patch of the answer that g has now"):
        changed.patches(folder)
    assert contents(folder) == before


@pytest.mark.law("patches")
def test_patches_replay_to_the_answer_at_every_epoch(tmp_path: Path, seeds: Seeds) -> None:
    """However often a log that grows and is edited is exported; no file is written again."""
    seeds.check(lambda seed: _broken(seed, tmp_path / str(seed)))


def _broken(seed: int, folder: Path) -> Iterator[str]:
    chance, out = random.Random(seed), folder / "out"
    answer = Answer(HandMadeLake(Project(folder / "project")))
    triples = [(s, P, o) for s in ("<urn:a>", "_:a", "<urn:b>") for o in ("_:a", '"1"', '"\\n"@en')]
    held: set[tuple[str, str, str]] = set()
    states: dict[int, Graph] = {}
    files: dict[str, bytes] = {}
    for step in range(8):
        # No new epoch: the query was edited.
        last = answer.published + (chance.choice([0, 1, 3]) if step else 1)
        changes = []
        for epoch in range(min(answer.published + 1, last), last + 1):
            for triple in chance.sample(triples, chance.randint(0, 3)):
                changes.append((epoch, -1 if triple in held else 1, *triple))
                held ^= {triple}
            states[epoch] = graph(*held)
        answer.publish(*changes, epoch=last)
        if chance.random() < 0.7:
            answer.patches(out, **({"last": chance.randint(0, last)} if step % 2 else {}))
            written = contents(out) if out.is_dir() else {}
            if not files.items() <= written.items():
                yield f"{seed}: a file was written again"
            files = written
    answer.patches(out)
    answer.patches(folder / "whole")
    of_out, of_whole = replayed(out), replayed(folder / "whole")
    for epoch, state in states.items():
        if not at(of_out, epoch) == at(of_whole, epoch) == state:
            yield f"{seed}: other triples at epoch {epoch}"


CONSTRUCT = """#+ history: full
PREFIX ex: <http://ex/>
CONSTRUCT { ?s ex:has [ ex:value ?o ] . ?s ex:near ?b } WHERE { ?s ex:p ?o OPTIONAL { ?s ex:q ?b } }
"""
HISTORY = (
    ("A <http://ex/1> <http://ex/p> 5", "A <http://ex/1> <http://ex/q> _:n"),
    ('A <http://ex/2> <http://ex/p> "a \\"b\\" \\n"@en', "A _:n <http://ex/p> <http://ex/2>"),
    ("A <http://ex/3> <http://ex/r> 1",),
    ("D <http://ex/1> <http://ex/p> 5", "A <http://ex/1> <http://ex/p> 6"),
)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The patches of a query with blank nodes of data and of its template, which was then edited.

    The edit is published at epoch 4, the newest.
    """
    folder = tmp_path_factory.mktemp("source")
    declared = {"name": "p", "kind": "patches", "location": "changes"}
    project = Project(folder / "project").declare(declared)
    for change_set in HISTORY:
        project.change_set(*change_set)
    for text in (CONSTRUCT, CONSTRUCT.replace("ex:near ?b", "ex:beside ?b")):
        project.query("g", text)
        project.run()
        call(_exported, project.settings, folder / "patches")
    return folder


def _exported(opened: Opened, folder: Path) -> None:
    assert [*write_patches(opened, "g", folder)]


def _published(folder: Path, epoch: int) -> Graph:
    """The published answer, from its log."""
    answer = Project(folder / "project").answer("g", epoch)
    return graph(*([dict(row)[name] for name in TRIPLE] for row in answer))


def _same(first: Graph, second: Graph) -> bool:
    """Whether two graphs are equal but for the labels of blank nodes."""
    one, other = (Dataset(Quad(*triple) for triple in graph) for graph in (first, second))
    for dataset in (one, other):
        dataset.canonicalize(CanonicalizationAlgorithm.RDFC_1_0)
    return {*one} == {*other}


def test_each_epoch_of_a_query_has_the_published_answer(source: Path) -> None:
    names = [f"{name}.rdfp" for name in ("000000000001", "000000000002", "000000000004")]
    assert [*contents(source / "patches")] == [*names, "000000000004_002.rdfp"]
    states = replayed(source / "patches")
    for epoch in range(1, 5):
        assert at(states, epoch) == _published(source, epoch)


def test_another_weir_reads_the_same_triples_from_the_folder(
    source: Path, project: Project
) -> None:
    project.declare({"name": "p", "kind": "patches", "location": str(source / "patches")})
    result = project.ingest()
    assert (result.warnings, project.table("rejected")) == ((), [])
    for epoch, published in ((1, 1), (2, 2), (4, 4)):
        rows = (row[1:] for row in project.state(epoch))
        ours = graph(*(map(str, row) for row in rows))
        assert _same(ours, _published(source, published))


@pytest.mark.filterwarnings("ignore:Dataset.default_context is deprecated")
def test_rdflib_reads_the_same_graph_from_the_folder(source: Path) -> None:
    read = rdflib.Dataset()
    for file in sorted((source / "patches").iterdir()):
        read.parse(data=file.read_text(), format="patch")
    lines = read.default_context.serialize(format="nt").splitlines()
    assert _same(triples_of([line for line in lines if line]), _published(source, 4))


def test_jena_reads_the_same_graph_from_the_folder(source: Path, fuseki: Fuseki) -> None:
    connection = HTTPConnection("127.0.0.1", fuseki.port, timeout=30)
    for file in sorted((source / "patches").iterdir()):
        headers = {"Content-Type": "application/rdf-patch"}
        connection.request("POST", "/ds/patch", file.read_bytes(), headers)
        answer = connection.getresponse()
        assert (answer.read(), answer.status // 100) == (b"", 2)
    connection.request("GET", "/ds/data?default", headers={"Accept": "application/n-triples"})
    lines = connection.getresponse().read().decode().splitlines()
    connection.close()
    assert _same(triples_of(lines), _published(source, 4))


OVER_A_STREAM = """PREFIX ex: <http://example.org/>
REGISTER STREAM seen AS CONSTRUCT { ?sensor ex:seen true }
FROM NAMED WINDOW ex:w ON readings [RANGE PT10S STEP PT10S]
WHERE { WINDOW ex:w { ?reading ex:of ?sensor } }
"""


@pytest.mark.usefixtures("slow")
def test_over_streams_an_epoch_has_the_answer_at_its_last_final_instant(tmp_path: Path) -> None:
    """At 75 s, the window that closed at 60 s had s2; at 57 s it was not closed yet."""
    project = event_project(tmp_path, OVER_A_STREAM)
    events = ((("s1", 1), ("s2", 3), ("s1", 12)), (("s3", 24),), (("s2", 57),), (("s1", 75),))
    for number, readings_ in enumerate(events):
        project.write(f"events/{number}.ttl", readings(*readings_))
        project.run()
    call(lambda opened: [*write_patches(opened, "q", tmp_path / "out")], project.settings)
    states = replayed(tmp_path / "out")
    seen = {e: {str(triple.subject)[-3:-1] for triple in g} for e, g in states.items()}
    assert seen == {1: {"s1", "s2"}, 2: {"s1"}, 3: set()}
