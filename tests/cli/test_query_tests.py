"""`weir test`: tests that a project writes of its queries."""

from __future__ import annotations

import re
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
