"""A shapes graph that no project declares."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from weir.definitions.catalog import Catalog
from weir.definitions.definition import Definition
from weir.definitions.kinds import SHAPES
from weir.errors import ConfigurationError
from weir.files.text import read_bytes
from weir.review.tried import Given


def given_shapes(file: Path) -> Definition:
    """The report of the shapes in a file.

    Raises:
        ConfigurationError: they cannot be read, or maintained.
    """
    given = Given("report", SHAPES, file, source=read_bytes(file))
    return Catalog((given,)).member("report")


def require_files(files: Iterable[Path]) -> None:
    """Check that files are there.

    Raises:
        ConfigurationError: one is not.
    """
    for file in files:
        if file.is_dir():
            raise ConfigurationError("it is a folder", str(file), "Name its files, one by one.")
        if not file.is_file():
            raise ConfigurationError("there is no such file", str(file), "Name another one.")
