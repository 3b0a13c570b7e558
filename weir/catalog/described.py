"""What definitions are for, who answers for them, and words to find them by (no query is parsed).

Airflow reads its DAGs twice a minute: compiling the queries would import what only a stage needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict

from weir.catalog.names import Declaration, Folders, Kind, declarations
from weir.catalog.yaml_head import read_head
from weir.errors import ConfigurationError

_COMMENTS: Final[Mapping[Kind, str]] = {"query": "#", "program": "%"}


class Described(BaseModel):
    """What the front matter of a file says about it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    description: str = ""
    owner: str = ""
    tags: tuple[str, ...] = ()


def described(folders: Folders) -> dict[str, Described]:
    """By name, what the usable declarations say; nothing of a file whose front matter is wrong.

    Raises:
        ConfigurationError: the folder of queries does not exist.
    """
    return {each.name: _described(each) for each in declarations(folders) if each.is_usable}


def _described(declaration: Declaration) -> Described:
    try:
        text = declaration.read().decode(errors="replace")
        comment = _COMMENTS[declaration.kind]
        return read_head(text, str(declaration.file), Described, comment).values
    except ConfigurationError:
        # The stage that reads the file says what is wrong with it.
        return Described()
