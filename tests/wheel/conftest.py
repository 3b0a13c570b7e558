"""The wheel is built once, and installed once without extras."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.wheel.environments import built_wheel, new_environment


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the wheel and what it requires alone."""
    return new_environment(tmp_path_factory.mktemp("plain") / "environment", wheel)


@pytest.fixture(scope="session")
def traps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Modules that end what imports them, under names that Weir and its packages import."""
    folder = tmp_path_factory.mktemp("traps")
    for package in ("jobs", "lake", "weir"):
        (folder / package).mkdir()
    for module in ("json.py", "jobs/__init__.py", "lake/__init__.py", "weir/__init__.py"):
        (folder / module).write_text(f"raise SystemExit('{module} of the folder was imported')\n")
    return folder
