"""The published changes of an answer as a Linked Data Event Stream."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import rdflib

from tests.support.laws import Seeds
from tests.support.opened import call
from tests.support.projects.exported import Answer
from tests.support.projects.handmade import HandMadeLake, publish_by_hand
from tests.support.projects.project import PATCHES, Project
from tests.support.served_folder import fetched, served
from tests.support.stream_reader import Reader, Row
from weir.errors import ConfigurationError
from weir.export import ldes
from weir.export.ldes import write_stream
from weir.export.triples import TRIPLE
from weir.lake import whole_files
from weir.project import open_lake

P = "<http://ex/p>"
X, Y, BLANK = ("<urn:x>", P, '"1"'), ("<urn:y>", P, "_:b2"), ("_:b1", P, '"<_:b2> ."@en')
SERVED = "https://example.org/g/"
INDEX, FIRST = "index.trig", "000000000001.trig"


@pytest.fixture(autouse=True)
def _few_members(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few that any answer has several pages, and nodes of links to them."""
    monkeypatch.setattr(ldes, "MEMBERS", 3)
    monkeypatch.setattr(ldes, "LINKS", 2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of the stream; it is not there yet."""
    return tmp_path / "out"


@pytest.fixture
def changed(answer: Answer) -> Answer:
    """x and y at epoch 2, y goes and a blank node comes at epoch 4; nothing else changes."""
    answer.publish((2, 1, *X), (2, 1, *Y), epoch=3)
    answer.publish((4, -1, *Y), (4, 1, *BLANK), epoch=5)
    return answer


def contents(folder: Path) -> dict[str, bytes]:
    """The files that a server serves."""
    return {
        file.name: file.read_bytes()
        for file in sorted(folder.glob("*"))
        if not file.name.startswith(".")
    }


def reader(folder: Path, base: str = SERVED) -> Reader:
    """A client of a folder that is served at an address."""
    (root,) = (file.name for file in folder.glob("index.*"))
    return Reader(
        lambda address: (folder / address.removeprefix(base)).read_bytes(), f"{base}{root}"
    )


def row(values: Mapping[str, str | None]) -> Row:
    """A row as a client sees it: blank nodes are IRIs."""
    terms = {name: term for name, term in values.items() if term is not None}
    nodes = {n: t for n, t in terms.items() if t.startswith("_:")}
    root = f"{SERVED}index.{'trig' if {*values} == {*TRIPLE} else 'ttl'}"
    return frozenset(
        {**terms, **{name: f"<{root}#node-{t[2:]}>" for name, t in nodes.items()}}.items()
    )


def graph(*triples: tuple[str, ...]) -> dict[Row, int]:
    return {row(dict(zip(TRIPLE, triple, strict=True))): 1 for triple in triples}


def test_a_stream_replays_to_the_answer_at_each_epoch(changed: Answer, folder: Path) -> None:
    written = changed.stream(folder)
    assert (written.members, written.pages, written.epoch) == (4, 2, 4)
    assert [*contents(folder)] == [FIRST, "000000000002.trig", INDEX]
    client = reader(folder)
    assert client.states() == {2: graph(X, Y), 4: graph(X, BLANK)}
    assert client.immutable == {f"{SERVED}{FIRST}"}


def test_a_page_says_what_its_members_are(changed: Answer, folder: Path) -> None:
    changed.stream(folder)
    page = (folder / FIRST).read_text()
    assert "<000000000001.trig> a tree:Node ; ldes:immutable true .\n\n" in page
    last = page.rpartition("own:stream tree:member ")[2]
    key = last.partition("own:row-")[2][:32]
    assert last == (
        "own:member-3 .\n"
        "own:member-3 a as:Delete ;\n"
        f"    dct:isVersionOf own:row-{key} ;\n"
        '    dct:created "2026-01-05T00:00:00Z"^^xsd:dateTime ;\n'
        '    as:startTime "2026-01-05T00:00:00Z"^^xsd:dateTime ;\n'
        "    own:number 3 ;\n"
        "    own:epoch 4 .\n"
    )
    assert f"own:row-{key}" in page.partition("own:member-3")[0]
    assert "own:member-4 { <index.trig#node-b1> " in (folder / "000000000002.trig").read_text()


def test_a_later_call_appends_and_leaves_full_pages(changed: Answer, folder: Path) -> None:
    whole = folder.with_name("whole")
    changed.stream(folder)
    before = contents(folder)
    assert changed.stream(folder).members == 0
    assert contents(folder) == before
    changed.publish((6, 1, *Y))
    assert changed.stream(folder).members == 1
    later = contents(folder)
    assert later[FIRST] == before[FIRST]
    assert later["000000000002.trig"].startswith(before["000000000002.trig"])
    changed.stream(whole)
    assert later == contents(whole)


@contextmanager
def dies_at(file: int) -> Iterator[None]:
    """A context that ends when so many files are written and the next one is to take its place."""
    written, numbers = whole_files.whole_file, count()

    @contextmanager
    def dying(path: Path) -> Iterator[Any]:
        with written(path) as output:
            yield output
            if next(numbers) == file:
                raise KeyboardInterrupt

    with mock.patch.object(ldes, "whole_file", dying), suppress(KeyboardInterrupt):
        yield


def test_a_call_that_is_killed_at_any_file_is_continued(changed: Answer, folder: Path) -> None:
    changed.publish(*((6, 1, f"<urn:{n}>", P, '"1"') for n in range(8)), epoch=6)
    whole = folder.with_name("whole")
    changed.stream(whole)
    files = contents(whole)
    assert len(files) == 4 + 3 + 1
    for number in range(len(files)):
        with dies_at(number):
            changed.stream(folder)
        assert len(contents(folder)) == number
        assert contents(folder).items() <= files.items()
        changed.stream(folder)
        assert contents(folder) == files
        shutil.rmtree(folder)


def test_an_edit_at_the_last_epoch_is_in_further_members(changed: Answer, folder: Path) -> None:
    changed.publish((6, 1, *Y))
    changed.stream(folder)
    changes = (((6, -1, *Y),), ((6, 1, *Y), (6, -1, *X)), ((6, 1, *X),))
    held = ((X, BLANK), (Y, BLANK), (X, Y, BLANK))
    for change, triples in zip(changes, held, strict=True):
        changed.publish(*change, epoch=6)
        assert changed.stream(folder).members == len(change)
        assert reader(folder).states()[6] == graph(*triples)
    assert changed.stream(folder).members == 0


def test_a_base_makes_absolute_iris(changed: Answer, folder: Path) -> None:
    changed.stream(folder, "https://data.example/shown")
    root = (folder / INDEX).read_text()
    assert "@prefix own: <https://data.example/shown/index.trig#> ." in root
    states = reader(folder, "https://data.example/shown/").states()
    assert [len(state) for state in states.values()] == [2, 2]
    with pytest.raises(ConfigurationError, match="or --base was another one"):
        changed.stream(folder)
    with pytest.raises(ConfigurationError, match="no IRI of a folder"):
        changed.stream(folder, "data.example")


def test_a_folder_of_another_log_is_refused(changed: Answer, folder: Path) -> None:
    changed.stream(folder)
    before = contents(folder)
    shutil.rmtree(open_lake(changed.lake.settings).location("answers/g"))
    changed.publish((5, 1, *X))
    with pytest.raises(ConfigurationError, match="it is no page of the answer that g has now"):
        changed.stream(folder)
    assert contents(folder) == before


def test_a_stream_of_triples_is_not_continued_by_one_of_rows(changed: Answer, folder: Path) -> None:
    changed.stream(folder)
    changed.lake.query("g", "SELECT ?who { ?who ?p ?o }")
    with pytest.raises(ConfigurationError, match=r"index.trig: it is the root of a stream of trip"):
        changed.stream(folder)


def test_the_root_leads_to_full_pages_by_nodes_that_never_change(
    answer: Answer, folder: Path
) -> None:
    written = dict[str, bytes]()
    for epoch in range(1, 16):
        answer.publish(*((epoch, 1, f"<urn:{epoch}>", P, f'"{n}"') for n in range(2)), epoch=epoch)
        answer.stream(folder)
        files = contents(folder)
        assert written.items() <= files.items()
        written = {name: text for name, text in files.items() if b"ldes:immutable" in text}
        assert (folder / INDEX).read_text().count("tree:remainingItems") <= 4
    # Ten full pages: two in each of five nodes, two of these in each of two.
    assert [name for name in written if name.startswith("node2")] == [
        "node2-000000000001.trig",
        "node2-000000000002.trig",
    ]
    client = reader(folder)
    assert [len(state) for state in client.states().values()] == [*range(2, 31, 2)]
    assert len(client.immutable) == len(written)
    before = contents(folder)
    (folder / INDEX).unlink()
    answer.stream(folder)
    assert contents(folder) == before


def test_a_root_that_is_gone_or_damaged_is_made_again(changed: Answer, folder: Path) -> None:
    changed.stream(folder)
    before = contents(folder)
    (folder / INDEX).unlink()
    for damaged in (None, b"", before[INDEX][:300], before[FIRST]):
        if damaged is not None:
            (folder / INDEX).write_bytes(damaged)
        assert changed.stream(folder).members == 0
        assert contents(folder) == before


def test_an_answer_without_rows_is_a_stream_without_members(answer: Answer, folder: Path) -> None:
    answer.publish(epoch=1)
    assert answer.stream(folder).members == 0
    assert reader(folder).states() == {}


def test_a_client_follows_the_links_over_http(changed: Answer, folder: Path) -> None:
    changed.stream(folder)
    with served(folder) as base:
        states = Reader(fetched, f"{base}{INDEX}").states()
    assert {epoch: len(state) for epoch, state in states.items()} == {2: 2, 4: 2}


SELECT = """#+ history: full
SELECT ?who ?label { ?s <http://ex/p> ?who OPTIONAL { ?s <http://ex/l> ?label } }
"""


def test_rows_of_a_select_are_versions_with_their_multiplicity(tmp_path: Path) -> None:
    project = Project(tmp_path / "project").declare(PATCHES)
    project.query("g", SELECT)
    project.change_set("A <urn:1> <http://ex/p> <urn:a>", "A <urn:2> <http://ex/p> <urn:a>")
    project.change_set('A <urn:1> <http://ex/l> "x"@en', "A <urn:3> <http://ex/p> _:c")
    project.change_set("D <urn:2> <http://ex/p> <urn:a>")
    project.run()
    written = call(write_stream, project.settings, "g", tmp_path / "out")
    assert (written.members, written.root.name) == (5, "index.ttl")
    states = reader(tmp_path / "out").states()
    labelled = frozenset({("who", "<urn:a>"), ("label", '"x"@en')})
    assert [state.get(frozenset({("who", "<urn:a>")})) for state in states.values()] == [2, 1, None]
    assert [state.get(labelled) for state in states.values()] == [None, 1, 1]
    for name in ("index.ttl", "000000000001.ttl"):
        assert len(rdflib.Graph().parse(tmp_path / "out" / name, format="turtle"))


def test_the_answer_of_an_ask_is_a_stream_of_one_row(tmp_path: Path) -> None:
    project = Project(tmp_path / "project").declare(PATCHES)
    project.query("g", "#+ history: full\nASK { <urn:1> <http://ex/p> ?o }")
    project.change_set("A <urn:2> <http://ex/p> <urn:a>")
    project.change_set("A <urn:1> <http://ex/p> <urn:a>")
    project.run()
    call(write_stream, project.settings, "g", tmp_path / "out")
    states = reader(tmp_path / "out").states()
    boolean = "^^<http://www.w3.org/2001/XMLSchema#boolean>"
    assert states == {
        epoch: {frozenset({("answer", f'"{value}"{boolean}')}): 1}
        for epoch, value in ((1, "false"), (2, "true"))
    }


@pytest.mark.law("event streams")
def test_streams_replay_to_the_answer_at_every_epoch(tmp_path: Path, seeds: Seeds) -> None:
    """However often a log that grows and is edited is exported, and some exports are killed.

    Full pages stay as they are.
    """
    seeds.check(lambda seed: _broken(seed, tmp_path / str(seed)))


def _broken(seed: int, folder: Path) -> Iterator[str]:
    chance, out = random.Random(f"stream {seed}"), folder / "out"
    lake = HandMadeLake(Project(folder / "project"))
    is_graph = chance.random() < 0.5
    columns = TRIPLE if is_graph else ("who", "label", "other")[: chance.randint(1, 3)]
    if is_graph:
        lake.query("g", "CONSTRUCT WHERE { ?s <http://ex/p> ?o }")
    else:
        lake.query("g", f"SELECT ?{' ?'.join(columns)} {{ ?who ?label ?other }}")
    objects = ("<urn:a>", "_:a", '"1"', '"\\n\\n\\"own:"@en', *((None,) if not is_graph else ()))
    rows = [
        ("<urn:s>" if chance.random() < 0.5 else "_:a", P, chance.choice(objects))
        if is_graph
        else tuple(chance.choice(objects) for _ in columns)
        for _ in range(6)
    ]
    held, states, full, published = Counter[Any](), dict[int, Any](), dict[str, bytes](), 0
    for step in range(8):
        # No new epoch: the query was edited.
        last = published + (chance.choice([0, 1, 3]) if step else 1)
        changes = []
        for epoch in range(min(published + 1, last), last + 1):
            for changed in chance.sample([*{*rows}], chance.randint(0, min(3, len({*rows})))):
                most = 1 if is_graph else 3
                weight = chance.choice([w - held[changed] for w in range(most + 1)])
                if weight:
                    changes.append((epoch, weight, *changed))
                    held[changed] += weight
            states[epoch] = {
                row(dict(zip(columns, values, strict=True))): times
                for values, times in (+held).items()
            }
        is_edited = last == published
        lake.ingest(max(0, last - lake.epochs))
        publish_by_hand(
            lake,
            "g",
            columns,
            changes,
            watermark=last,
            is_maintained=True,
            mode="edited" if is_edited else "incremental" if step else "initial",
            difference_at=last if is_edited else None,
        )
        published = last
        if chance.random() < 0.7 or step == 7:
            with dies_at(chance.randrange(8)):
                call(write_stream, lake.settings, "g", out)
            call(write_stream, lake.settings, "g", out)
            files = contents(out)
            if not full.items() <= files.items():
                yield f"{seed}: a full page was written again"
            full = {name: text for name, text in files.items() if b"ldes:immutable" in text}
            client = reader(out).states()
            now = client[max(client)] if client else {}
            if now != states[published]:
                yield f"{seed}: other rows at epoch {published}"
    call(write_stream, lake.settings, "g", folder / "whole")
    client = reader(folder / "whole").states()
    for epoch, state in states.items():
        known = [at for at in client if at <= epoch]
        if (client[max(known)] if known else {}) != state:
            yield f"{seed}: other rows at epoch {epoch} of the whole stream"
