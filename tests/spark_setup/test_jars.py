"""Exactly the locked jars are installed."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

from setup.jars import DELTA
from weir.spark_setup.commands import SetupError
from weir.spark_setup.maven import Artifact, Jar, SparkSubmit, locked_jars, sha256_of


def test_the_seven_jars_belong_to_the_locked_version_of_delta() -> None:
    jars = DELTA.jars()
    assert len(jars) == 7
    assert {jar.version for jar in jars if jar.group == "io.delta"} == {
        DELTA.coordinates.rpartition(":")[2]
    }
    assert version("delta-spark") == DELTA.coordinates.rpartition(":")[2]


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


def test_a_download_that_is_not_the_locked_jar_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jar = Jar("0" * 64, 3, "group", "some", "1")
    (tmp_path / "some.lock").write_text(f"{jar}\n")
    artifact = Artifact("group:some:1", tmp_path / "some.lock", tmp_path / "ivy")

    def download(self: Artifact, spark: SparkSubmit) -> None:
        del spark
        file = jar.resolved_in(self.folder)
        file.parent.mkdir(parents=True)
        file.write_bytes(b"jaR")

    monkeypatch.setattr(Artifact, "_resolve", download)
    with pytest.raises(SetupError, match=r"some-1\.jar: missing, or different"):
        artifact.obtain(SparkSubmit(Path("spark-submit"), {}))
