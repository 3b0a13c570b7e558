"""Child processes, which read what others wrote: what they are given, and what they import."""

from __future__ import annotations

import ast
import gzip
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyarrow import fs

import weir
from tests.remotes.test_documents import MOST, QUERY, TURTLE, served
from tests.support.counting_server import CountingServer, answer_of
from weir.compute.matching import MatchingProcess
from weir.rdf import files
from weir.rdf.limits import ParseLimits
from weir.rdf.parser_process import ParserProcess
from weir.rdf.records import ParseRequest
from weir.remotes.asking import Fetched
from weir.remotes.http.isolated import fetch_body
from weir.remotes.http.outcomes import Failure, Response
from weir.remotes.http.request import FetchLimits, FetchRequest
from weir.serve.pool import Asked, Pool
from weir.serve.store_worker import StoreWriter
from weir.settings import Serve
from weir.sparql.functions.regexes import compile_pattern

CANARY = "c4n4ry"
KEYS = ("AWS_SECRET_ACCESS_KEY", "WEIR_STORAGE_OPTIONS", "AIRFLOW_CONN_WD", "http_proxy")
VARIABLES = {
    "PYTHONPATH",
    "PYTHONMALLOC",
    "MALLOC_ARENA_MAX",
    "ARROW_DEFAULT_MEMORY_POOL",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "LC_ALL",
}
LINE = b"<a:s> <a:p> <a:o> .\n"


def _parse(folder: Path) -> None:
    file = folder / "one.nt"
    file.write_bytes(LINE)
    with ParserProcess(ParseLimits()) as parser:
        parsed = parser.parse(ParseRequest(str(file), "n-triples", "patch", "s"))
    assert parsed.changes.num_rows == 1


def _match(folder: Path) -> None:
    del folder
    matching = MatchingProcess(100 << 20)
    try:
        assert matching.search(compile_pattern("^(a|b)\\1$", ""), "aa")
    finally:
        matching.close()


def _fetch(folder: Path) -> None:
    del folder
    with CountingServer(lambda _: answer_of(b"x", "Content-Type: text/plain")) as server:
        request = FetchRequest(
            server.url,
            "text/plain",
            "a@a.example",
            FetchLimits(bytes=1 << 20, seconds=20.0),
            allow=("127.0.0.1/32",),
            ports=(server.port,),
        )
        assert isinstance(fetch_body(request)[0], Response)


def _search_document(folder: Path) -> None:
    del folder
    with served(TURTLE.encode()) as fetch:
        fetched = fetch(QUERY, MOST, 10)
    assert isinstance(fetched, Fetched)
    assert not isinstance(fetched.result, Failure), fetched.result


def _ask(folder: Path) -> None:
    (folder / "store").mkdir()
    writer = StoreWriter(folder / "store")
    writer.add(b"<a:s> <a:p> <a:o> .")
    writer.close()
    pool = Pool(Serve())
    try:
        asked = Asked("ASK { <a:s> <a:p> <a:o> }", (), (), "text/csv", None)
        assert pool.answer(folder / "store" / "graph", asked).content == b"true"
    finally:
        pool.close()


CHILDREN = [_parse, _match, _fetch, _search_document, _ask]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], dict[str, str]]]:
    """The commands and environments of the children that are started."""
    calls: list[tuple[list[str], dict[str, str]]] = []
    popen = subprocess.Popen

    def noting(command: list[str], *, env: dict[str, str], **options: Any) -> Any:
        calls.append((command, env))
        return popen(command, env=env, **options)

    monkeypatch.setattr(subprocess, "Popen", noting)
    return calls


@pytest.mark.parametrize("work", CHILDREN)
def test_a_child_has_no_variable_of_its_parent(
    work: Callable[[Path], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    started: list[tuple[list[str], dict[str, str]]],
) -> None:
    for name in KEYS:
        monkeypatch.setenv(name, CANARY)
    work(tmp_path)
    assert started
    for command, environment in started:
        assert CANARY not in str((command, environment))
        assert {*environment} == VARIABLES


@pytest.mark.parametrize("work", CHILDREN)
def test_a_child_imports_nothing_of_the_folder_in_which_it_starts(
    work: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("json", "signal", "pyoxigraph", "pyarrow", "weir"):
        Path(f"{name}.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'w')\n")
    work(tmp_path)
    assert not (tmp_path / "executed").exists()


def test_what_reads_data_of_others_is_started_by_the_sandbox_alone() -> None:
    root = Path(weir.__file__).parent
    starting = set()
    for file in root.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name("subprocess"))):
                    starting.add(str(file.relative_to(root)))
                case ast.Call(func=ast.Attribute(value=ast.Name("os"), attr="system" | "popen")):
                    starting.add(str(file.relative_to(root)))
    ours = {"airflow/announce_task.py", "airflow/refresh_task.py"}
    # A command of the configuration, which reads a message of the project.
    ours |= {"notify/delivery.py"}
    # git reads the repository of the project.
    of_the_machine = {"spark_setup/commands.py", "spark_setup/java.py", "review/revisions.py"}
    assert starting == {"sandbox/child.py"} | ours | of_the_machine


@pytest.mark.parametrize("name", ["one.nt", "one.nt.gz"])
def test_an_object_of_a_store_is_read_by_the_parent_which_has_the_keys(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).write_bytes(gzip.compress(LINE) if name.endswith(".gz") else LINE)
    store = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    resolve = files._resolve

    keys = {"aws_access_key_id": "key"}

    def resolved(location: str, options: Any = None) -> tuple[fs.FileSystem, str]:
        if location.startswith("s3://box/"):
            assert options == keys
            return store, location.removeprefix("s3://box/")
        return resolve(location, options)

    monkeypatch.setattr(files, "_resolve", resolved)
    request = ParseRequest(f"s3://box/{name}", "n-triples", "patch", "s")
    missing = ParseRequest("s3://box/none.nt", "n-triples", "patch", "s")
    with ParserProcess(ParseLimits(), keys) as parser:
        parsed, unreadable = parser.parse(request), parser.parse(missing)
    assert (parsed.request, parsed.usable, parsed.changes.num_rows) == (request, True, 1)
    assert unreadable.unreadable is not None
