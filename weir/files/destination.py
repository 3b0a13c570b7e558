"""Whether the files that a command is asked for can be written, before it computes them."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryFile

from weir.errors import ConfigurationError


def require_writable_file(file: Path) -> None:
    """Check that a file can be replaced or created.

    Raises:
        ConfigurationError: it cannot, and why.
    """
    target = file.resolve()
    if target.is_dir():
        raise _refused("it is a folder", file)
    if target.exists() and not target.is_file():
        # A pipe or a terminal, which is written to directly.
        if not os.access(target, os.W_OK):
            raise _refused("permission is denied", file)
        return
    _require_folder(target.parent, file)


def require_writable_folder(folder: Path) -> None:
    """Check that a folder can get files.

    Raises:
        ConfigurationError: it cannot, and why.
    """
    _require_folder(folder.resolve(), folder)


def _require_folder(folder: Path, named: Path) -> None:
    """Check the folder, or the nearest one above it that exists, by a file without a name."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not existing.is_dir():
        raise _refused(f"{existing} is no folder", named)
    try:
        with TemporaryFile(dir=existing):
            pass
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise _refused(f"{reason} in {existing}", named) from error


def _refused(reason: str, named: Path) -> ConfigurationError:
    return ConfigurationError(f"it cannot be written: {reason}", str(named), "Name another place.")
