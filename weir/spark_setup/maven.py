"""Jars of a Maven repository: resolved by Spark's Ivy, and verified against a lock file."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources.abc import Traversable
from pathlib import Path
from tempfile import TemporaryDirectory

from weir.spark_setup.commands import SetupError, call


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
        """The usual file name of the jar."""
        return f"{self.artifact}-{self.version}.jar"

    def resolved_in(self, folder: Path) -> Path:
        """Where Ivy stores it."""
        return folder / "jars" / f"{self.group}_{self.name}"

    def is_at(self, file: Path) -> bool:
        """Whether `file` is this jar, byte for byte."""
        return file.is_file() and (sha256_of(file), file.stat().st_size) == (self.sha256, self.size)

    def has_size_of(self, file: Path) -> bool:
        """Whether `file` has its size: quick, for files that were verified when they came."""
        return file.is_file() and file.stat().st_size == self.size

    @property
    def coordinates(self) -> str:
        """Group, artifact and version."""
        return f"{self.group}:{self.artifact}:{self.version}"

    def __str__(self) -> str:
        return f"{self.sha256}  {self.size:>8}  {self.coordinates}"


@dataclass(frozen=True, slots=True)
class SparkSubmit:
    """How Spark is started, whose Ivy resolves.

    Attributes:
        program: `spark-submit`.
        environment: all its variables.
    """

    program: Path
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Artifact:
    """What is resolved together, and the jars that come of it.

    Attributes:
        title: what the jars are called.
        coordinates: group, artifact and version of each part; the first is the main one.
        lock: the lock file of its jars.
        folder: where Ivy keeps what it downloads; several may share it.
        excluded: dependencies that Spark has or that are not needed, as `group:artifact`.
        schemes: of the addresses of lakes that need them; empty: all do.
        bundle: the pattern of a file that has all of it but the main part; others may use it.
    """

    title: str
    coordinates: tuple[str, ...]
    lock: Traversable
    folder: Path
    excluded: tuple[str, ...] = ()
    schemes: tuple[str, ...] = ()
    bundle: str = ""

    @property
    def version(self) -> str:
        """The version of the main part."""
        return self.coordinates[0].rpartition(":")[2]

    @property
    def jar_folder(self) -> Path:
        """Where Ivy puts the jars, in its folder."""
        return self.folder / "jars"

    def jars(self) -> tuple[Jar, ...]:
        """The jars of the lock file."""
        return locked_jars(self.lock.read_text())

    def files(self) -> tuple[Path, ...]:
        """Where the jars are, or will be."""
        return tuple(jar.resolved_in(self.folder) for jar in self.jars())

    def obtain(self, spark: SparkSubmit) -> tuple[Jar, ...]:
        """Download the locked jars that are not there; returns those.

        Raises:
            SetupError: nothing can be downloaded, or something else than what is locked.
        """
        missing = self._missing()
        if missing:
            self._resolve(spark)
        if wrong := [jar.name for jar in self._missing()]:
            raise SetupError(
                f"{', '.join(wrong)}: missing, or different from {self.lock}. "
                f"Remove {self.folder} and run the same command again."
            )
        return missing

    def write_lock(self, spark: SparkSubmit) -> None:
        """Resolve the jars from scratch and record them in the lock file."""
        with TemporaryDirectory() as folder:
            # Nothing of earlier versions, and of what is resolved beside it.
            replace(self, folder=Path(folder))._resolve(spark)
            jars = [
                Jar(sha256_of(file), file.stat().st_size, *match.groups())
                for file in Path(folder, "jars").iterdir()
                if (match := re.fullmatch(r"(.+?)_(.+)-([^-]+)\.jar", file.name))
            ]
        header = "# Written by `make lock`: sha256, bytes, Maven coordinates.\n"
        assert isinstance(self.lock, Path), "lock files are written in a checkout"
        self.lock.write_text(
            header + "".join(f"{jar}\n" for jar in sorted(jars, key=lambda jar: jar.artifact))
        )

    def _missing(self) -> tuple[Jar, ...]:
        return tuple(jar for jar in self.jars() if not jar.is_at(jar.resolved_in(self.folder)))

    def _resolve(self, spark: SparkSubmit) -> None:
        empty_program = Path(__file__).with_name("__init__.py")
        call(
            [
                *(spark.program, "--master", "local[1]"),
                *("--packages", ",".join(self.coordinates), *_exclusions(self.excluded)),
                *("--conf", f"spark.jars.ivy={self.folder}", empty_program),
            ],
            "Is a Maven repository reachable? Run the same command again; "
            "finished downloads are kept.",
            spark.environment,
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


def _exclusions(excluded: Sequence[str]) -> tuple[str, ...]:
    return ("--exclude-packages", ",".join(excluded)) if excluded else ()
