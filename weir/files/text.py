"""Reading files that people write: configuration, sources, remotes, queries, programs."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from weir.errors import ConfigurationError


def read_bytes(file: Path) -> bytes:
    """The content of a regular file; a pipe, which might never end, is refused.

    Raises:
        FileNotFoundError: there is no such file.
        ConfigurationError: it is not a regular file, or cannot be read.
    """
    try:
        # O_NONBLOCK: opening a pipe would wait for a writer.
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as opened:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise ConfigurationError(
                    "it is not a file", str(file), "It has to be a readable file."
                )
            return opened.read()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ConfigurationError(
            f"it cannot be read: {error.strerror}", str(file), "It has to be a readable file."
        ) from error


def decoded_text(source: bytes, file: Path) -> str:
    """The text of a file; line ends are kept, since they may be part of a string.

    Raises:
        ConfigurationError: it is not UTF-8.
    """
    try:
        return source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        raise ConfigurationError(
            f"byte {error.start} is not UTF-8", f"{file}:{line}", "Save the file as UTF-8."
        ) from error


def read_text(file: Path) -> str:
    """The text of a file.

    Raises:
        FileNotFoundError: there is no such file.
        ConfigurationError: it is not a regular file, cannot be read, or is not UTF-8.
    """
    return decoded_text(read_bytes(file), file)


def text_if_any(file: Path) -> str:
    """The text of a file that need not exist; empty without it.

    Raises:
        ConfigurationError: it is not a regular file, cannot be read, or is not UTF-8.
    """
    try:
        return read_text(file)
    except FileNotFoundError:
        return ""
