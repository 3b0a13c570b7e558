"""Exactly the locked jars are installed."""

from __future__ import annotations

from collections import Counter
from importlib.metadata import version
from pathlib import Path

import pytest

from setup.jars import JAR_SETS, SPARK_JARS
from weir.spark_setup.commands import SetupError
from weir.spark_setup.maven import Artifact, Jar, SparkSubmit, locked_jars, sha256_of

DELTA, S3 = JAR_SETS


def test_the_seven_jars_belong_to_the_locked_version_of_delta() -> None:
    jars = DELTA.jars()
    assert len(jars) == 7
    assert {jar.version for jar in jars if jar.group == "io.delta"} == {DELTA.version}
    assert version("delta-spark") == DELTA.version


def test_the_jars_of_s3_are_few_and_of_the_version_of_sparks_hadoop() -> None:
    """All of Amazon's services, which Hadoop asks for, would be 686 MB."""
    jars = S3.jars()
    assert len(jars) == 36
    assert sum(jar.size for jar in jars) < 14_000_000
    assert (SPARK_JARS / f"hadoop-client-api-{S3.version}.jar").is_file()


@pytest.mark.parametrize("artifact", JAR_SETS, ids=lambda artifact: artifact.title)
def test_what_is_asked_for_is_locked(artifact: Artifact) -> None:
    assert {jar.coordinates for jar in artifact.jars()} >= {*artifact.coordinates}


def test_no_jar_replaces_one_of_spark() -> None:
    """Each artifact is among Spark's jars in one version."""
    locked = {jar.name for artifact in JAR_SETS for jar in artifact.jars()}
    names = Counter(file.name.rpartition("-")[0] for file in SPARK_JARS.glob("*.jar"))
    assert {name for name in locked if names[name.rpartition("-")[0]] != 1} == set()


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
    artifact = Artifact("some", ("group:some:1",), tmp_path / "some.lock", tmp_path / "ivy")

    def download(self: Artifact, spark: SparkSubmit) -> None:
        del spark
        file = jar.resolved_in(self.folder)
        file.parent.mkdir(parents=True)
        file.write_bytes(b"jaR")

    monkeypatch.setattr(Artifact, "_resolve", download)
    with pytest.raises(SetupError, match=r"some-1\.jar: missing, or different"):
        artifact.obtain(SparkSubmit(Path("spark-submit"), {}))


def test_a_lock_has_what_is_resolved_now_and_nothing_of_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of what was resolved into the same folder for another lock."""
    lock, before = tmp_path / "some.lock", tmp_path / "ivy" / "jars" / "group_before-1.jar"
    before.parent.mkdir(parents=True)
    before.write_bytes(b"before")
    artifact = Artifact("some", ("some.group:some-part:1.2",), lock, tmp_path / "ivy")

    def download(self: Artifact, spark: SparkSubmit) -> None:
        del spark
        self.jar_folder.mkdir(parents=True)
        (self.jar_folder / "some.group_some-part-1.2.jar").write_bytes(b"jar")

    monkeypatch.setattr(Artifact, "_resolve", download)
    artifact.write_lock(SparkSubmit(Path("spark-submit"), {}))
    assert [(jar.coordinates, jar.size) for jar in artifact.jars()] == [
        ("some.group:some-part:1.2", 3)
    ]
    assert before.is_file()
