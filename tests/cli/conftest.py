"""A project folder with a lake written by hand, and calls of the command line in it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.projects.command_line import Weir
from tests.support.projects.handmade import HandMadeLake
from weir.cli import main
from weir.compute import session
from weir.settings import Settings


@pytest.fixture
def lake(lake: HandMadeLake, monkeypatch: pytest.MonkeyPatch) -> HandMadeLake:
    """An empty lake; its project is the current folder."""
    monkeypatch.chdir(lake.project.folder)
    return lake


@pytest.fixture
def without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Starting Spark fails."""

    def fail(settings: Settings, name: str) -> None:
        del settings, name
        raise AssertionError("Spark was started")

    monkeypatch.setattr(session, "_start", fail)


@pytest.fixture
def museum(weir: Weir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder is a project that `weir init` wrote."""
    monkeypatch.chdir(tmp_path)
    weir("init")


@pytest.fixture
def initialised(museum: None, without_spark: None) -> None:
    """The current folder is a project that `weir init` wrote, where starting Spark fails."""
    del museum, without_spark


@pytest.fixture(scope="session")
def museum_that_ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a project that `weir init` wrote, after one run; to be copied."""
    folder = tmp_path_factory.mktemp("museum")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        assert main(["init"]) == 0
        assert main(["run"]) == 0
    return folder


@pytest.fixture
def has_run(
    museum_that_ran: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without_spark: None
) -> None:
    """The current folder is a copy of such a project, where starting Spark fails."""
    del without_spark
    shutil.copytree(museum_that_ran, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
