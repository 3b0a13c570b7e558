"""The wheel holds the library alone, and works in an environment that has nothing else."""

from __future__ import annotations

import re
import sys
import zipfile
from pathlib import Path

import pytest

from setup.steps import ROOT
from tests.support.readme import check_example
from tests.wheel.environments import clean_variables, run
from weir.errors import EXIT_NOTHING_TO_DO


@pytest.fixture(scope="session")
def names(wheel: Path) -> frozenset[str]:
    """The files of the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return frozenset(archive.namelist())


def test_nothing_but_weir_is_put_into_site_packages(names: frozenset[str]) -> None:
    assert {re.sub(r"^weir-[\d.]+\.", "", name).partition("/")[0] for name in names} == {
        *("weir", "dist-info")
    }


def test_every_module_of_the_checkout_is_in_the_wheel(names: frozenset[str]) -> None:
    folders = {"weir": "weir", "lake": "weir/lake", "expectations": "weir/expectations"}
    modules = {
        f"{inside}/{file.relative_to(ROOT / folder)}"
        for folder, inside in {**folders, "jobs": "weir/jobs"}.items()
        for file in (ROOT / folder).rglob("*.py")
    }
    assert modules == {name for name in names if name.endswith(".py")}


def test_the_files_that_are_read_at_run_time_are_in_the_wheel(names: frozenset[str]) -> None:
    assert names >= {
        "weir/py.typed",
        "weir/lars/grammar.lark",
        "weir/lars/sets/owl-rl.lars",
        "weir/lake/delta/log4j2.properties",
    }


def test_the_example_of_the_readme_works_among_modules_of_the_same_names(
    programs: Path, traps: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    copy, variables = f"cp -r {traps}/. .", clean_variables(programs, tmp_path)
    run(["sh", "-c", copy], folder)
    check_example(folder, variables, before_second=copy)
    # A program of the wheel finds nothing to do after it.
    program = (programs / "python", "-P", "-m", "weir.jobs.pending_work")
    run(
        [*program, "--config", "weir.toml"],
        folder / "museum",
        variables,
        expected=EXIT_NOTHING_TO_DO,
    )


def test_without_the_extra_there_is_no_spark_and_no_airflow(programs: Path) -> None:
    for package in ("pyspark", "airflow"):
        run([programs / "python", "-c", f"import {package}"], programs, expected=1)


def test_importing_weir_imports_neither_airflow_nor_spark() -> None:
    """Here both are installed."""
    program = "import sys, weir, weir.cli.app; print({'airflow', 'pyspark'} & sys.modules.keys())"
    assert run([sys.executable, "-P", "-c", program], ROOT) == "set()\n"
