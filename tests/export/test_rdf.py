"""The published answer of a CONSTRUCT as Turtle and N-Triples."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, parse
from rdflib import Graph
from rdflib.compare import isomorphic

from tests.support.patch_reader import triples_of
from tests.support.projects.exported import CONSTRUCT, Answer
from tests.support.projects.handmade import HandMadeLake, publish_by_hand
from weir.errors import ConfigurationError
from weir.export.formats import Format, format_of
from weir.export.rdf import write_rdf
from weir.export.triples import TRIPLE
from weir.stage import claimed

XSD = "http://www.w3.org/2001/XMLSchema#"
P = "<http://ex/p>"
TERMS = (
    "<http://ex/a>",
    "<http://ex/a.>",
    "<http://ex/a/b?c=d#e>",
    "<http://ex/%20'(x)>",
    "<urn:uuid:0>",
    "_:b1",
    r'"tab \t, line \n, quote \", \\, \u0001"',
    '"<_:b1> ."',
    '"Grüße 𝄞"@de-at',
    '""',
    *(f'"{text}"^^<{XSD}{kind}>' for text, kind in [("042", "integer"), ("1e3", "double")]),
    *(f'"{text}"^^<{XSD}{kind}>' for text, kind in [("true", "boolean"), ("no", "boolean")]),
    f'"1.0"^^<{XSD}decimal>',
    '"x"^^<http://ex/type>',
)
PROGRAM = """%+ stream: s
%+ unit: PT1S
%+ atoms: {"q(X)": "?X a <urn:Q>"}
@T p(X) <- win^3 @T q(X).
"""
ROWS = [(subject, P, TERMS[i]) for i in range(len(TERMS)) for subject in TERMS[i % 3 : 6 : 3]]


@pytest.fixture
def all_terms(answer: Answer) -> Answer:
    """An answer with terms of all kinds."""
    answer.publish(*((1, 1, *row) for row in ROWS))
    return answer


def test_both_formats_have_the_triples_of_the_answer(all_terms: Answer) -> None:
    expected = triples_of([f"{' '.join(row)} ." for row in ROWS])
    turtle = all_terms.rdf(Format.turtle)
    assert triples_of(all_terms.rdf().splitlines()) == expected
    assert {quad.triple for quad in parse(turtle, RdfFormat.TURTLE)} == expected


def test_rdflib_reads_the_same_graph_in_both_formats(answer: Answer) -> None:
    # It does not read a name of Turtle that ends with an escaped dot.
    answer.publish(*((1, 1, *row) for row in ROWS if TERMS[1] not in row))
    turtle = Graph().parse(data=answer.rdf(Format.turtle), format="turtle")
    lines = Graph().parse(data=answer.rdf(), format="nt")
    assert isomorphic(turtle, lines)


def test_an_earlier_epoch_has_the_answer_of_that_epoch(answer: Answer) -> None:
    first, second = ("<urn:a>", P, "<urn:x>"), ("<urn:b>", P, "_:c")
    answer.publish((1, 1, *first), (2, -1, *first), (2, 1, *second), epoch=3)
    assert answer.rdf() == f"<urn:b> {P} _:c .\n"
    assert answer.rdf(epoch=1) == f"<urn:a> {P} <urn:x> .\n"
    assert answer.rdf(epoch=0) == ""


def test_equal_states_give_equal_bytes(
    answer: Answer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = Answer(answer.lake.copy(tmp_path_factory.mktemp("other") / "lake"))
    answer.publish(*((1, 1, *row) for row in ROWS))
    random.Random(1).shuffle(rows := [*ROWS])
    other.publish(*((1, 1, *row) for row in rows[5:]), (1, 1, "<urn:gone>", P, "<urn:gone>"))
    other.publish((2, -1, "<urn:gone>", P, "<urn:gone>"), *((2, 1, *row) for row in rows[:5]))
    for format_ in Format:
        assert answer.rdf(format_) == other.rdf(format_)


def test_turtle_has_the_prefixes_of_the_query_and_others_of_the_project(answer: Answer) -> None:
    prefixes = '[prefixes]\nex = "http://other/"\nown = "http://own/"\n'
    answer.lake.project.write("weir.toml", f'lake = "lake"\n{prefixes}')
    answer.publish((1, 1, "<http://own/a>", P, "<http://own/b>"))
    head = "@prefix own: <http://own/> .\n@prefix ex: <http://ex/> .\n"
    assert answer.rdf(Format.turtle) == f"{head}own:a ex:p own:b .\n"


def test_prefixes_that_turtle_does_not_allow_are_left_out(answer: Answer) -> None:
    answer.publish((1, 1, "<http://ex/a>", P, "<http://ex/b>"))
    answer.lake.query(
        "g", f"PREFIX no.: <http://ex/a>\nPREFIX bad: <http://ex/{{}}>\n{CONSTRUCT} ?"
    )
    turtle = answer.rdf(Format.turtle)
    assert turtle == "@prefix ex: <http://ex/> .\nex:a ex:p ex:b .\n"


def test_rows_of_an_earlier_text_that_was_no_construct_are_left_out(lake: HandMadeLake) -> None:
    """It had a row several times, rows that are no triples, and further columns."""
    lake.query("g", CONSTRUCT)
    lake.ingest(2)
    bag, literal = ("<urn:a>", P, "<urn:x>"), ('"a"', P, "<urn:x>")
    rows = [(1, 2, *bag, '"z"'), (1, 1, *literal, None), (2, -1, *bag, '"z"')]
    publish_by_hand(lake, "g", TRIPLE, rows, watermark=2, stored=("extra",), is_maintained=True)
    answer = Answer(lake)
    answer.published = 2
    assert answer.rdf() == f"<urn:a> {P} <urn:x> .\n"


def test_an_epoch_at_which_the_query_was_no_construct_is_refused(lake: HandMadeLake) -> None:
    lake.query("g", CONSTRUCT)
    lake.ingest(2)
    publish_by_hand(lake, "g", ["s"], [(1, 1, "<urn:a>")], watermark=1, stored=TRIPLE)
    answer = Answer(lake)
    with pytest.raises(ConfigurationError, match="is no graph: it has the columns s"):
        answer.rdf()
    changes = [(2, 1, "<urn:a>", P, "<urn:x>", None), (2, -1, None, None, None, "<urn:a>")]
    publish_by_hand(lake, "g", TRIPLE, changes, watermark=2, stored=["s"], base=2)
    answer.published = 2
    assert answer.rdf() == f"<urn:a> {P} <urn:x> .\n"
    with pytest.raises(ConfigurationError, match="is no graph"):
        answer.rdf(epoch=1)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("SELECT ?subject ?predicate ?object { ?subject ?predicate ?object }", "is a SELECT"),
        ("ASK { ?s ?p ?o }", "is an ASK"),
    ],
)
def test_the_answer_of_another_form_is_no_graph(lake: HandMadeLake, text: str, what: str) -> None:
    lake.query("q", text)
    lake.ingest(1)
    publish_by_hand(lake, "q", TRIPLE, [], watermark=1, is_maintained=True)
    with pytest.raises(ConfigurationError, match=what) as refused:
        Answer(lake).call(write_rdf, "q", io.BytesIO())
    assert "`weir export data q`" in refused.value.hint


def test_a_program_is_no_graph(lake: HandMadeLake) -> None:
    lake.project.program("p", PROGRAM)
    with pytest.raises(ConfigurationError, match="is a program"):
        Answer(lake).call(write_rdf, "p", io.BytesIO())


def test_the_answer_of_a_removed_query_can_be_written(answer: Answer) -> None:
    answer.publish((1, 1, "<urn:a>", P, "<urn:x>"))
    answer.lake.project.remove_query("g")
    assert answer.rdf() == f"<urn:a> {P} <urn:x> .\n"


def test_an_answer_is_written_beside_a_run(answer: Answer) -> None:
    answer.publish((1, 1, "<urn:a>", P, "<urn:x>"))

    def write(project: object) -> str:
        with claimed(project.open_lake(), "publish", "other", 60):  # type: ignore[attr-defined]
            return answer.rdf()

    assert answer.call(write) == f"<urn:a> {P} <urn:x> .\n"


@pytest.mark.parametrize("name", ["a.trig", "a.nq", "a.ttl.gz", "a", "ttl"])
def test_an_ending_of_another_format_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"names no format that is written: \.ttl or \.nt"):
        format_of(Path(name))


def test_the_ending_of_a_file_names_its_format() -> None:
    assert [format_of(Path(name)) for name in ("a.ttl", "b.NT")] == [*Format]
