"""The prefixes that shorten the IRIs of an answer on the terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from weir.definitions.names import declarations, folders_of
from weir.errors import ConfigurationError

if TYPE_CHECKING:
    from weir.settings import Settings

_DECLARATION = re.compile(r"^\s*PREFIX\s+([\w.-]*):\s*<([^<>\s]+:[^<>\s]*)>", re.IGNORECASE | re.M)


def prefixes_of(settings: Settings, name: str) -> dict[str, str]:
    """The IRIs that prefixes stand for: those of the project, and of the text of a query.

    What a query declares comes first. It is looked for line by line, as reading an answer must not
    load the parser; a text that cannot be read declares nothing.
    """
    try:
        (text,) = (d.read() for d in declarations(folders_of(settings)) if d.name == name)
    except (ConfigurationError, ValueError):
        return settings.prefixes
    return {**settings.prefixes, **dict(_DECLARATION.findall(text.decode(errors="replace")))}
