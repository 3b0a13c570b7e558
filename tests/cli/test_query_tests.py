"""`weir test`: tests that a project writes of its queries."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.support.projects.command_line import Weir
from weir.rdf.parser_process import ParserProcess

TESTS = """\
query: exhibits
tests:
  - name: on show
    given: |
      @prefix : <http://example.org/> .
      :vase :title "Vase"@en ; :room 1 .
      :mask :title "Mask" .
    expect:
      - {title: Vase, room: 1}
    change:
      add: <http://example.org/mask> <http://example.org/room> "2" .
      remove: <http://example.org/vase> <http://example.org/room> 1 .
    expect_after:
      - {title: Mask, room: "2"}
"""


def write(text: str) -> None:
    Path("tests").mkdir(exist_ok=True)
    Path("tests/exhibits.yml").write_text(text)


@pytest.mark.usefixtures("initialised")
def test_a_test_compares_the_rows_before_and_after_a_change(weir: Weir) -> None:
    write(TESTS)
    done = weir("test")
    assert (done.code, done.out.splitlines()[-1]) == (0, "1 passed, 0 failed.")
    assert not Path("lake").exists()
    write(TESTS.replace('room: "2"}', "room: 2}").replace("title: Vase, room: 1}", "title: Vas}"))
    failed = weir("test", "--output", "json")
    assert failed.code == 1
    (result,) = failed.json
    before = {"when": None, "missing": [{"title": "Vas"}], "unexpected": [{"title": "Vase"}]}
    after = {
        "when": "after the change",
        "missing": [{"title": "Mask", "room": 2}],
        "unexpected": [{"title": "Mask", "room": "2"}],
    }
    assert (result["success"], result["mismatches"]) == (False, [before, after])


@pytest.mark.usefixtures("initialised")
def test_how_often_a_row_is_there_is_compared(weir: Weir) -> None:
    twice = ':coin :title "Vase"@en ; :room 1 .\n      :mask'
    write(TESTS.replace(":mask", twice, 1).partition("    change")[0])
    assert weir("test").code == 1


@pytest.mark.usefixtures("initialised")
def test_a_selection_leaves_tests_out(weir: Weir) -> None:
    write(TESTS)
    assert "no tests" in weir("test", "--exclude", "exhibits").out


@pytest.mark.usefixtures("initialised")
def test_all_tests_share_one_parser(weir: Weir, monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    start = ParserProcess.__enter__

    def enter(parser: ParserProcess) -> ParserProcess:
        started.append(parser)
        return start(parser)

    monkeypatch.setattr(ParserProcess, "__enter__", enter)
    write(TESTS + TESTS.partition("tests:\n")[2].replace("on show", "again"))
    assert weir("test").out.splitlines()[-1] == "2 passed, 0 failed."
    assert len(started) == 1


@pytest.mark.usefixtures("has_run")
def test_only_queries_with_another_text_can_be_tested(weir: Weir) -> None:
    write(TESTS.replace("room: 1}", "room: 5}"))
    assert weir("test", "--select", "state:modified").code == 0
    text = Path("queries/exhibits.rq").read_text()
    Path("queries/exhibits.rq").write_text(text.replace("SELECT", "SELECT DISTINCT"))
    assert weir("test", "--select", "state:modified").code == 1


@pytest.mark.usefixtures("initialised")
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("query: exhibits", "query: exhibit", "yml:1:1: error: nothing is declared .*exhibit\n"),
        ("room: 1}", "rom: 1}", "yml:9:23: error: the answer has no column rom\n.*mean room"),
        ("given:", "givn:", "yml:4:5: error: .*givn: unknown key\n.*mean given"),
        (':title "Mask" .', ':title "Mask ', "yml:4:5: error: .*given: it is no Turtle"),
        ("expect_after", "expect_aftr", "yml:13:5: error: .*unknown key"),
    ],
)
def test_a_mistake_has_its_place_also_for_check(
    weir: Weir, old: str, new: str, message: str
) -> None:
    write(TESTS.replace(old, new, 1))
    assert weir("test").code == 2
    said = weir("check")
    assert said.code == 1
    assert re.search(message, said.out, re.DOTALL), said.out


EX = "http://example.org/"
HOT = f"""\
query: hot
tests:
  - name: twice
    given: <{EX}a> a <{EX}Oven> . <{EX}b> a <{EX}Fridge> .
    events:
      readings:
        - {{time: 2026-01-01T00:00:01Z, triples: "<{EX}a> <{EX}celsius> 95 ."}}
        - {{time: 2026-01-01T00:00:02Z, triples: "<{EX}a> <{EX}celsius> 96 ."}}
        - {{time: 2026-01-01T00:00:02Z, triples: "<{EX}b> <{EX}celsius> 96 ."}}
        - {{time: 2026-01-01T00:00:12Z, triples: "<{EX}a> <{EX}celsius> 97 ."}}
    at: 2026-01-01T00:00:10Z
    expect:
      - {{sensor: "{EX}a", n: 2}}
"""
WARM = f"""\
query: rules
tests:
  - name: warm
    events: &events
      readings: [{{time: 2026-01-01T00:00:01Z, triples: "<{EX}a> <{EX}celsius> 95 ."}}]
    at: 2026-01-01T00:00:06Z
    expect: [{{predicate: warm, a1: "{EX}a"}}]
  - name: cold again
    events: *events
    at: 2026-01-01T00:00:07Z
    expect: []
"""
WINDOW = "FROM NAMED WINDOW ex:w ON {stream} [RANGE PT10S STEP PT10S]"


@pytest.fixture
def over_streams(initialised: None) -> None:
    """Queries, one over the other's stream, and a program; their stream need not be declared."""
    del initialised
    shutil.rmtree("tests", ignore_errors=True)
    prefix = f"PREFIX ex: <{EX}>\n"
    Path("queries/hot.rq").write_text(
        f"{prefix}SELECT ?sensor (COUNT(*) AS ?n) {WINDOW.format(stream='readings')} WHERE {{"
        " WINDOW ex:w { ?sensor ex:celsius ?c } ?sensor a ex:Oven FILTER (?c > 90) }"
        " GROUP BY ?sensor"
    )
    Path("queries/seen.rq").write_text(
        f"{prefix}REGISTER STREAM seen AS CONSTRUCT RSTREAM {{ ?sensor ex:seen true }}"
        f" {WINDOW.format(stream='readings')} WHERE {{ WINDOW ex:w {{ ?sensor ex:celsius ?c }} }}"
    )
    Path("queries/often.rq").write_text(
        f"{prefix}SELECT ?sensor FROM NAMED WINDOW ex:w ON seen [RANGE PT30S STEP PT10S]"
        " WHERE { WINDOW ex:w { ?sensor ex:seen true } }"
    )
    Path("programs").mkdir(exist_ok=True)
    Path("programs/rules.lars").write_text(
        f'%+ stream: readings\n%+ unit: PT1S\n%+ prefixes: {{ex: "{EX}"}}\n'
        '%+ atoms: {"celsius(S,C)": "?S ex:celsius ?C"}\n'
        "warm(S) <- win^5 diamond celsius(S,C), C > 50.\n"
    )


@pytest.mark.usefixtures("over_streams")
@pytest.mark.parametrize("text", [HOT, WARM], ids=["windows", "rules"])
def test_what_reads_streams_is_looked_at_one_instant(weir: Weir, text: str) -> None:
    write(text)
    done = weir("test")
    assert (done.code, "0 failed" in done.out) == (0, True), done.out + done.err
    write(text.replace(" 95 .", " 5 ."))
    assert weir("test").code == 1


@pytest.mark.usefixtures("over_streams")
def test_the_queries_that_give_a_stream_are_computed_too(weir: Weir) -> None:
    sensors = [f'{{sensor: "{EX}a"}}', f'{{sensor: "{EX}b"}}']
    text = HOT.replace("query: hot", "query: often").replace("00:00:10Z", "00:00:20Z")
    write(text.replace(f'{{sensor: "{EX}a", n: 2}}', "\n      - ".join(sensors)))
    done = weir("test")
    assert done.code == 0, done.out + done.err


@pytest.mark.usefixtures("initialised")
def test_the_queries_that_give_a_graph_are_computed_too(weir: Weir) -> None:
    Path("queries/linked.rq").write_text(
        f"#+ graph: {EX}links\nCONSTRUCT {{ ?y <{EX}of> ?x }} WHERE {{ ?x <{EX}has> ?y }}"
    )
    Path("queries/parts.rq").write_text(
        f"#+ reads: [linked]\nSELECT ?part {{ ?part <{EX}of> ?whole }}"
    )
    write(
        "query: parts\ntests:\n"
        f"  - {{name: one, given: '<{EX}a> <{EX}has> <{EX}b> .', expect: [{{part: '{EX}b'}}]}}\n"
    )
    done = weir("test")
    assert done.code == 0, done.out + done.err


@pytest.mark.usefixtures("over_streams")
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("readings:", "reading:", r"yml:6:7\n.*mean readings\? It reads readings"),
        ("    at: 2026-01-01T00:00:10Z\n", "", "yml:3:5\n.*Write at: "),
        ("query: hot", "query: counted", r"yml:6:7\n.*It reads none"),
        ("    expect:", "    change: {}\n    expect_after: []\n    expect:", "other events"),
        ("00:00:01Z", "00:00:01", "time"),
    ],
)
def test_a_mistake_about_events_has_its_place(weir: Weir, old: str, new: str, message: str) -> None:
    Path("queries/counted.rq").write_text("SELECT ?sensor ?n { ?sensor <urn:n> ?n }")
    write(HOT.replace(old, new, 1))
    done = weir("test")
    assert done.code == 2
    assert re.search(message, done.err), done.err


@pytest.mark.usefixtures("initialised")
def test_remotes_answer_from_what_is_given_also_for_keys_of_one_another(weir: Weir) -> None:
    one, two = "http://one.example/sparql", "http://two.example/sparql"
    Path("queries/wrong.rq").write_text("SELECT ?x {")
    Path("queries/named.rq").write_text(
        f"SELECT ?x ?name {{ ?x <{EX}same> ?y SERVICE <{one}> {{ ?y <{EX}is> ?z }}"
        f" SERVICE <{two}> {{ ?z <{EX}name> ?name }} }}"
    )
    text = f"""\
query: named
tests:
  - name: over two
    given: <{EX}a> <{EX}same> <{EX}b> .
    remotes:
      {one}: <{EX}b> <{EX}is> <{EX}c> .
      {two}: <{EX}c> <{EX}name> "sea" . <{EX}d> <{EX}name> "land" .
    expect:
      - {{x: "{EX}a", name: sea}}
    change:
      remove: <{EX}a> <{EX}same> <{EX}b> .
    expect_after: []
"""
    write(text)
    done = weir("test")
    assert done.code == 0, done.out + done.err
    write(text.replace(f"{one}:", "http://on.example/sparql:"))
    assert re.search(r"yml:6:7\n.*mean http://one.example/sparql", weir("test").err)
    write(text.replace('"sea"', '"lake"'))
    assert weir("test").code == 1
