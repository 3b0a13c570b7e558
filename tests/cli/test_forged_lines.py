"""What is called with a line feed makes no line that looks like one of Weir's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.command_line import Called, Weir
from weir.errors import QualityError, WeirError, listed

pytestmark = pytest.mark.usefixtures("initialised", "sampled")

FORGED = "published everything"
NAME = f"002\n{FORGED}\n"


def _forged(called: Called) -> list[str]:
    return [line for line in (called.out + called.err).splitlines() if line.startswith(FORGED)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (f"{NAME}.ttl", "broken"),
        (f"{NAME}.nt", "broken\n"),
        (f"{NAME}.txt", ""),
        (f"{NAME}.ttl.gz", "no archive"),
    ],
    ids=["a document", "lines", "an unknown ending", "a broken archive"],
)
def test_the_name_of_a_file_of_a_source_forges_no_line(weir: Weir, name: str, content: str) -> None:
    weir("run")
    file = Path("data/versions", name)
    file.write_text(content)
    for command in ("run", "status", "doctor", "ingest", "status --fail-on stopped,rejected"):
        called = weir(*command.split())
        assert (command, _forged(called)) == (command, [])
    file.unlink()
    assert _forged(weir("run")) == []


def test_a_link_with_such_a_name_and_aim_forges_no_line(weir: Weir) -> None:
    Path("data/versions", f"{NAME}.ttl").symlink_to(f"/tmp/x\n{FORGED}")
    for command in ("run", "status", "ingest"):
        called = weir(command)
        assert (called.code == 0, _forged(called)) == (command == "status", [])


def test_the_name_of_a_query_forges_no_line(weir: Weir) -> None:
    Path("queries", f"{NAME}.rq").write_text("SELECT * { ?s ?p ?o }")
    Path("queries/term.rq").write_text(f"SELECT * {{ ?s ?p ?o }} # {FORGED}\n\n{FORGED}\n")
    for command in ("run", "status", "doctor", f"show {FORGED.split()[0]}"):
        assert (command, _forged(weir(*command.split()))) == (command, [])


def test_the_lines_of_an_error_are_those_that_it_was_given() -> None:
    error = QualityError(
        f"one\n{FORGED}", f"two\n{FORGED}", f"three\n{FORGED}", parts=listed([("a\nb", "c\nd")])
    )
    assert [*error.lines()] == [
        rf"error: one\n{FORGED}",
        r"  a\nb: c\nd",
        rf"where: two\n{FORGED}",
        rf"next: three\n{FORGED}",
    ]
    again = WeirError(error.what, error.where, error.hint, parts=error.parts)
    assert str(again) == str(error)
