"""The commands of docs/production.md about object stores; test_cluster.py runs those of Spark."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from bench.object_store import Store
from setup.steps import ROOT
from tests.support.readme import commands_of
from weir.lake.lake import Lake

PAGE = "docs/production.md"
EXPORTS = re.compile(r"^export (.*)$", re.MULTILINE)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The sample project."""
    folder = tmp_path / "project"
    run(tmp_path, "weir init project")
    return folder


def run(folder: Path, script: str, **variables: str) -> str:
    """What a script prints; `weir` is on its path, and a program in the place of `aws`."""
    programs = folder.parent / "programs"
    if not programs.exists():
        programs.mkdir()
        aws = programs / "aws"
        aws.write_text(f'#!/bin/sh\nexec {sys.executable} {ROOT / "tests/docs/aws.py"} "$@"\n')
        aws.chmod(0o755)
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("AWS")}
    done = subprocess.run(
        ["bash", "-eu", "-c", script],
        cwd=folder,
        env={**inherited, "PATH": path, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def by_the_document(folder: Path, section: str, address: str, store: Store) -> None:
    """Run the commands of a section, with the address and the credentials of the tests' store."""
    script = commands_of(PAGE, section, {"s3://bucket/lake": address})
    exported = {name for line in EXPORTS.findall(script) for name in re.findall(r"(\w+)=", line)}
    assert exported <= {*store.options}
    run(folder, EXPORTS.sub("", script), **store.options)


def log_of(lake: Lake) -> Counter[tuple[object, ...]]:
    """The rows of the answer, as often as it has them."""
    rows = lake.rows("answers/exhibits", ["epoch", "weight", "title", "room"])
    return Counter(tuple(row.values()) for row in rows.to_pylist())


def test_a_new_project_has_its_lake_in_a_store(project: Path, object_store: Store) -> None:
    address = object_store.empty()
    by_the_document(project, "1. A lake in an object store", address, object_store)
    assert log_of(Lake(address, object_store.options))
    assert not (project / "lake").exists()


def test_a_copy_of_a_lake_in_a_folder_is_a_lake_in_a_store_that_goes_on(
    project: Path, object_store: Store
) -> None:
    run(project, "weir run")
    stayed = project.with_name("stayed")
    shutil.copytree(project, stayed)
    first = project / "data/versions/001.ttl"
    for folder in (project, stayed):
        second = folder / "data/versions/002.ttl"
        second.write_text(first.read_text().replace('"1"', '"2"'))
    address = object_store.empty()
    by_the_document(project, "2. An existing lake", address, object_store)
    run(stayed, "weir run")
    logs = log_of(Lake(address, object_store.options)), log_of(Lake(str(stayed / "lake")))
    assert logs[0] == logs[1]
    assert {change[0] for change in logs[0]} == {1, 2}
