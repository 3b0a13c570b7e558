"""Names that users give, in every place where one comes in."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import chain, cycle
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from tests.support.projects.command_line import Weir
from tests.support.projects.handmade import HandMadeLake, publish_by_hand
from tests.support.projects.project import Project
from weir.cli.app import _COMMANDS
from weir.definitions.catalog import Catalog
from weir.definitions.front_matter import read_head
from weir.definitions.kinds import KINDS, QUERY
from weir.definitions.names import Declaration
from weir.definitions.program_keys import ProgramFrontMatter
from weir.errors import EXIT_FAILED, EXIT_USAGE, ConfigurationError
from weir.ingest.sources.declared import load_sources
from weir.jobs import ingest_changes as ingest
from weir.jobs import refresh_remotes as refresh
from weir.lake.lake import Lake
from weir.lake.names import InvalidNameError
from weir.project import open_lake
from weir.remotes.declarations import load_remotes
from weir.remotes.names import declared_remotes

HOSTILE = (
    *("../quads", "../transactions", "exhibits/../../graphs", "../../outside", "..", ".", "/etc"),
    *("a/b", "a//b", "./q", "q/", "quads/../quads", "..\\quads", "~", "$HOME", "%2e%2e%2fquads"),
    *("q'; DROP TABLE runs; --", 'q"', "q`id`", "q;id", "q|id", "*", "q?", "q q"),
    *("q\nepoch 9", "q\0", "q\x1b[2J", "q\u202e", "\ud800"),
    *("Q", "é", "1q", "_claims", "q.", "q-r", "q" * 64, "q" * 300),
)
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("show", "NAME"),
    ("show", "--held", "NAME"),
    ("log", "NAME"),
    ("why", "NAME"),
    ("explain", "NAME"),
    ("explain", "--sql", "NAME"),
    ("drop", "NAME", "--yes"),
    ("drop", "--source", "NAME", "--yes"),
    ("rename", "NAME", "r"),
    ("rename", "q", "NAME"),
    ("rename", "--source", "NAME", "q"),
    ("rename", "--source", "q", "NAME"),
    ("run", "--retry", "NAME"),
    ("run", "--accept", "NAME"),
    ("ingest", "--accept", "NAME"),
    ("refresh", "NAME"),
    ("refresh", "q", "NAME"),
    ("export", "rdf", "NAME"),
    ("export", "patch", "NAME", "--to", "patches"),
    ("export", "ldes", "NAME", "--to", "stream"),
)
VIEWS = ("_current", "_changes", "_events", "_stream", "_x")
FREE_TEXTS = {
    ("diff", "base"),
    ("diff", "fail_on"),
    ("documents", "why"),
    ("notify", "test"),
    ("run", "every"),
    ("serve", "host"),
    ("serve", "token_variable"),
    ("show", "at"),
    ("sql", "statement"),
    ("watch", "every"),
    ("status", "fail_on"),
    ("try_", "file"),
    ("why", "at"),
}
"""Parameters that are texts and no names."""


@pytest.fixture
def project(written: HandMadeLake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HandMadeLake:
    """q with an answer; beside the lake there is another one, which `..` reaches."""
    lake = written.copy(tmp_path / "project")
    monkeypatch.chdir(lake.project.folder)
    return lake


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> HandMadeLake:
    """What `project` copies."""
    lake = HandMadeLake(Project(tmp_path_factory.mktemp("written")))
    lake.query("q", "SELECT ?s WHERE { ?s <http://a/p> ?o }")
    lake.ingest(1)
    publish_by_hand(lake, "q", ["s"], [(1, 1, "<http://a/1>")], watermark=1)
    lake.settings.sources.write_text("sources: []\n")
    return lake


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_refuses_what_cannot_be_a_name_and_touches_no_file(
    weir: Weir, project: HandMadeLake, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """All commands have one type of names, so that a fourth of the names is for each enough."""
    del project
    before = _files(tmp_path)
    codes = {}
    names = HOSTILE[COMMANDS.index(command) % 4 :: 4]
    for name in names:
        called = weir(*(name if part == "NAME" else part for part in command))
        codes[name] = (called.code, len(called.err.splitlines()) <= 2, "Traceback" in called.err)
    assert codes == dict.fromkeys(names, (EXIT_USAGE, True, False))
    assert _files(tmp_path) == before


def test_dropping_a_path_to_the_graph_keeps_the_graph(weir: Weir, project: HandMadeLake) -> None:
    called = weir("drop", "../quads", "--yes")
    assert (called.code, open_lake(project.settings).exists("quads")) == (EXIT_USAGE, True)
    assert "'../quads' cannot be a name" in called.err


def test_every_parameter_of_a_command_that_is_a_text_is_a_name_or_known_to_be_none() -> None:
    texts = set()
    for command in chain.from_iterable(_COMMANDS.values()):
        for parameter, hint in get_type_hints(command, include_extras=True).items():
            inner = {
                hint,
                *get_args(hint),
                *(inner_type for one in get_args(hint) for inner_type in get_args(one)),
            }
            if str in inner:
                texts.add((command.__name__, parameter))
    assert texts == FREE_TEXTS


def test_no_statement_of_sql_reads_a_table_by_a_path(weir: Weir, project: HandMadeLake) -> None:
    del project
    for name, view in zip(HOSTILE[:16], cycle(VIEWS), strict=False):
        assert weir("sql", f'SELECT * FROM "{name}{view}"').code != 0


@pytest.mark.parametrize(
    "call",
    [
        lambda name: ingest.main(["--accept", f"q,{name}"]),
        lambda name: refresh.main(["--remote", name]),
    ],
    ids=["ingest_changes --accept", "refresh_remotes --remote"],
)
def test_a_parameter_of_a_dag_is_a_name(
    project: HandMadeLake, tmp_path: Path, call: Callable[[str], int]
) -> None:
    del project
    before = _files(tmp_path)
    for name in HOSTILE:
        with pytest.raises(SystemExit) as ended:
            call(name)
        assert ended.value.code == EXIT_USAGE
    assert _files(tmp_path) == before


def _declared_source(folder: Path, name: str) -> object:
    sources = [{"name": name, "kind": "snapshots", "location": "data"}]
    return load_sources(_yaml(folder, {"sources": sources}))


def _declared_remote(folder: Path, name: str) -> object:
    remotes = [{"name": name, "iri": "http://a.example/", "contact": "a@a.example"}]
    return load_remotes(_yaml(folder, {"remotes": remotes}))


def _scheduled_remote(folder: Path, name: str) -> object:
    return declared_remotes(_yaml(folder, {"remotes": [{"name": name}]}))


def _read_stream(folder: Path, name: str) -> object:
    del folder
    return read_head(f"%+ stream: {json.dumps(name)}\n", "p.lars", ProgramFrontMatter, "%")


def _written_stream(folder: Path, name: str) -> object:
    del folder
    written = {"name": name, "p(X)": "?X a <http://a/P>"}
    text = f"%+ stream: s\n%+ write_stream: {json.dumps(written)}\n"
    return read_head(text, "p.lars", ProgramFrontMatter, "%")


def _query_file(folder: Path, name: str) -> object:
    declaration = Declaration(name, QUERY, folder / "q.rq")
    declaration.check_name()
    return declaration


def _yaml(folder: Path, content: Any) -> Path:
    file = folder / "declared.yml"
    file.write_text(json.dumps(content))
    return file


@pytest.mark.parametrize(
    "declare",
    [
        _declared_source,
        _declared_remote,
        _scheduled_remote,
        _read_stream,
        _written_stream,
        _query_file,
    ],
)
def test_a_file_declares_names_only(tmp_path: Path, declare: Callable[[Path, str], object]) -> None:
    declare(tmp_path, "q")
    for name in HOSTILE:
        with pytest.raises(ConfigurationError):
            declare(tmp_path, name)


@pytest.mark.usefixtures("initialised")
def test_a_query_whose_stream_is_a_path_stops_alone(weir: Weir) -> None:
    for number, name in enumerate(("../quads", "..", "a/b", "Q")):
        Path(f"queries/bad_{number}.rq").write_text(
            f"SELECT ?s FROM NAMED WINDOW <http://a/w> ON <urn:weir:stream:{name}>"
            " [RANGE PT1M STEP PT1M]"
            " WHERE { WINDOW <http://a/w> { ?s <http://a/p> ?o } }",
        )
    called = weir("run", "--output", "json")
    assert [row["query"] for row in called.json["queries"]] == ["exhibits"]
    assert called.code == EXIT_FAILED


@pytest.mark.parametrize("name", [*HOSTILE, "answers/../quads", "answers/q/r", "/quads", ""])
def test_the_lake_has_no_table_whose_name_is_a_path(tmp_path: Path, name: str) -> None:
    lake = Lake(str(tmp_path))
    assert not lake.exists(f"answers/{name}")
    with pytest.raises(InvalidNameError):
        lake.location(f"answers/{name}")


def test_every_suffix_is_checked_alike() -> None:
    for kind in KINDS:
        with pytest.raises(ConfigurationError, match=f"cannot be the name of a {kind.name}"):
            Declaration("A B", kind, Path(f"A B{kind.suffix}")).check_name()


def test_a_hostile_name_that_is_declared_is_broken_alone(project: HandMadeLake) -> None:
    text = "SELECT ?s WHERE { ?s <http://a/p> ?o }"
    for name in ("Q", "q q", "1q", "q\nepoch 9", "..q"):
        (project.settings.queries / f"{name}.rq").write_text(text)
    catalog = Catalog.of(project.settings)
    assert [member.name for member in catalog.members] == ["q"]
