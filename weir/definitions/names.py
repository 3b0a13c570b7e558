"""Which names are declared, from the names of files alone: nothing is opened, nothing parsed."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from weir.definitions.kinds import KINDS, QUERY, Kind
from weir.errors import ConfigurationError
from weir.files.text import read_bytes
from weir.lake.names import FORM, is_name
from weir.lake.tables import RESERVED_NAMES
from weir.settings import Settings
from weir.text.near import enumerated, meant

Folders = Mapping[Kind, Path]
"""Where the files of each kind are."""

REPLICA = "replica"
"""Views of remotes are named after it: `replica_<remote>`."""


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
        is_free = self.name not in RESERVED_NAMES and not self._is_of_replicas
        return is_name(self.name) and is_free and self.rival is None

    @property
    def _is_of_replicas(self) -> bool:
        """Whether one of its views could have the name of a remote's."""
        return self.name == REPLICA or self.name.startswith(f"{REPLICA}_")

    def check_name(self) -> None:
        """Check that tables and views can have the name, and that no other file has it.

        Raises:
            ConfigurationError: they cannot.
        """
        kind, suffix = self.kind.name, self.kind.suffix
        if self.file.suffix != suffix:
            raise ConfigurationError(
                f"the name of the file of a {kind} ends in {suffix}, not {self.file.suffix}",
                str(self.file),
                f"Rename it to {self.file.stem}{suffix}.",
            )
        if not is_name(self.name):
            raise ConfigurationError(
                f"{self.name!r} cannot be the name of a {kind}",
                str(self.file),
                f"Rename the file: {FORM}.",
            )
        if self.name in RESERVED_NAMES:
            raise ConfigurationError(
                f"{self.name!r} is the name of a table and cannot be that of a {kind}",
                str(self.file),
                f"Rename the file; taken are {', '.join(sorted(RESERVED_NAMES))}.",
            )
        if self._is_of_replicas:
            raise ConfigurationError(
                f"{self.name!r} is the name of a view of a remote and cannot be that of a {kind}",
                str(self.file),
                f"Rename the file: no name is {REPLICA}, or begins with {REPLICA}_.",
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
            return read_bytes(self.file)
        except FileNotFoundError:
            raise ConfigurationError(
                "it cannot be read: it is gone", str(self.file), "It has to be a readable file."
            ) from None


def folders_of(settings: Settings) -> Folders:
    """The folders of a project."""
    return {kind: getattr(settings, kind.folder) for kind in KINDS}


def _names_in(folder: Path) -> list[str]:
    """The names of the files in a folder; none if it cannot be read."""
    try:
        # To make paths of 10,000 names takes longer than to read them.
        return os.listdir(folder)  # noqa: PTH208
    except OSError:
        return []


def declarations(folders: Folders) -> tuple[Declaration, ...]:
    """What the files of some folders declare, in the order of their names; some may be unusable.

    Raises:
        ConfigurationError: the folder of queries does not exist.
    """
    queries = folders[QUERY]
    if not queries.is_dir():
        raise ConfigurationError(
            "the folder of queries does not exist", str(queries), "Create it, or set `queries`."
        )
    # Editors keep hidden files beside the one that is open. One whose ending is in capitals is
    # meant to declare something: its whole name is that of an error.
    files = [
        (folder / name, kind)
        for kind, folder in folders.items()
        for name in _names_in(folder)
        if not name.startswith(".") and name.lower().endswith(kind.suffix)
    ]
    by_name: dict[str, list[Path]] = defaultdict(list)
    names = {file: file.stem if file.suffix == kind.suffix else file.name for file, kind in files}
    for file, name in names.items():
        by_name[name].append(file)

    def declaration(file: Path, kind: Kind) -> Declaration:
        rival = next((other for other in by_name[names[file]] if other != file), None)
        return Declaration(names[file], kind, file, rival)

    ordered = sorted(files, key=lambda declared: (declared[0].name, declared[0]))
    return tuple(declaration(file, kind) for file, kind in ordered)


def declared_names(folders: Folders) -> tuple[str, ...]:
    """The names that are declared and that tables can have, in the order of the files.

    Raises:
        ConfigurationError: the folder of queries does not exist.
    """
    return tuple(declared.name for declared in declarations(folders) if declared.is_usable)


def no_query(settings: Settings, name: str, known: Sequence[str]) -> ConfigurationError:
    """That there is no query or program of a name.

    Args:
        settings: of the project.
        name: which there is not.
        known: the names that there are.
    """
    hint = f"{meant(name, known)}There are: {enumerated(known)}."
    return ConfigurationError(f"there is no query {name}", str(settings.queries), hint)


def is_declared(folders: Folders, name: str) -> bool:
    """Whether a file declares the name; no folder need exist."""
    return is_name(name) and any(
        (folder / f"{name}{kind.suffix}").is_file() for kind, folder in folders.items()
    )
