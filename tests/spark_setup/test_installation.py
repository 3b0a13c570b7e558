"""What `weir setup-spark` installs, and what is found of it; nothing is downloaded here."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from weir.spark_setup import installation
from weir.spark_setup.commands import SetupError
from weir.spark_setup.delta import delta_jars
from weir.spark_setup.installation import (
    delta_jars_of_spark,
    install,
    java_home,
    spark_home,
    use_java,
    with_jars,
)
from weir.spark_setup.maven import Artifact, Jar, SparkSubmit


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder; Spark has no jars of Delta, and the machine a Java."""
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
        fill(self.folder / "jars", {f"{jar.group}_{jar.name}": jar.size for jar in self.jars()})

    monkeypatch.setattr(Artifact, "_resolve", download)
    monkeypatch.setattr(Jar, "is_at", Jar.has_size_of)


def fill(folder: Path, sizes: dict[str, int]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, size in sizes.items():
        with (folder / name).open("w") as file:
            file.truncate(size)


@pytest.mark.usefixtures("maven")
def test_java_and_jars_are_found_after_they_were_installed(folder: Path) -> None:
    assert java_home() is None
    assert len(delta_jars_of_spark().missing) == 7
    assert with_jars({"spark.a": "b"}) == {"spark.a": "b"}
    java, *jars = install()
    assert java.place == folder / "java" / "bin" / "java"
    assert java.source.startswith("starts 17: ")
    assert [jar.source.partition(",")[0] for jar in jars] == ["downloaded from Maven"] * 7
    assert {jar.place.parent for jar in jars} == {folder / "ivy" / "jars"}
    assert delta_jars_of_spark().what_is_wrong == ""
    assert java_home() == folder / "java"
    conf = with_jars({"spark.a": "b", "spark.jars": "mine.jar"})
    assert conf["spark.jars"].split(",") == ["mine.jar", *(str(jar.place) for jar in jars)]


@pytest.mark.usefixtures("maven")
def test_a_second_time_nothing_is_downloaded(folder: Path) -> None:
    assert [*install()]
    _, *jars = install()
    assert {jar.source for jar in jars} == {"is there"}
    assert {jar.place.parent for jar in jars} == {folder / "ivy" / "jars"}


def test_jars_among_those_of_spark_are_used(folder: Path) -> None:
    home = spark_home()
    assert home is not None
    fill(home / "jars", {jar.name: jar.size for jar in delta_jars(folder).jars()})
    _, jars = install()
    assert (jars.part, jars.place) == ("7 Delta jars", home / "jars")
    assert with_jars({}) == {}
    assert delta_jars_of_spark().what_is_wrong == ""


@pytest.mark.usefixtures("maven")
def test_another_version_of_delta_among_the_jars_of_spark_is_an_error(folder: Path) -> None:
    """It is the one that Spark starts with, also if the right one is installed for the user."""
    assert [*install()]
    home = spark_home()
    assert home is not None
    fill(home / "jars", {"delta-spark_4.2_2.13-4.3.0.jar": 9})
    wrong = f"remove {home / 'jars' / 'delta-spark_4.2_2.13-4.3.0.jar'}"
    assert wrong in delta_jars_of_spark().what_is_wrong
    assert with_jars({}) == {}
    with pytest.raises(SetupError, match=r"another version of Delta than 4\.4\.0"):
        list(install())
    assert folder.exists()


def test_two_versions_of_delta_among_the_jars_of_spark_are_an_error(folder: Path) -> None:
    home = spark_home()
    assert home is not None
    fill(home / "jars", {jar.name: jar.size for jar in delta_jars(folder).jars()})
    fill(home / "jars", {"delta-storage-4.3.0.jar": 9, "delta-sharing-spark_2.13-1.0.jar": 9})
    wrong = delta_jars_of_spark().what_is_wrong
    assert wrong.endswith(f"remove {home / 'jars' / 'delta-storage-4.3.0.jar'}.")


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
    assert delta_jars_of_spark().what_is_wrong == ""
    assert with_jars({}) == {}
