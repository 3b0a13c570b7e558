"""Which names are declared, from the names of files alone: nothing is opened, nothing parsed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from jobs.errors import ConfigurationError
from lake.tables import RESERVED_NAMES

Kind = Literal["query"]
"""What a file declares."""
KINDS: Mapping[str, Kind] = {".rq": "query"}
"""The kind of a file by its suffix; `jobs.catalog.catalog` reads each kind."""

_NAME = re.compile("[a-z][a-z0-9_]{0,62}")


@dataclass(frozen=True, slots=True)
class Declaration:
    """A file that declares something to be maintained under the file's name.

    rival: another file that declares the same name; then neither is usable.
    """

    name: str
    kind: Kind
    file: Path
    rival: Path | None = None

    @property
    def is_usable(self) -> bool:
        """Whether tables and views can have the name, and no other file has it."""
        is_free = self.name not in RESERVED_NAMES and self.rival is None
        return bool(_NAME.fullmatch(self.name)) and is_free

    def check_name(self) -> None:
        """Check that tables and views can have the name, and that no other file has it.

        Raises:
            ConfigurationError: they cannot.
        """
        if not _NAME.fullmatch(self.name):
            raise ConfigurationError(
                f"{self.name!r} cannot be the name of a {self.kind}",
                str(self.file),
                "Rename the file: a lower-case letter, then up to 62 lower-case letters, digits"
                " and _.",
            )
        if self.name in RESERVED_NAMES:
            raise ConfigurationError(
                f"{self.name!r} is the name of a table and cannot be that of a {self.kind}",
                str(self.file),
                f"Rename the file; taken are {', '.join(sorted(RESERVED_NAMES))}.",
            )
        if self.rival is not None:
            raise ConfigurationError(
                f"{self.rival.name} declares the name {self.name!r} too",
                str(self.file),
                "Rename one of the two files: tables and views are named after them.",
            )

    def read(self) -> bytes:
        """The content of the file.

        Raises:
            ConfigurationError: it cannot be read.
        """
        try:
            return self.file.read_bytes()
        except OSError as error:
            raise ConfigurationError(
                f"it cannot be read: {error.strerror}",
                str(self.file),
                "It has to be a readable file.",
            ) from error


def declarations(folder: Path) -> tuple[Declaration, ...]:
    """What the files of `folder` declare, in the order of their names; names may be unusable.

    Raises:
        ConfigurationError: the folder does not exist.
    """
    if not folder.is_dir():
        raise ConfigurationError(
            "the folder of queries does not exist", str(folder), "Create it, or set `queries`."
        )
    # Editors keep hidden files beside the one that is open.
    files = sorted(
        file
        for suffix in KINDS
        for file in folder.glob(f"*{suffix}")
        if not file.name.startswith(".")
    )
    by_name: dict[str, list[Path]] = defaultdict(list)
    for file in files:
        by_name[file.stem].append(file)

    def declaration(file: Path) -> Declaration:
        rival = next((other for other in by_name[file.stem] if other != file), None)
        return Declaration(file.stem, KINDS[file.suffix], file, rival)

    return tuple(map(declaration, files))


def declared_names(folder: Path) -> tuple[str, ...]:
    """The names that `folder` declares and that tables can have, in the order of the files.

    Raises:
        ConfigurationError: the folder does not exist.
    """
    return tuple(each.name for each in declarations(folder) if each.is_usable)


def is_declared(folder: Path, name: str) -> bool:
    """Whether a file in `folder` declares the name; the folder need not exist."""
    return any((folder / f"{name}{suffix}").is_file() for suffix in KINDS)
