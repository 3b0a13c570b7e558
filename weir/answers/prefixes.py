"""The prefixes that shorten the IRIs of an answer on the terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from weir.definitions.kinds import PROGRAM, Kind
from weir.definitions.names import declarations, folders_of
from weir.errors import ConfigurationError

if TYPE_CHECKING:
    from weir.settings import Settings

_SPACE = r"(?:\s|#[^\n]*(?:\n|$))"
_PROLOGUE = re.compile(
    rf"{_SPACE}+|BASE{_SPACE}*<[^<>]*>"
    # Turtle writes @prefix and a full stop.
    rf"|@?PREFIX{_SPACE}+(?P<prefix>[\w.-]*):{_SPACE}*<(?P<iri>[^<>\s]*)>(?:{_SPACE}*\.)?",
    re.IGNORECASE,
)


def prefixes_of(settings: Settings, name: str) -> dict[str, str]:
    """The IRIs that prefixes stand for, those that a definition declares before the project's.

    Only the head of its text is read, as an answer is printed without the parser. A text that
    cannot be read, and a relative IRI, declare nothing.
    """
    try:
        (declared,) = (d for d in declarations(folders_of(settings)) if d.name == name)
        text = declared.read().decode(errors="replace")
    except (ConfigurationError, ValueError):
        return settings.prefixes
    own = prefixes_in(text, declared.kind)
    return own | {p: iri for p, iri in settings.prefixes.items() if p not in own}


def prefixes_in(text: str, kind: Kind) -> dict[str, str]:
    """The IRIs that the prefixes of a text stand for."""
    own = _of_program(text) if kind is PROGRAM else _of_prologue(text)
    return {prefix: iri for prefix, iri in own.items() if ":" in iri}


def _of_prologue(text: str) -> Mapping[str, str]:
    prefixes: dict[str, str] = {}
    at = 0
    while match := _PROLOGUE.match(text, at):
        at = match.end()
        if match["prefix"] is not None:
            prefixes[match["prefix"]] = match["iri"]
    return prefixes


def _of_program(text: str) -> Mapping[str, str]:
    from weir.definitions.front_matter import head_yaml
    from weir.files.yaml_text import YamlError, read_yaml

    try:
        keys, _ = read_yaml(head_yaml(text, PROGRAM.comment))
    except YamlError:
        return {}
    prefixes = keys.get("prefixes") if isinstance(keys, Mapping) else None
    return {str(k): str(v) for k, v in prefixes.items()} if isinstance(prefixes, Mapping) else {}
