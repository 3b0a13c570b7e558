"""`weir export rdf`, `patch` and `ldes`: what they print, and the files that they write."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.command_line import Weir
from tests.support.projects.exported import Answer
from tests.support.projects.handmade import HandMadeLake, publish_by_hand
from weir.errors import EXIT_USAGE

TURTLE = "@prefix ex: <http://ex/> .\nex:a ex:p ex:b .\n"
LINES = "<http://ex/a> <http://ex/p> <http://ex/b> .\n"


@pytest.fixture(autouse=True)
def answer(lake: HandMadeLake) -> Answer:
    """A triple at epoch 1, another at epoch 2, which is gone at epoch 3."""
    answer = Answer(lake)
    gone = ("_:c", "<http://ex/p>", '"x"')
    first = (1, 1, "<http://ex/a>", "<http://ex/p>", "<http://ex/b>")
    answer.publish(first, (2, 1, *gone), (3, -1, *gone))
    return answer


def test_the_answer_is_printed_as_turtle_or_in_the_format_that_is_named(weir: Weir) -> None:
    assert weir("export", "rdf", "g").out == TURTLE
    assert weir("export", "rdf", "g", "--format", "ntriples").out == LINES
    assert weir("export", "rdf", "g", "--format", "ntriples", "--at", "2").out.count("\n") == 2


def test_the_ending_of_a_file_decides_unless_a_format_is_named(weir: Weir) -> None:
    called = weir("export", "rdf", "g", "--to", "made/a.nt")
    assert (called.code, called.out) == (0, "Wrote 1 triple at epoch 3 to made/a.nt.\n")
    weir("export", "rdf", "g", "--to", "b.txt", "--format", "turtle")
    assert (Path("made/a.nt").read_text(), Path("b.txt").read_text()) == (LINES, TURTLE)
    said = weir("export", "rdf", "g", "--to", "a.ttl", "--output", "json").json
    assert said == {"file": "a.ttl", "epoch": 3, "triples": 1}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("g", "--to", "a.trig"), "names no format that is written: .ttl or .nt"),
        (("g", "--format", "trig"), "'trig' is not one of"),
        (("g", "--to", "a.ttl", "--at", "4"), "epoch 4 does not exist yet: the newest is 3"),
        (("h", "--to", "a.ttl"), "there is no query h"),
        (("q", "--to", "a.ttl"), "q is a SELECT"),
    ],
)
def test_what_cannot_be_written_leaves_the_earlier_file(
    weir: Weir, answer: Answer, arguments: tuple[str, ...], message: str
) -> None:
    answer.lake.query("q", "SELECT ?s { ?s ?p ?o }")
    publish_by_hand(answer.lake, "q", ["s"], [], watermark=3, is_maintained=True)
    Path("a.ttl").write_text("before")
    called = weir("export", "rdf", *arguments)
    assert (called.code, message in " ".join(called.err.split())) == (EXIT_USAGE, True), called.err
    assert [(f.name, f.read_text()) for f in Path().glob("*a.t*")] == [("a.ttl", "before")]


def test_a_folder_of_patches_is_continued(weir: Weir) -> None:
    first = weir("export", "patch", "g", "--to", "out", "--until", "1")
    assert (first.code, first.out) == (0, "Wrote 1 file of epoch 1 to out.\n")
    assert weir("export", "patch", "g", "--to", "out").out == (
        "Wrote 2 files of epochs 2 to 3 to out.\n"
    )
    assert weir("export", "patch", "g", "--to", "out").out == "out has all changes of g.\n"
    assert len([*Path("out").iterdir()]) == 3
    (written,) = weir("export", "patch", "g", "--to", "b", "--from", "3", "--output", "json").json
    assert written == {"file": "b/000000000003.rdfp", "epoch": 3, "added": 0, "deleted": 1}


def test_a_folder_of_an_event_stream_is_continued(weir: Weir, answer: Answer) -> None:
    first = weir("export", "ldes", "g", "--to", "out")
    said = "Wrote 3 members on 1 page, up to epoch 3; begin at out/index.trig.\n"
    assert (first.code, first.out) == (0, said)
    assert weir("export", "ldes", "g", "--to", "out").out == "out has all changes of g.\n"
    answer.publish((4, 1, "<http://ex/a>", "<http://ex/p>", '"2"'))
    written = weir("export", "ldes", "g", "--to", "out", "--output", "json").json
    assert written == {"root": "out/index.trig", "epoch": 4, "members": 1, "pages": 1}
    refused = weir("export", "ldes", "g", "--to", "other", "--base", "out")
    assert (refused.code, "it is no IRI of a folder" in refused.err) == (EXIT_USAGE, True)
