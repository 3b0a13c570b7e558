"""Compiled queries between runs: an entry is found complete and up to date, or not at all."""

from __future__ import annotations

import multiprocessing
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.catalogs import catalog_of
from weir.definitions import catalog, compilation_cache
from weir.definitions.compilation_cache import CompilationCache
from weir.definitions.definition import Definition
from weir.definitions.query import QueryBody
from weir.plan.plan import Plan

CODE = Path(__file__).parents[2]
_QUERY = "SELECT ?s ?o { ?s <u:p> ?o }"
_SOURCE, _TEXT = _QUERY.encode(), '{"é": 1}\n'


@pytest.fixture
def cache(tmp_path: Path) -> CompilationCache:
    """A folder with the entry `q` of `_SOURCE`."""
    cache = CompilationCache(tmp_path / "cache")
    cache.store("q", _SOURCE, _TEXT)
    return cache


def _entry(cache: CompilationCache) -> Path:
    return cache.folder / "q.compiled"


def test_an_entry_is_found_by_name_and_source(cache: CompilationCache) -> None:
    assert cache.find("q", _SOURCE) == _TEXT
    assert cache.find("q", _SOURCE + b" ") is None
    assert cache.find("r", _SOURCE) is None


def test_a_folder_that_is_missing_holds_nothing(tmp_path: Path) -> None:
    assert CompilationCache(tmp_path / "nowhere").find("q", _SOURCE) is None
    assert not (tmp_path / "nowhere").exists()


def test_version_control_ignores_the_folder(cache: CompilationCache) -> None:
    assert "*" in (cache.folder / ".gitignore").read_text().splitlines()


def test_the_entry_of_an_edited_source_replaces_the_old_one(cache: CompilationCache) -> None:
    cache.store("q", b"edited", "new")
    assert cache.find("q", b"edited") == "new"
    assert cache.find("q", _SOURCE) is None
    assert sorted(file.name for file in cache.folder.iterdir()) == [".gitignore", "q.compiled"]


def test_an_entry_with_any_byte_changed_or_cut_is_not_found(cache: CompilationCache) -> None:
    whole = _entry(cache).read_bytes()
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 1
        for content in (bytes(damaged), whole[:position]):
            _entry(cache).write_bytes(content)
            assert cache.find("q", _SOURCE) is None


def test_an_entry_that_is_a_folder_is_not_found_and_not_replaced(tmp_path: Path) -> None:
    cache = CompilationCache(tmp_path)
    _entry(cache).mkdir()
    cache.store("q", _SOURCE, _TEXT)
    assert cache.find("q", _SOURCE) is None


def test_an_entry_of_other_code_is_not_found(
    cache: CompilationCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compilation_cache, "compiler", lambda: "another version")
    assert cache.find("q", _SOURCE) is None


def test_without_files_of_the_code_nothing_is_stored_or_found(
    cache: CompilationCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compilation_cache, "compiler", lambda: None)
    cache.store("r", _SOURCE, _TEXT)
    assert cache.find("q", _SOURCE) is None
    assert not (cache.folder / "r.compiled").exists()


def test_a_change_of_the_compilers_code_is_another_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in ("definitions", "plan"):
        (tmp_path / part).mkdir()
        (tmp_path / part / "__init__.py").write_text("")
    monkeypatch.setattr("weir.__file__", str(tmp_path / "__init__.py"))
    compilation_cache.compiler.cache_clear()
    compilers = set()
    for text in ("", "PLAN_FORMAT = 1", "PLAN_FORMAT = 2"):
        (tmp_path / "plan" / "__init__.py").write_text(text)
        compilers.add(compilation_cache.compiler())
        compilation_cache.compiler.cache_clear()
    assert len(compilers) == 3


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A folder without write access; for root, who can always write, a file in its place."""
    folder = tmp_path / "read-only"
    folder.mkdir()
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    yield folder
    folder.chmod(stat.S_IRWXU)


def test_a_folder_that_cannot_be_written_is_no_error(read_only: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for folder in (read_only / "cache", file, file / "cache"):
        cache = CompilationCache(folder)
        cache.store("q", _SOURCE, _TEXT)
        assert cache.find("q", _SOURCE) in (None, _TEXT)


def _store_and_find(folder: str, number: int) -> None:
    cache = CompilationCache(Path(folder))
    for turn in range(200):
        # Long enough to be written in several pieces.
        cache.store("q", _SOURCE, f"{number} {turn} " * 20_000)
        entry = cache.find("q", _SOURCE)
        assert entry is not None
        assert len({*entry.split()}) <= 300


def test_two_processes_at_once_find_whole_entries(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [
        context.Process(target=_store_and_find, args=(str(tmp_path), number)) for number in (0, 1)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["q.compiled"]


def plan_of(query: Definition) -> Plan:
    """The plan of a query."""
    assert isinstance(query.body, QueryBody)
    return query.body.plan


def test_a_query_is_the_same_with_and_without_the_folder(tmp_path: Path) -> None:
    (tmp_path / "q.rq").write_text(f"#+ description: pairs\n#+ tags: [a]\n{_QUERY}")
    cache = tmp_path / "cache"
    compiled = catalog_of(tmp_path).member("q")
    for _ in ("stored", "found"):
        catalog._compiled.cache_clear()
        again = catalog_of(tmp_path, cache).member("q")
        assert again == compiled
        assert plan_of(again) == plan_of(compiled)


@pytest.mark.parametrize("text", ["", "{}", '{"plan": 1}', '["x"]'])
def test_an_entry_that_is_no_compiled_query_is_compiled_again(tmp_path: Path, text: str) -> None:
    (tmp_path / "q.rq").write_bytes(_SOURCE)
    cache = CompilationCache(tmp_path / "cache")
    cache.store("q", _SOURCE, text)
    catalog._compiled.cache_clear()
    again = catalog_of(tmp_path, cache.folder).member("q")
    assert again == catalog_of(tmp_path).member("q")


def test_an_entry_whose_plan_is_no_plan_is_compiled_again(tmp_path: Path) -> None:
    (tmp_path / "q.rq").write_bytes(_SOURCE)
    query = catalog_of(tmp_path).member("q")
    assert isinstance(query.body, QueryBody)
    wrong = query.body.compiled.model_copy(update={"plan": "[]"})
    cache = CompilationCache(tmp_path / "cache")
    cache.store("q", _SOURCE, wrong.model_dump_json())
    catalog._compiled.cache_clear()
    assert plan_of(catalog_of(tmp_path, cache.folder).member("q")) == plan_of(query)


def test_a_process_that_finds_everything_compiled_does_not_import_the_parser(
    tmp_path: Path,
) -> None:
    (tmp_path / "q.rq").write_bytes(_SOURCE)
    program = (
        "import sys; from pathlib import Path; from tests.support.catalogs import catalog_of; "
        f"catalog = catalog_of(Path({str(tmp_path)!r}), Path({str(tmp_path / 'cache')!r})); "
        "print(catalog.member('q').body.plan.width, 'rdflib' in sys.modules)"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", program], cwd=CODE, capture_output=True, check=True, text=True
        ).stdout
        for _ in range(2)
    ]
    assert runs == ["2 True\n", "2 False\n"]
