"""The projects that an Airflow runs: one, or several with names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from weir.errors import ConfigurationError

VARIABLE: Final = "WEIR_PROJECT"
"""The environment variable with their folders, separated as those of PATH."""


def projects(folders: str) -> dict[str, Path]:
    """The folders of projects by name: a single one has none, several those of their folders.

    Raises:
        ConfigurationError: there is none, or two folders have the same name.
    """
    paths = [Path(folder) for folder in folders.split(os.pathsep) if folder]
    if not paths:
        raise ConfigurationError(
            "no project is named",
            VARIABLE,
            f"Set the variable {VARIABLE} to the folder of weir.toml.",
        )
    if len(paths) == 1:
        return {"": paths[0]}
    named = {path.resolve().name: path for path in paths}
    if len(named) < len(paths):
        raise ConfigurationError(
            "two projects are in folders of the same name, and their DAGs would be, too",
            VARIABLE,
            "Rename a folder, or call `dags` with names of your own.",
        )
    return named
