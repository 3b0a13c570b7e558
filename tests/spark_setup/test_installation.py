"""What `weir setup-spark` installs, and what is found of it; nothing is downloaded here."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile

import pytest

from weir.spark_setup import installation
from weir.spark_setup.commands import SetupError
from weir.spark_setup.installation import (
    install,
    jars_of_spark,
    java_home,
    spark_home,
    use_java,
    with_jars,
)
from weir.spark_setup.jar_sets import jar_sets
from weir.spark_setup.maven import Artifact, Jar, SparkSubmit

DELTA, S3 = jar_sets(Path("ivy"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder; Spark has jars neither of Delta nor of S3, and the machine a Java."""
    (tmp_path / "spark" / "jars").mkdir(parents=True)
    java = tmp_path / "java" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"17.0.1\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("PATH", f"{java.parent}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return tmp_path / "data" / "weir"


@pytest.fixture
def maven(monkeypatch: pytest.MonkeyPatch) -> None:
    """Downloads are files of the right sizes, which count as the locked ones."""

    def download(self: Artifact, spark: SparkSubmit) -> None:
        assert spark.environment["JAVA_HOME"]
        fill(self.jar_folder, {f"{jar.group}_{jar.name}": jar.size for jar in self.jars()})

    monkeypatch.setattr(Artifact, "_resolve", download)
    monkeypatch.setattr(Jar, "is_at", Jar.has_size_of)


def fill(folder: Path, sizes: Mapping[str, int]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, size in sizes.items():
        with (folder / name).open("w") as file:
            file.truncate(size)


def jars_in_spark() -> Path:
    """The folder of the jars of Spark."""
    home = spark_home()
    assert home is not None
    return home / "jars"


def put_into_spark(*artifacts: Artifact) -> Path:
    """Put sets of jars among those of Spark; the folder."""
    for artifact in artifacts:
        fill(jars_in_spark(), {jar.name: jar.size for jar in artifact.jars()})
    return jars_in_spark()


def what_is_wrong() -> list[str]:
    """What is wrong with each set."""
    return [jars.what_is_wrong for jars in jars_of_spark()]


@pytest.mark.usefixtures("maven")
def test_java_and_jars_are_found_after_they_were_installed(folder: Path) -> None:
    assert java_home() is None
    assert [len(jars.missing) for jars in jars_of_spark()] == [7, 36]
    assert with_jars({"spark.a": "b"}) == {"spark.a": "b"}
    java, *jars = install()
    assert java.place == folder / "java" / "bin" / "java"
    assert java.source.startswith("starts 17: ")
    assert [jar.source.partition(",")[0] for jar in jars] == ["downloaded from Maven"] * 43
    assert {jar.place.parent for jar in jars} == {folder / "ivy" / "jars"}
    assert what_is_wrong() == ["", ""]
    assert java_home() == folder / "java"
    conf = with_jars({"spark.a": "b", "spark.jars": "mine.jar"})
    assert conf["spark.jars"].split(",") == ["mine.jar", *(str(jar.place) for jar in jars)]


@pytest.mark.usefixtures("maven")
def test_a_second_time_nothing_is_downloaded(folder: Path) -> None:
    assert [*install()]
    _, *jars = install()
    assert {jar.source for jar in jars} == {"is there"}
    assert {jar.place.parent for jar in jars} == {folder / "ivy" / "jars"}


def test_what_is_missing_is_said_with_the_places(folder: Path) -> None:
    delta, s3 = what_is_wrong()
    places = f"looked in {jars_in_spark()} and in {folder / 'ivy' / 'jars'}"
    assert delta == f"missing: delta-kernel-api-4.4.0.jar and 6 more; {places}"
    assert s3 == f"missing: analyticsaccelerator-s3-1.3.1.jar and 35 more; {places}"


@pytest.mark.usefixtures("folder")
def test_jars_among_those_of_spark_are_used() -> None:
    own = put_into_spark(DELTA, S3)
    _, *jars = install()
    assert [(jar.part, jar.place) for jar in jars] == [("Delta jars", own), ("S3 jars", own)]
    assert with_jars({}) == {}
    assert what_is_wrong() == ["", ""]


@pytest.mark.usefixtures("maven")
def test_a_set_that_spark_lacks_is_installed_beside_one_that_it_has(folder: Path) -> None:
    """As where an earlier version of Weir was set up."""
    put_into_spark(DELTA)
    _, delta, *s3 = install()
    assert delta.part == "Delta jars"
    assert len(s3) == 36
    places = [str(jar.resolved_in(folder / "ivy")) for jar in S3.jars()]
    assert with_jars({})["spark.jars"].split(",") == places


@pytest.mark.usefixtures("folder")
def test_a_spark_that_has_all_services_of_amazon_in_one_jar_needs_no_others() -> None:
    """It is what Hadoop's file system asks for, and what images of Spark with it have."""
    put_into_spark(DELTA)
    (hadoop_aws,) = (jar for jar in S3.jars() if jar.artifact == "hadoop-aws")
    fill(jars_in_spark(), {hadoop_aws.name: hadoop_aws.size, "bundle-2.35.4.jar": 9})
    assert what_is_wrong() == ["", ""]
    assert with_jars({}) == {}


@pytest.mark.usefixtures("maven")
@pytest.mark.parametrize(
    ("other", "version"),
    [
        ("delta-spark_4.2_2.13-4.3.0.jar", "4.4.0"),
        ("hadoop-aws-3.4.2.jar", "3.5.0"),
        ("sdk-core-2.29.52.jar", "3.5.0"),
    ],
)
def test_another_version_among_the_jars_of_spark_is_an_error(
    folder: Path, other: str, version: str
) -> None:
    """It is the one that Spark starts with, also if the right one is installed for the user."""
    assert [*install()]
    fill(jars_in_spark(), {other: 9})
    (wrong,) = filter(None, what_is_wrong())
    assert wrong.endswith(f"of another version than {version}: remove {jars_in_spark() / other}.")
    # The other set is given to Spark, still.
    given = with_jars({})["spark.jars"].split(",")
    assert len(given) == (36 if other.startswith("delta") else 7)
    if other.startswith("delta"):
        with pytest.raises(SetupError, match=re.escape(wrong)):
            list(install())
    else:
        # Only lakes in S3 need these, and others may have put them there.
        assert [jar.source for jar in install()][-1] == f"not installed: {wrong}"
    assert folder.exists()


@pytest.mark.usefixtures("folder")
def test_two_versions_among_the_jars_of_spark_are_an_error() -> None:
    own = put_into_spark(DELTA, S3)
    fill(own, {"delta-storage-4.3.0.jar": 9, "delta-sharing-spark_2.13-1.0.jar": 9})
    fill(own, {"utils-2.20.1.jar": 9, "utils-of-others-2.0.jar": 9})
    delta, s3 = what_is_wrong()
    assert delta.endswith(f"remove {own / 'delta-storage-4.3.0.jar'}.")
    assert s3.endswith(f"remove {own / 'utils-2.20.1.jar'}.")


@pytest.mark.usefixtures("folder")
def test_a_jar_of_the_same_name_of_others_is_left_alone() -> None:
    """The names of files lack the group."""
    own = put_into_spark(DELTA, S3)
    for version, entry in (("17.0.0", "org/jetbrains/"), ("2.20.1", "software/amazon/awssdk/")):
        with ZipFile(own / f"annotations-{version}.jar", "w") as jar:
            jar.writestr(f"{entry}annotations/NotNull.class", b"")
    assert [jars.others for jars in jars_of_spark()] == [(), (own / "annotations-2.20.1.jar",)]


@pytest.mark.usefixtures("maven")
def test_a_java_that_is_gone_is_not_started(folder: Path) -> None:
    assert [*install()]
    assert java_home() == folder / "java"
    (folder.parents[1] / "java" / "java").unlink()
    use_java()
    assert (java_home(), os.environ.get("JAVA_HOME")) == (None, None)


@pytest.mark.usefixtures("maven")
def test_the_java_of_the_environment_comes_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [*install()]
    monkeypatch.setenv("JAVA_HOME", "/some/java")
    use_java()
    assert os.environ["JAVA_HOME"] == "/some/java"
    with pytest.raises(SetupError, match="JAVA_HOME names /some/java"):
        next(install())
    monkeypatch.delenv("JAVA_HOME")
    use_java()
    assert os.environ["JAVA_HOME"] == str(folder / "java")


def test_without_spark_nothing_is_installed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_HOME")
    monkeypatch.setattr(installation, "find_spec", lambda _: None)
    with pytest.raises(SetupError, match=r"weir\[spark\]"):
        next(install())
    assert not folder.exists()
    assert with_jars({}) == {}


def test_this_checkout_needs_no_folder_of_the_user() -> None:
    """The commands of tasks do not depend on what a user has installed elsewhere."""
    assert spark_home() == Path(sys.prefix, "lib", "python3.11", "site-packages", "pyspark")
    assert what_is_wrong() == ["", ""]
    assert with_jars({}) == {}
