"""What is installed is what the lock files say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from setup import jars
from setup.environment import locked
from setup.jars import Jar, locked_jars
from setup.steps import ROOT, SetupError

LOCKS = ("requirements/weir.txt", "requirements/demo.txt", jars.LOCK)
LOCK = """\
tool==1.0 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
    # via -r requirements/weir.in
tool-box==2.0 \\
    --hash=sha256:cc
"""


def test_a_package_is_taken_from_the_lock_with_all_its_hashes() -> None:
    assert locked("tool", LOCK) == LOCK.partition("    # via")[0]


def test_a_package_that_is_not_locked_is_an_error() -> None:
    with pytest.raises(SetupError, match="box is not in"):
        locked("box", LOCK)


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_file_names_no_place_to_load_from(lock: str) -> None:
    assert not re.search(r"://|index-url|find-links", (ROOT / lock).read_text())


@pytest.mark.parametrize("lock", LOCKS[:2])
def test_every_locked_package_has_a_hash(lock: str) -> None:
    pinned = re.findall(r"^(\S+)==(.*\n(?:[ ].*\n)*)", (ROOT / lock).read_text(), re.MULTILINE)
    assert pinned
    assert [name for name, rest in pinned if "--hash=sha256:" not in rest] == []


def test_the_seven_jars_are_of_the_locked_delta() -> None:
    jars_of_lock = locked_jars((ROOT / jars.LOCK).read_text())
    assert len(jars_of_lock) == 7
    assert {jar.version for jar in jars_of_lock if jar.group == "io.delta"} == {
        jars.DELTA.rpartition(":")[2]
    }


def test_a_jar_with_one_other_byte_is_not_the_jar(tmp_path: Path) -> None:
    content = b"jar"
    file = tmp_path / "some.jar"
    file.write_bytes(content)
    locked_jar = Jar(jars.sha256_of(file), len(content), "group", "some", "1")
    file.write_bytes(b"jaR")
    assert not locked_jar.is_at(file)


def test_a_jar_is_written_to_the_lock_as_it_is_read() -> None:
    jar = Jar("0" * 64, 12, "io.delta", "delta-spark_4.2_2.13", "4.4.0")
    assert locked_jars(f"# comment\n{jar}\n") == (jar,)
