"""The checks of `weir doctor`: this machine, the project and the lake."""

from __future__ import annotations

import os
import shutil
import sys
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryFile
from urllib.parse import urlparse

from weir.cli.options import Options
from weir.errors import WeirError
from weir.lake.counted import counted
from weir.lake.tables import (
    ANSWERS,
    CURRENT,
    DERIVED,
    EMBEDDINGS,
    LEDGER_SUMMARY,
    OUTPUT_STREAMS,
    TRIPLES,
    split_name,
)
from weir.project import open_lake
from weir.settings import Settings
from weir.spark_setup.installation import jars_of_spark, java_home, spark_home
from weir.spark_setup.java import SUPPORTED, major_version

PYTHON = ((3, 11), (3, 13))
"""The first and the last version that Weir runs on."""
PACKAGES = (
    "great-expectations",
    "rdflib",
    "pyoxigraph",
    "deltalake",
    "duckdb",
)
SPARK_PACKAGES = ("pyspark", "delta-spark")
_INSTALL = "Install Weir again: `pip install weir`; in a checkout, `make setup`."
_INSTALL_SPARK = "`pip install 'weir[spark]'`; in a checkout, `make setup`."
_SET_UP = "Run `weir setup-spark`; in a checkout, `make setup`."
_ASK_AGAIN = (
    "Correct `url`, `ports`, `allow` or `connection` of its declaration if the reason names them;"
    ' else see that it answers. `weir sql "SELECT * FROM requests WHERE reason IS NOT NULL"` has'
    " every failure."
)
_ENOUGH_BYTES = 100 * 2**20
"""Free bytes below which a run is likely to fail."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check; `fix`: what to do if it is not `ok`."""

    check: str
    ok: bool
    observed: str
    fix: str = ""


def examine(options: Options) -> list[Finding]:
    """Run all checks; those of the project are left out if its configuration cannot be read."""
    findings = [_python(), *_packages(PACKAGES, _INSTALL), *_spark()]
    try:
        settings = options.settings()
    except WeirError as error:
        return [
            *findings,
            Finding("configuration", False, f"{error.where}: {error.what}", error.hint),
        ]
    findings.append(Finding("configuration", True, str(settings.project)))
    return [
        *findings,
        *_queries(settings),
        *_sources(settings),
        *_remotes(settings),
        *_lake(settings),
    ]


def _python() -> Finding:
    version_ = ".".join(map(str, sys.version_info[:3]))
    first, last = (".".join(map(str, release)) for release in PYTHON)
    fix = f"Weir runs on Python {first} to {last}."
    return Finding("Python", PYTHON[0] <= sys.version_info[:2] <= PYTHON[1], version_, fix)


def _packages(names: Sequence[str], fix: str) -> Iterator[Finding]:
    for name in names:
        try:
            yield Finding(name, True, version(name))
        except PackageNotFoundError:
            yield Finding(name, False, "not installed", fix)


def _spark() -> Iterator[Finding]:
    """What Spark needs; without it, DuckDB computes what is within the limits of the driver."""
    if spark_home() is None:
        unused = "not installed, and not needed unless a relation is above the limits of the driver"
        yield Finding("Spark", True, unused)
        return
    yield from _packages(SPARK_PACKAGES, _INSTALL_SPARK)
    yield from _client()
    yield _java()
    yield from _jars()


def _client() -> Iterator[Finding]:
    try:
        client, server = version("pyspark-client"), version("pyspark")
    except PackageNotFoundError:
        return
    yield Finding(
        "pyspark-client",
        client == server,
        client,
        f"It contains the same files as pyspark and must have the same version, {server}.",
    )


def _java() -> Finding:
    home = java_home()
    program = str(home / "bin" / "java") if home else shutil.which("java")
    fix = f"Spark needs Java 17 or 21. {_SET_UP}"
    if program is None or not Path(program).is_file():
        return Finding("Java", False, f"none at {program}" if program else "none", fix)
    release = major_version(Path(program))
    if release is None:
        return Finding("Java", False, f"{program} does not report its version", fix)
    return Finding("Java", release in SUPPORTED, f"{release} ({program})", fix)


def _jars(scheme: str = "") -> Iterator[Finding]:
    """The jars that Spark needs for all lakes; or what those with this scheme need beside them."""
    for jars in jars_of_spark():
        if scheme in (jars.artifact.schemes or ("",)):
            wrong = jars.what_is_wrong
            yield Finding(jars.artifact.title, not wrong, wrong or "all are there", _SET_UP)


def _queries(settings: Settings) -> Iterator[Finding]:
    from weir.definitions.catalog import Catalog
    from weir.ingest.undeclared import unusable

    try:
        catalog = Catalog.of(settings)
    except WeirError as error:
        yield Finding("queries", False, error.what, error.hint)
        return
    number = len(catalog.members)
    yield Finding(
        "queries",
        number > 0,
        f"{number} in {settings.queries}",
        "Write a query: <name>.rq.",
    )
    for wrong in unusable(catalog, settings).values():
        yield Finding("query", False, f"{wrong.where}: {wrong.what}", wrong.hint)


def _traversals(settings: Settings) -> tuple[str, ...]:
    """The declared traversals; none if their file is wrong, which another finding says."""
    from weir.traversals.names import traversal_names

    try:
        return traversal_names(settings.traversals)
    except WeirError:
        return ()


def _sources(settings: Settings) -> Iterator[Finding]:
    from weir.ingest.sources.declared import load_sources, missing_places

    try:
        sources = load_sources(settings.sources)
    except (WeirError, OSError) as error:
        yield Finding("sources", False, str(error), "Correct it; `weir init` writes an example.")
        return
    names = ", ".join(source.name for source in sources)
    # A graph may be of the documents of traversals alone.
    is_any = bool(sources) or bool(_traversals(settings))
    yield Finding("sources", is_any, names or "none", f"Declare one in {settings.sources}.")
    for source, place in missing_places(sources):
        yield Finding(
            f"source {source.name}",
            False,
            f"{place} does not exist",
            f"Create it, or correct `location` in {settings.sources}.",
        )
    yield from _undeclared(settings)


def _undeclared(settings: Settings) -> Iterator[Finding]:
    """Findings about sources that are no longer declared but have quads in the graph."""
    from weir.expected_errors import as_user_error
    from weir.ingest.endings import stays, undeclared_sources, what_to_do
    from weir.ingest.pending import source_positions
    from weir.ingest.sources.all_sources import all_sources

    try:
        declared = [source.name for source in all_sources(settings)]
        lake = open_lake(settings)
        known = undeclared_sources(lake, source_positions(lake), declared)
    except Exception as error:
        # Other checks report what is wrong with declarations and tables.
        if as_user_error(error) is None:
            raise
        return
    for name, quads in known.items():
        yield Finding(f"source {name}", False, stays(quads), what_to_do(name))


def _remotes(settings: Settings) -> Iterator[Finding]:
    from weir.ingest.sources.all_sources import check_names
    from weir.refresh.current import declared
    from weir.remotes.connections import credentials_of

    try:
        check_names(settings)
        remotes = declared(settings)
    except (WeirError, OSError) as error:
        yield Finding("remotes", False, str(error), "Correct it.")
        return
    if remotes:
        yield Finding("remotes", True, ", ".join(remote.name for remote in remotes))
    yield from _evaluations(settings)
    for remote in remotes:
        if remote.connection is None:
            continue
        check = f"connection {remote.connection}"
        try:
            credentials_of(remote.connection, os.environ)
            yield Finding(check, True, "in the environment")
        except WeirError as error:
            yield Finding(check, False, f"{error.where}: {error.what}", error.hint)


def _evaluations(settings: Settings) -> Iterator[Finding]:
    """Findings about the last evaluation of each remote and traversal, or why there was none."""
    from weir.expected_errors import as_user_error
    from weir.refresh.current import current_states

    try:
        states = current_states(settings, datetime.now(UTC))
    except Exception as error:
        if as_user_error(error) is None:
            raise
        # The checks of the lake say which table cannot be read.
        return
    for state in states:
        if state.evaluation is None and state.state != "error":
            continue
        is_wrong = state.state in ("backing_off", "error") or state.was_asked_in_vain
        what = f"{state.state}: {state.reason}" if state.reason else state.state
        yield Finding(f"remote {state.remote.name}", not is_wrong, what, _ASK_AGAIN)


def _lake(settings: Settings) -> Iterator[Finding]:
    from weir.lake.lake import local_folder

    folder = local_folder(settings.lake)
    if folder is None:
        if spark_home() is not None:
            yield from _jars(urlparse(settings.lake).scheme)
        yield from _object_store(settings)
        yield from _tables(settings)
        yield _newest_epoch(settings)
        return
    yield _can_be_written(folder)
    if not folder.is_dir():
        return
    free = shutil.disk_usage(folder).free
    yield Finding(
        "space for the lake",
        free >= _ENOUGH_BYTES,
        f"{free / 2**20:,.0f} MiB free",
        "Free some space: a full disk stops every run.",
    )
    yield from _tables(settings)
    yield _newest_epoch(settings)


def _object_store(settings: Settings) -> Iterator[Finding]:
    """Whether objects can be written, read and deleted, and a second commit is refused."""
    from weir.lake.damage.storage_errors import StorageError
    from weir.lake.storage.objects import ObjectStore

    check, path = "object store of the lake", f"_doctor/{uuid.uuid4().hex}"
    try:
        store = ObjectStore(settings.lake, settings.storage_options)
        store.create(path, b"first")
        is_replaced = store.create(path, b"second") is not None
        is_read = store.read(path) == b"first"
        store.delete([path])
    except StorageError as error:
        yield Finding(check, False, f"{error.where}: {error.what}", error.hint)
        return
    if is_replaced or not is_read:
        what = "it does not refuse to create an object that exists (If-None-Match)"
        fix = "Commits of two processes could overwrite each other: use another store."
        yield Finding(check, False, what, fix)
        return
    yield Finding(check, True, "objects are written, read and deleted; a second commit is refused")


def _can_be_written(lake: Path) -> Finding:
    """Whether a file can be written in the folder of the lake, or where it will be created."""
    check = "lake can be written"
    place = next(path for path in (lake, *lake.absolute().parents) if path.exists())
    if not place.is_dir():
        fix = "Remove the file, or correct `lake` in the configuration."
        return Finding(check, False, f"{place} is a file, not a folder", fix)
    try:
        with TemporaryFile(dir=place) as file:
            file.write(b"x")
            file.flush()
    except OSError as error:
        fix = f"Make it possible to write into {place}."
        return Finding(check, False, f"{place}: {error.strerror}", fix)
    return Finding(check, True, str(lake))


def _tables(settings: Settings) -> Iterator[Finding]:
    """Whether the commits of the tables can be read, and their data files exist."""
    from weir.expected_errors import as_user_error
    from weir.lake.damage.integrity import Damage, damaged_commits
    from weir.lake.damage.storage_errors import with_addresses

    lake = open_lake(settings)
    names = lake.tables()
    all_present = True
    for name in names:
        lake.storage.follow(name)
        damages = [*damaged_commits(lake.folder(name))]
        has_log = not damages
        if has_log:
            try:
                damages = [*lake.missing_files(name)]
            except Exception as error:
                expected = as_user_error(error)
                if expected is None:
                    raise
                damages, has_log = [Damage(Path(expected.where), expected.what)], False
        for damage in damages:
            all_present = False
            what = with_addresses(f"{damage.file}: {damage.what}")
            yield Finding(f"table {name}", False, what, _restore(name, has_log=has_log))
    if all_present:
        tables = counted(len(names), "table")
        yield Finding(
            "files of tables", True, f"those of {tables} are there; `weir audit` reads them"
        )


def _restore(table: str, *, has_log: bool) -> str:
    """What to do about a damaged table; `has_log`: only data files are missing."""
    kind, query = split_name(table)
    if kind == EMBEDDINGS.folder or (has_log and kind in (TRIPLES.name, ANSWERS.folder)):
        return "`weir repair` rebuilds the table from others; or restore the file from a backup."
    if kind in (ANSWERS.folder, OUTPUT_STREAMS.folder):
        return (
            f"Restore the file from a backup; or `weir drop {query}`, and its published history"
            " starts again."
        )
    if table == LEDGER_SUMMARY.name or kind in (CURRENT.folder, DERIVED.folder):
        return "Delete the folder of the table; the next run writes it again."
    return "Restore the file from a backup."


def _newest_epoch(settings: Settings) -> Finding:
    from weir.expected_errors import as_user_error
    from weir.progress.watermarks import head

    try:
        newest = head(open_lake(settings))
    except Exception as error:
        expected = as_user_error(error)
        if expected is None:
            raise
        what = f"{expected.where}: {expected.what}"
        return Finding("lake can be read", False, what, expected.hint)
    return Finding("lake can be read", True, counted(newest, "epoch"))
