"""The seven Delta jars: resolved once by Spark, verified against `jars.lock`, put among its jars.

Every session and every spark-submit then has them on the class path without resolving anything.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from setup.java import JAVA_HOME
from setup.steps import CACHE, PYTHON, ROOT, SITE_PACKAGES, VENV, SetupError, Step, call, text_of

LOCK = "setup/jars.lock"
DELTA = "io.delta:delta-spark_4.2_2.13:4.4.0"
# Dependencies of Delta that come with Spark.
PROVIDED = (
    "org.apache.hadoop:*",
    "com.fasterxml.jackson.*:*",
    "org.apache.logging.log4j:*",
    "org.slf4j:slf4j-api",
    "org.apache.parquet:parquet-hadoop",
    "org.roaringbitmap:RoaringBitmap",
    "org.locationtech.jts:jts-core",
    "com.google.code.findbugs:jsr305",
    "javax.annotation:javax.annotation-api",
)
IVY = CACHE / "ivy"
SPARK_JARS = SITE_PACKAGES / "pyspark" / "jars"
_OURS = re.compile(r"(delta-|unitycatalog-).*\.jar")


@dataclass(frozen=True, slots=True)
class Jar:
    """One locked jar: its Maven coordinates and its exact content."""

    sha256: str
    size: int
    group: str
    artifact: str
    version: str

    @property
    def name(self) -> str:
        """Its file name among Spark's jars."""
        return f"{self.artifact}-{self.version}.jar"

    @property
    def resolved(self) -> Path:
        """Where Ivy stores it."""
        return IVY / "jars" / f"{self.group}_{self.name}"

    def is_at(self, file: Path) -> bool:
        """Whether `file` is this jar, byte for byte."""
        return file.is_file() and (sha256_of(file), file.stat().st_size) == (self.sha256, self.size)

    def __str__(self) -> str:
        return f"{self.sha256}  {self.size:>8}  {self.group}:{self.artifact}:{self.version}"


def step() -> Step:
    """Copy the locked jars into the folder of Spark's jars."""
    return Step("jars", "Delta jars", lambda: text_of(LOCK), _are_installed, _install)


def locked_jars(lock: str) -> tuple[Jar, ...]:
    """The jars listed in the text of a lock file."""
    jars = []
    for line in lock.splitlines():
        if line and not line.startswith("#"):
            sha256, size, coordinates = line.split()
            jars.append(Jar(sha256, int(size), *coordinates.split(":")))
    return tuple(jars)


def write_lock() -> None:
    """Resolve the jars from scratch and record them in `jars.lock`."""
    shutil.rmtree(IVY, ignore_errors=True)
    _resolve()
    found = [
        re.fullmatch(r"(.+?)_(.+)-([^-]+)\.jar", file.name) for file in (IVY / "jars").iterdir()
    ]
    jars = [
        Jar(sha256_of(file), file.stat().st_size, *match.groups())
        for match in found
        if match and (file := IVY / "jars" / match.string)
    ]
    header = "# Written by `make lock`: sha256, bytes, Maven coordinates.\n"
    (ROOT / LOCK).write_text(
        header + "".join(f"{jar}\n" for jar in sorted(jars, key=lambda j: j.artifact))
    )


def _are_installed() -> bool:
    # Sizes only: this runs at every start, and the content was verified when copied.
    return all(
        (file := SPARK_JARS / jar.name).is_file() and file.stat().st_size == jar.size
        for jar in locked_jars(text_of(LOCK))
    )


def _install() -> None:
    jars = locked_jars(text_of(LOCK))
    if not all(jar.is_at(jar.resolved) for jar in jars):
        _resolve()
    wrong = [jar.name for jar in jars if not jar.is_at(jar.resolved)]
    if wrong:
        raise SetupError(
            f"{', '.join(wrong)}: missing, or different from {LOCK}. "
            f"Remove {IVY} and run the same command again."
        )
    for file in SPARK_JARS.iterdir():
        if _OURS.fullmatch(file.name) and file.name not in {jar.name for jar in jars}:
            file.unlink()
    for jar in jars:
        shutil.copyfile(jar.resolved, SPARK_JARS / jar.name)


def _resolve() -> None:
    empty_program = ROOT / "setup" / "__init__.py"
    call(
        [
            *(VENV / "bin" / "spark-submit", "--master", "local[1]"),
            *("--packages", DELTA, "--exclude-packages", ",".join(PROVIDED)),
            *("--conf", f"spark.jars.ivy={IVY}", empty_program),
        ],
        "Is a Maven repository reachable? Run the same command again; finished downloads are kept.",
        {
            **{name: value for name, value in os.environ.items() if name != "SPARK_HOME"},
            "PATH": f"{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "JAVA_HOME": str(JAVA_HOME),
            "PYSPARK_PYTHON": str(PYTHON),
            "SPARK_LOCAL_DIRS": str(CACHE / "spark"),
            "SPARK_LOCAL_IP": "127.0.0.1",
        },
    )


def sha256_of(file: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal."""
    return hashlib.sha256(file.read_bytes()).hexdigest()
