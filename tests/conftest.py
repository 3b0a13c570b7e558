"""Fixtures of all tests."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from bench.object_store import Store, running_store
from demo.fuseki import Fuseki, running_fuseki
from tests.support import databases, parsers
from tests.support.built import AsBuilt, B, Build
from tests.support.checks import quick_checks
from tests.support.projects.command_line import Weir
from tests.support.projects.handmade import HandMadeLake
from tests.support.projects.project import PATCHES, Project
from weir.text import secret_values

# A busy machine is no failure: no test of random cases has a deadline.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest_plugins = ("tests.support.lanes", "tests.support.durations")

PROJECT = Path(__file__).parent.parent


@pytest.fixture
def weir(capsys: pytest.CaptureFixture[str]) -> Weir:
    """`weir` in the current folder."""
    return Weir(capsys)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of data and papers beside the checkout; in CI its absence is a failure."""
    folder = Path(os.environ.get("WEIR_SHARED", PROJECT.parent / "shared"))
    if folder.is_dir():
        return folder
    if os.environ.get("CI") == "true":
        pytest.fail(
            f"{folder} does not exist, and CI requires it (WEIR_SHARED can name another folder)"
        )
    pytest.skip(f"{folder} does not exist (WEIR_SHARED can name another folder)")


@pytest.fixture(scope="module")
def _built() -> dict[Build[Any], Any]:
    """What was built in a module; not to be changed."""
    return {}


@pytest.fixture
def as_built(
    _built: dict[Build[Any], Any], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsBuilt:
    """A copy of what a function builds, which is called once in a module."""

    def copied(build: Build[B]) -> B:
        if build not in _built:
            _built[build] = build(tmp_path_factory.mktemp("built") / "project")
        copy: B = _built[build].copy(tmp_path / "project")
        return copy

    return copied


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with one source, of change sets."""
    return Project(tmp_path / "project").declare(PATCHES)


@pytest.fixture
def lake(tmp_path: Path) -> HandMadeLake:
    """An empty lake of a project without queries and sources."""
    return HandMadeLake(Project(tmp_path))


@pytest.fixture(scope="module", autouse=True)
def _what_a_module_leaves_open_fails_it() -> Iterator[None]:
    """Sockets, files and processes in cycles are closed by the collector of garbage, with an error.

    It would otherwise run in a later test, of any module. What is left (imported libraries,
    fixtures of the run) it does not look at again.
    """
    yield
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def _secrets_end_with_their_module() -> Iterator[None]:
    """A word that is a secret in one module would be hidden in the output of a later one."""
    before = set(secret_values._known)
    yield
    secret_values._known.intersection_update(before)


@pytest.fixture(scope="session", autouse=True)
def _parsers_are_reused() -> Iterator[None]:
    """Ingest parses in a child process; the tests of a process share it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("weir.rdf.parser_process.ParserProcess", parsers.ReusedParser)
        yield
    parsers.close_idle()


@pytest.fixture(scope="session", autouse=True)
def _databases_are_reused() -> Iterator[None]:
    """Projects compute in DuckDB; the tests of a process share it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("weir.compute.database.Database", databases.ReusedDatabase)
        yield
    databases.close_idle()


@pytest.fixture(scope="session", autouse=True)
def _checks_are_quick() -> Iterator[None]:
    """Rows are checked without Great Expectations, but in folders whose claims are about checks."""
    with quick_checks():
        yield


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The one Spark session of the test suite."""
    from weir.lake.delta.session import start

    # Most of the time of a test is that of the compiler of often repeated code, which pays later.
    quick = {"spark.driver.defaultJavaOptions": "-XX:TieredStopAtLevel=1"}
    session = start("weir-tests", master="local[2]", driver_memory="2g", conf=quick)
    yield session
    session.stop()


@pytest.fixture
def quick_spark(spark: SparkSession) -> Iterator[SparkSession]:
    """The session without what takes longer than computing a few rows.

    Plans are neither compiled nor planned again between stages, and have one task per stage.
    """
    settings = {
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.leafNodeDefaultParallelism": "1",
    }
    before = {key: spark.conf.get(key, None) for key in settings}
    for key, value in settings.items():
        spark.conf.set(key, value)
    yield spark
    for key, was in before.items():
        if was is None:
            spark.conf.unset(key)
        else:
            spark.conf.set(key, was)


@pytest.fixture
def own_jvm() -> None:
    """Of tests that start Spark in a process of its own."""


@pytest.fixture
def slow() -> None:
    """Of tests that take many seconds: `make test` leaves them to `make test-all`."""


@pytest.fixture
def sampled() -> None:
    """Of tests with many dear cases of one claim, such as a run that dies at each checkpoint."""


@pytest.fixture(scope="session")
def running_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuseki]:
    """The one Fuseki of the test suite."""
    with running_fuseki(tmp_path_factory.mktemp("fuseki")) as running:
        yield running


@pytest.fixture(scope="session")
def object_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The one object store of the test suite."""
    with running_store(tmp_path_factory.mktemp("store")) as store:
        yield store


@pytest.fixture
def fuseki(running_endpoint: Fuseki) -> Fuseki:
    """A real SPARQL endpoint with an empty dataset; its count of queries goes on."""
    running_endpoint.update("DROP ALL")
    return running_endpoint
