"""A folder of compiled definitions, so that the next run need not parse what has not changed.

One file per name: a checksum, and a text that is what compiling gave. The checksum covers the
source, the text and the code that compiled it, so an entry that is damaged, or that was made from
another source or by another version, is one that is not found. Nothing depends on the folder: it
may be missing, read-only, shared by several processes, or removed at any time.
"""

from __future__ import annotations

import hashlib
import platform
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

import weir
import weir.lake.tables
from weir.lake.whole_files import write_whole

_COMPILER = ("definitions", "lars", "plan", "rdf", "shacl", "sparql", "timeline")
"""The packages of Weir that, with `weir.lake.tables`, decide what compiling gives."""
_SUFFIXES = (".py", ".lark")
_LIBRARIES = ("weir", "lark", "rdflib", "pyparsing", "pyyaml", "pydantic")
_IGNORE = "# Compiled queries; they are compiled again when they are missing.\n*\n"


@dataclass(frozen=True, slots=True)
class CompilationCache:
    """The compiled definitions in a folder."""

    folder: Path

    def find(self, name: str, source: bytes) -> str | None:
        """What `store` was given for this name and source, by this version of the code."""
        code = compiler()
        if code is None:
            return None
        try:
            checksum, _, text = self._file(name).read_bytes().partition(b"\n")
            return text.decode() if checksum == _checksum(code, source, text) else None
        except (OSError, UnicodeDecodeError):
            return None

    def store(self, name: str, source: bytes, text: str) -> None:
        """Store what compiling `source` gave, in the place of an earlier entry of the name."""
        code = compiler()
        if code is None:
            return
        content = text.encode()
        entry = b"\n".join((_checksum(code, source, content), content))
        # A folder that cannot be written makes later runs slower, and nothing else.
        with suppress(OSError):
            self._create()
            write_whole(self._file(name), entry)

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.compiled"

    def _create(self) -> None:
        if not self.folder.is_dir():
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self.folder / ".gitignore", _IGNORE)


@cache
def compiler() -> str | None:
    """What identifies the code that compiles, or None where it is not in files (a zip)."""
    package = Path(weir.__file__).parent
    files = sorted(
        file
        for part in _COMPILER
        for file in (package / part).rglob("*")
        if file.suffix in _SUFFIXES
    )
    if not files:
        return None
    digest = hashlib.sha256()
    for name in (platform.python_version(), *map(version, _LIBRARIES)):
        digest.update(f"{name}\n".encode())
    for file in (*files, Path(weir.lake.tables.__file__)):
        digest.update(f"{file.parent.name}/{file.name}\n".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _checksum(code: str, source: bytes, text: bytes) -> bytes:
    digest = hashlib.sha256(code.encode())
    for part in (source, text):
        # With its length, no part can pass for the end of the other.
        digest.update(f"\n{len(part)}\n".encode())
        digest.update(part)
    return digest.hexdigest().encode()
