"""Take out of the environment of the image what no process of Weir, Airflow and Spark loads.

    python slim.py FOLDER     # the site-packages

Prints what was taken out, why nothing needs it, and the megabytes. A pattern that names nothing is
an error: the package has changed, and the list below has to be looked at again.
"""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile


@dataclass(frozen=True, slots=True)
class Part:
    """What is taken out together.

    Attributes:
        what: what it is.
        why: why nothing loads it.
        patterns: its files and folders, as globs; each names something.
        kept: what the patterns name and is kept, as a regular expression of the path.
    """

    what: str
    why: str
    patterns: tuple[str, ...]
    kept: str = r"(?!)"


PARTS = (
    Part(
        "tests of packages",
        "only a runner of tests imports them",
        ("*/**/tests",),
    ),
    Part(
        "headers and sources of native code, and stubs of types",
        "only compilers and type checkers read them",
        tuple(f"*/**/*.{suffix}" for suffix in ("h", "hpp", "pxd", "pyx", "pxi", "pyi")),
    ),
    Part(
        "Arrow Flight and Arrow's own S3",
        "object stores are read by obstore and delta-rs; pyarrow.fs works without its S3",
        (
            "pyarrow/libarrow_flight.*",
            "pyarrow/libarrow_python_flight.*",
            "pyarrow/_flight.*.so",
            "pyarrow/libarrow_s3.*",
            "pyarrow/_s3fs.*.so",
        ),
    ),
    Part(
        "MLlib and GraphX",
        "Spark's SQL does not use them, and Weir only its SQL",
        tuple(
            f"pyspark/jars/{name}"
            for name in (
                "spark-mllib_*.jar",
                "spark-graphx_*.jar",
                "breeze*.jar",
                "spire*.jar",
                "cats-kernel_*.jar",
                "algebra_*.jar",
                "arpack*.jar",
                "lapack*.jar",
                "blas*.jar",
                "JTransforms*.jar",
                "JLargeArrays*.jar",
            )
        ),
    ),
    Part(
        "Spark Connect",
        "Weir needs the JVM of its driver, which Spark Connect does not give",
        (
            "pyspark/jars/spark-connect_*.jar",
            "pyspark/jars/spark-pipelines_*.jar",
            "pyspark/jars/connect-repl",
        ),
    ),
    Part(
        "Hive and its metastore",
        "Delta tables are opened by their paths; the catalog is the one in memory",
        tuple(
            f"pyspark/jars/{name}"
            for name in (
                "hive-*.jar",
                "spark-hive*.jar",
                "datanucleus-*.jar",
                "derby*.jar",
                "javax.jdo-*.jar",
                "jdo-api-*.jar",
                "HikariCP-*.jar",
                "libfb303-*.jar",
                "libthrift-*.jar",
            )
        ),
        # Classes of Spark's reader of ORC.
        kept=r"hive-storage-api-",
    ),
    Part(
        "the shell of Scala and its compiler",
        "Spark's SQL compiles by Janino",
        ("pyspark/jars/scala-compiler-*.jar", "pyspark/jars/spark-repl_*.jar"),
    ),
    Part(
        "examples of Spark and their data",
        "nothing runs them",
        ("pyspark/examples", "pyspark/data"),
    ),
    Part(
        "languages of Babel beside English",
        "only the macro ds_format_locale in templates of DAGs asks for them, and Weir's have none",
        ("babel/locale-data/*.dat",),
        kept=r"/(root|en|en_\w+)\.dat$",
    ),
)

MACHINES = {
    "x86_64": ("linux64", "linux/amd64", "Linux/x86_64", "linux-x86_64"),
    "aarch64": ("linux-aarch64", "linux/aarch64", "Linux/aarch64", "linux-aarch_64"),
}
"""How RocksDB, Zstandard, Snappy and Netty call the machine that the image is for."""
LIBRARY = re.compile(r"\.(so|dll|jnilib|dylib|a)$")


def main(arguments: Sequence[str]) -> None:
    """Take out all parts, and what native code is for other machines or for debuggers.

    Raises:
        SystemExit: a pattern names nothing, or a library that is left needs one that was taken out.
    """
    (folder,) = map(Path, arguments)
    before = size(folder)
    missing = missing_libraries(folder)
    steps = [
        *(partial(take_out, folder, part) for part in PARTS),
        partial(_native_code_of_others, folder / "pyspark" / "jars"),
        partial(link_same_libraries, folder / "pyarrow"),
        partial(_symbols, folder),
    ]
    for step in steps:
        here = size(folder)
        what = step()
        print(f"slim: {(here - size(folder)) / 1e6:6.1f} MB  {what}", flush=True)
    if broken := sorted(missing_libraries(folder) - missing):
        raise SystemExit("slim: " + ", ".join(f"{user} needs {name}" for user, name in broken))
    print(f"slim: {before / 1e6:.0f} MB before, {size(folder) / 1e6:.0f} MB now", flush=True)


def size(folder: Path) -> int:
    """The bytes of all files below a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())


def take_out(folder: Path, part: Part) -> str:
    """Remove a part; returns what it is, and why.

    Raises:
        SystemExit: a pattern names nothing.
    """
    for pattern in part.patterns:
        paths = [path for path in folder.glob(pattern) if not re.search(part.kept, str(path))]
        if not paths:
            raise SystemExit(f"slim: {pattern} names nothing: look at {part.what!r} again")
        for path in paths:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                # Folders that are named twice are gone by now.
                path.unlink(missing_ok=True)
    return f"{part.what}: {part.why}"


def missing_libraries(folder: Path) -> set[tuple[str, str]]:
    """The libraries that the loader does not find: what needs one, and the name of the needed."""
    missing = set()
    for path in _libraries(folder):
        done = subprocess.run(["ldd", path], capture_output=True, text=True, check=False)
        names = re.findall(r"^\s*(\S+) => not found", done.stdout, re.MULTILINE)
        missing |= {(str(path.relative_to(folder)), name) for name in names}
    return missing


def _native_code_of_others(jars: Path) -> str:
    """Remove the libraries for other systems and processors from the jars that have all."""
    rocksdb, zstd, snappy, netty = MACHINES[platform.machine()]
    ours = {
        "rocksdbjni-*.jar": f"librocksdbjni-{rocksdb}.so",
        "zstd-jni-*.jar": f"{zstd}/",
        "snappy-java-*.jar": f"/{snappy}/",
    }
    for pattern, kept in ours.items():
        for jar in _some(jars, pattern):
            take_out_libraries(jar, kept)
    for jar in _some(jars, "netty-*-*-*_64.jar"):
        if not jar.stem.endswith(netty):
            jar.unlink()
    return "native code for other systems and processors: this image cannot load it"


def _some(folder: Path, pattern: str) -> list[Path]:
    paths = sorted(folder.glob(pattern))
    if not paths:
        raise SystemExit(f"slim: {pattern} names nothing")
    return paths


def take_out_libraries(jar: Path, kept: str) -> None:
    """Replace a jar by a copy without the libraries whose names lack `kept`.

    Raises:
        SystemExit: no library has it.
    """
    new = jar.with_suffix(".new")
    with ZipFile(jar) as old, ZipFile(new, "w", ZIP_DEFLATED) as copy:
        entries = old.infolist()
        if not any(LIBRARY.search(entry.filename) and kept in entry.filename for entry in entries):
            raise SystemExit(f"slim: {jar.name} has no {kept}")
        for entry in entries:
            if not LIBRARY.search(entry.filename) or kept in entry.filename:
                copy.writestr(entry, old.read(entry))
    new.chmod(jar.stat().st_mode)
    new.replace(jar)


def link_same_libraries(folder: Path) -> str:
    """Link what a wheel has several times, as it cannot hold links."""
    firsts: dict[bytes, Path] = {}
    for path in sorted(folder.glob("lib*.so*"), key=lambda path: len(path.name), reverse=True):
        first = firsts.setdefault(path.read_bytes(), path)
        if first != path:
            path.unlink()
            path.symlink_to(first.name)
    return "copies of Arrow's libraries: links take their place"


def _symbols(folder: Path) -> str:
    """Remove what only debuggers and linkers read; not of libraries that wheels have patched."""
    own = [path for path in _libraries(folder) if not path.parent.name.endswith(".libs")]
    subprocess.run(["strip", "--strip-unneeded", *own], check=True)
    return "symbols in native code: only debuggers and linkers read them"


def _libraries(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*.so*"):
        if path.is_symlink() or not path.is_file():
            continue
        with path.open("rb") as file:
            if file.read(4) == b"\x7fELF":
                yield path


if __name__ == "__main__":
    main(sys.argv[1:])
