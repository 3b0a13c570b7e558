"""What definitions are for, who answers for them, and words to find them by (no query is parsed).

Airflow reads its DAGs twice a minute: compiling the queries would import what only a stage needs.
"""

from __future__ import annotations

from pydantic import ConfigDict

from weir.definitions.front_matter import FrontMatter, read_head
from weir.definitions.names import Declaration, Folders, declarations
from weir.errors import ConfigurationError


class Described(FrontMatter):
    """What the front matter of a file says about it."""

    model_config = ConfigDict(extra="ignore")


def described(folders: Folders) -> dict[str, Described]:
    """By name, what the usable declarations say; nothing of a file whose front matter is wrong.

    Raises:
        ConfigurationError: the folder of queries does not exist.
    """
    usable = (declaration for declaration in declarations(folders) if declaration.is_usable)
    return {declaration.name: _described(declaration) for declaration in usable}


def _described(declaration: Declaration) -> Described:
    try:
        text, comment = declaration.read().decode(errors="replace"), declaration.kind.comment
        return read_head(text, str(declaration.file), Described, comment).values
    except ConfigurationError:
        # The stage that reads the file says what is wrong with it.
        return Described()
