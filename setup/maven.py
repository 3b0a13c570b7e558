"""Jars of a Maven repository: resolved by Spark's Ivy, and verified against a lock file."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from setup.java import JAVA_HOME
from setup.steps import CACHE, PYTHON, ROOT, VENV, SetupError, call, text_of


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
        """Its usual file name."""
        return f"{self.artifact}-{self.version}.jar"

    def resolved_in(self, folder: Path) -> Path:
        """Where Ivy stores it."""
        return folder / "jars" / f"{self.group}_{self.name}"

    def is_at(self, file: Path) -> bool:
        """Whether `file` is this jar, byte for byte."""
        return file.is_file() and (sha256_of(file), file.stat().st_size) == (self.sha256, self.size)

    def __str__(self) -> str:
        return f"{self.sha256}  {self.size:>8}  {self.group}:{self.artifact}:{self.version}"


@dataclass(frozen=True, slots=True)
class Artifact:
    """What is resolved, and the jars that come of it.

    Attributes:
        coordinates: group, artifact and version.
        lock: the lock file of its jars, a path in the project.
        folder: where Ivy keeps what it downloads.
        provided: dependencies that are not needed, as `group:artifact`.
    """

    coordinates: str
    lock: str
    folder: Path
    provided: tuple[str, ...] = ()

    def jars(self) -> tuple[Jar, ...]:
        """The jars of the lock file."""
        return locked_jars(text_of(self.lock))

    def obtain(self) -> None:
        """Download the locked jars, unless they are there.

        Raises:
            SetupError: nothing can be downloaded, or something else than what is locked.
        """
        jars = self.jars()
        if not all(jar.is_at(jar.resolved_in(self.folder)) for jar in jars):
            self._resolve()
        wrong = [jar.name for jar in jars if not jar.is_at(jar.resolved_in(self.folder))]
        if wrong:
            raise SetupError(
                f"{', '.join(wrong)}: missing, or different from {self.lock}. "
                f"Remove {self.folder} and run the same command again."
            )

    def write_lock(self) -> None:
        """Resolve the jars from scratch and record them in the lock file."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._resolve()
        folder = self.folder / "jars"
        found = [re.fullmatch(r"(.+?)_(.+)-([^-]+)\.jar", file.name) for file in folder.iterdir()]
        jars = [
            Jar(sha256_of(file), file.stat().st_size, *match.groups())
            for match in found
            if match and (file := folder / match.string)
        ]
        header = "# Written by `make lock`: sha256, bytes, Maven coordinates.\n"
        (ROOT / self.lock).write_text(
            header + "".join(f"{jar}\n" for jar in sorted(jars, key=lambda j: j.artifact))
        )

    def _resolve(self) -> None:
        empty_program = ROOT / "setup" / "__init__.py"
        call(
            [
                *(VENV / "bin" / "spark-submit", "--master", "local[1]"),
                *("--packages", self.coordinates, *_exclusions(self.provided)),
                *("--conf", f"spark.jars.ivy={self.folder}", empty_program),
            ],
            "Is a Maven repository reachable? Run the same command again; "
            "finished downloads are kept.",
            {
                **{name: value for name, value in os.environ.items() if name != "SPARK_HOME"},
                "PATH": f"{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}",
                "JAVA_HOME": str(JAVA_HOME),
                "PYSPARK_PYTHON": str(PYTHON),
                "SPARK_LOCAL_DIRS": str(CACHE / "spark"),
                "SPARK_LOCAL_IP": "127.0.0.1",
            },
        )


def locked_jars(lock: str) -> tuple[Jar, ...]:
    """The jars listed in the text of a lock file."""
    jars = []
    for line in lock.splitlines():
        if line and not line.startswith("#"):
            sha256, size, coordinates = line.split()
            jars.append(Jar(sha256, int(size), *coordinates.split(":")))
    return tuple(jars)


def sha256_of(file: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _exclusions(provided: Sequence[str]) -> tuple[str, ...]:
    return ("--exclude-packages", ",".join(provided)) if provided else ()
