"""A YAML file that declares something: its content, and where a mistake in it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator, ValidationError

from weir.errors import ConfigurationError
from weir.files.wrong_values import hint, key_of, reason
from weir.files.yaml_text import YamlError, read_yaml
from weir.lake.names import Name

DeclaredName = Annotated[str, AfterValidator(Name)]
"""The name of what an entry declares."""
Part = int | str
"""A key, or the place of an entry in a list."""


@dataclass(frozen=True, slots=True)
class YamlFile:
    """A file that was read.

    Attributes:
        file: its path.
        content: its values.
        root: its nodes, which know their places.
    """

    file: Path
    content: Any
    root: yaml.Node | None

    @classmethod
    def of(cls, file: Path, text: str) -> YamlFile:
        """The file with this text.

        Raises:
            ConfigurationError: it is not YAML.
        """
        try:
            return cls(file, *read_yaml(text))
        except YamlError as error:
            where = f"{file}:{error.line}:{error.column}"
            raise ConfigurationError(f"not YAML: {error.problem}", where) from None

    def mistake(self, error: ValidationError, model: Any, tags: int = 0) -> ConfigurationError:
        """The first thing that is wrong with the content, with its key and place.

        Args:
            error: what was found.
            model: what the content was to be.
            tags: how many parts after the second of a place name the kind of an entry; they are no
                keys of the file.
        """
        # A misspelt key is also a missing one; the misspelling is what helps.
        errors = error.errors()
        first = min(errors, key=lambda each: each["type"] == "missing")
        known = key_of(first)
        path = [*known[:2], *known[2 + tags :]] if known == first["loc"] else [*known]
        key = ".".join(str(part) for part in path) or "the file"
        return ConfigurationError(
            f"{key}: {reason(first)}", self.place(path), hint(first, errors, model)
        )

    def place(self, path: Sequence[Part]) -> str:
        """The file with line and column of what `path` leads to, as far as it is there."""
        line, column = _place(self.root, path)
        return f"{self.file}:{line}:{column}"


def _place(node: yaml.Node | None, path: Sequence[Part]) -> tuple[int, int]:
    """The place of the deepest node that `path` leads to; of the key where it names a key."""
    mark = None if node is None else node.start_mark
    for part in path:
        match node:
            case yaml.MappingNode(value=pairs):
                found = [(key, value) for key, value in pairs if key.value == part]
                if not found:
                    break
                key, node = found[0]
                mark = key.start_mark
            case yaml.SequenceNode(value=items) if isinstance(part, int) and part < len(items):
                node = items[part]
                mark = node.start_mark
            case _:
                break
    return _numbers(mark)


def _numbers(mark: yaml.Mark | None) -> tuple[int, int]:
    return (1, 1) if mark is None else (mark.line + 1, mark.column + 1)
