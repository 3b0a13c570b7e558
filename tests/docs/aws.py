"""`aws s3 cp --recursive FOLDER ADDRESS`, for tests of documents: this machine has no `aws`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import obstore
from obstore.store import from_url


def main(arguments: list[str]) -> None:
    """Copy each file of the folder, byte for byte."""
    *command, folder, address = arguments
    assert command == ["s3", "cp", "--recursive"]
    # Credentials and endpoint are in the environment.
    options: Any = {"allow_http": True}
    store = from_url(address, client_options=options)
    for file in Path(folder).rglob("*"):
        if file.is_file():
            obstore.put(store, file.relative_to(folder).as_posix(), file.read_bytes())


if __name__ == "__main__":
    main(sys.argv[1:])
