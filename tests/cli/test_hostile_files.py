"""Files of a project that are hostile or damaged: each stops what it declares, with its place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.projects.command_line import Weir
from weir.errors import EXIT_FAILED, EXIT_USAGE

pytestmark = pytest.mark.usefixtures("initialised")

SELECT = "SELECT ?a WHERE { ?a ?b ?c }\n"
BOMB = "".join(f"#+   - &a{n} [{','.join([f'*a{n - 1}' if n else 'x'] * 9)}]\n" for n in range(9))
HEADS = {
    "bomb": f"#+ tags:\n{BOMB}",
    "itself": "#+ tags: &a [*a]\n",
    "deep": f"#+ tags: {'[' * 3_000}\n",
    "nul": "#+ tags: \0\n",
    "control": "#+ tags: \x07\n",
    "number": f"#+ max_rows: {'9' * 5_000}\n",
    "date": "#+ tags: 2026-02-31\n",
}
PROGRAM = "%+ atoms:\n%+   p(X): '?X a <http://a/P>'\nq(X) :- p(X).\n"


def _place(error: str) -> list[str]:
    return [line for line in error.splitlines() if line.startswith("where: ")]


def test_a_query_or_program_that_cannot_be_read_is_broken_and_the_others_go_on(weir: Weir) -> None:
    Path("programs").mkdir()
    for name, head in HEADS.items():
        Path(f"queries/{name}.rq").write_text(head + SELECT)
        text = head.replace("#+", "%+") + PROGRAM
        Path(f"programs/p_{name}.lars").write_text(text)
    deep = "SELECT ?a WHERE " + "{" * 3_000 + "?a ?b ?c" + "}" * 3_000
    Path("queries/braces.rq").write_text(deep)
    Path("queries/latin.rq").write_bytes(b"# caf\xe9\n" + SELECT.encode())
    os.mkfifo("queries/pipe.rq")
    Path("queries/folder.rq").mkdir()
    run = weir("run", "--output", "json")
    assert run.code == EXIT_FAILED
    assert [row["query"] for row in run.json["queries"] if row["mode"] == "initial"] == ["exhibits"]
    states = {
        row["query"]: row["state"] for row in weir("status", "--output", "json").json["queries"]
    }
    assert states.pop("exhibits") == "current"
    broken = {*HEADS, *(f"p_{name}" for name in HEADS), "braces", "latin", "pipe", "folder"}
    assert states == dict.fromkeys(broken, "broken")


@pytest.mark.parametrize("head", [*HEADS.values()], ids=[*HEADS])
@pytest.mark.parametrize("name", ["sources.yml", "remotes.yml"])
def test_a_declaration_that_cannot_be_read_is_named_with_its_line(
    weir: Weir, name: str, head: str
) -> None:
    Path(name).write_text(head.replace("#+ ", "").replace("#+", ""))
    ended = weir("run")
    assert (ended.code, f"/{name}:" in ended.err) == (EXIT_USAGE, True)
    assert "Unexpected error" not in ended.err


@pytest.mark.parametrize("name", ["sources.yml", "remotes.yml", "weir.toml"])
def test_a_declaration_that_is_no_text_is_named(weir: Weir, name: str) -> None:
    Path(name).unlink(missing_ok=True)
    Path(name).write_bytes(b"# one\n\xff\n")
    latin = weir("run")
    Path(name).unlink()
    Path(name).mkdir()
    folder = weir("run")
    Path(name).rmdir()
    os.mkfifo(name)
    pipe = weir("run")
    codes = {called.code for called in (latin, folder, pipe)}
    assert codes == {EXIT_USAGE}
    assert f"{name}:2" in latin.err
    assert all(name in called.err for called in (folder, pipe))


@pytest.mark.parametrize(
    "text",
    [
        "lake = " + "[" * 3_000,
        "lake = 'a\0b'",
        'lake = "a\\u0000b"',
        'queries = "\\u0000"',
        "a." * 3_000 + "b = 1",
        "lake = " + "{a = " * 3_000,
        "lake = 2026-02-31",
        f"[limits]\ndriver_rows = {'9' * 5_000}",
        "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
    ],
    ids=["arrays", "NUL", "escaped NUL", "NUL as folder", "keys", "tables", "date", "number", "no"],
)
def test_a_configuration_that_cannot_be_read_is_named(weir: Weir, text: str) -> None:
    Path("weir.toml").write_text(text)
    for command in ("run", "status", "doctor"):
        ended = weir(command)
        said = ended.out if command == "doctor" else ended.err
        assert (ended.code, "weir.toml" in said, "Unexpected error" in said) == (
            1 if command == "doctor" else EXIT_USAGE,
            True,
            False,
        )


def test_a_variable_that_is_nested_too_deeply_is_named(
    weir: Weir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEIR_LIMITS", "[" * 100_000)
    ended = weir("run")
    assert (ended.code, "WEIR_* variables" in ended.err) == (EXIT_USAGE, True)


def test_a_folder_that_is_named_as_configuration_is_said_to_be_one(weir: Weir) -> None:
    ended = weir("run", "--config", ".")
    assert (ended.code, "it is a folder" in ended.err) == (EXIT_USAGE, True)
    assert "--config weir.toml" in ended.err
