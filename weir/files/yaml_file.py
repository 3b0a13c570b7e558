"""A YAML file of declarations: its content, and errors with line and column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, ValidationError
from pydantic_core import ErrorDetails

from weir.errors import ConfigurationError, first_of
from weir.files.text import read_text
from weir.files.wrong_values import hint, key_of, reason
from weir.files.yaml_text import YamlError, read_yaml
from weir.lake.names import Name

DeclaredName = Annotated[str, AfterValidator(Name)]
"""The name in an entry, such as that of a source."""
Part = int | str
"""A part of a path: a key, or a position in a list."""
Model = TypeVar("Model", bound=BaseModel)


def yaml_files(folder: Path) -> list[Path]:
    """The files `*.yml` of a folder, which need not exist, in order."""
    return sorted(file for file in folder.glob("*.yml") if not file.name.startswith("."))


@dataclass(frozen=True, slots=True)
class YamlFile:
    """A file that was read.

    Attributes:
        file: its path.
        content: its values.
        root: its nodes, which have line and column.
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

    def validated(self, model: type[Model], tags: int = 0) -> Model:
        """The content as a model.

        Args:
            model: what is expected.
            tags: as of `mistake`.

        Raises:
            ConfigurationError: a key or value is wrong.
        """
        try:
            return model.model_validate(self.content)
        except ValidationError as error:
            raise self.mistake(error, model, tags) from None

    def check_names(self, key: str, names: Sequence[str]) -> None:
        """Check that the entries below a key have different names.

        Args:
            key: of the list, `sources`: what its entries are called, too.
            names: of the entries, in their order.

        Raises:
            ConfigurationError: two have the same.
        """
        for index, name in enumerate(names):
            if name in names[:index]:
                where = self.place([key, index, "name"])
                raise ConfigurationError(f"two {key} are named {name}", where)

    def mistake(self, error: ValidationError, model: Any, tags: int = 0) -> ConfigurationError:
        """The first error of the content, with its key and place; the others are its `others`.

        Args:
            error: of pydantic, about the content.
            model: the expected type of the content.
            tags: how many parts of a path, from the third on, name the kind of an entry; they are
                not keys of the file.
        """
        # A misspelt key is also a missing one; the error about the misspelling is more helpful.
        errors = error.errors()
        unknown = {detail["loc"][:-1] for detail in errors if detail["type"] == "extra_forbidden"}
        return first_of(
            self._mistake(detail, errors, model, tags)
            for detail in sorted(errors, key=lambda detail: detail["type"] == "missing")
            if detail["type"] != "missing" or detail["loc"][:-1] not in unknown
        )

    def _mistake(
        self, error: ErrorDetails, errors: Sequence[ErrorDetails], model: Any, tags: int
    ) -> ConfigurationError:
        known = key_of(error)
        path = [*known[:2], *known[2 + tags :]] if known == error["loc"] else [*known]
        key = ".".join(str(part) for part in path) or "the file"
        return ConfigurationError(
            f"{key}: {reason(error)}", self.place(path), hint(error, errors, model)
        )

    def place(self, path: Sequence[Part]) -> str:
        """The file, line and column of the value at `path`, or of the deepest part that exists."""
        line, column = _place(self.root, path)
        return f"{self.file}:{line}:{column}"


def place_of_entry(file: Path, key: str, name: str) -> str:
    """Where a file that has no mistake says the name of an entry below a key."""
    read = YamlFile.of(file, read_text(file))
    names = [entry["name"] for entry in read.content[key]]
    return read.place([key, names.index(name), "name"])


def _place(node: yaml.Node | None, path: Sequence[Part]) -> tuple[int, int]:
    """The line and column of the deepest existing node of `path`; of its key, if it has one."""
    mark = None if node is None else node.start_mark
    for part in path:
        match node:
            case yaml.MappingNode(value=pairs):
                matching = [(key, value) for key, value in pairs if key.value == part]
                if not matching:
                    break
                key, node = matching[0]
                mark = key.start_mark
            case yaml.SequenceNode(value=items) if isinstance(part, int) and part < len(items):
                node = items[part]
                mark = node.start_mark
            case _:
                break
    return _numbers(mark)


def _numbers(mark: yaml.Mark | None) -> tuple[int, int]:
    return (1, 1) if mark is None else (mark.line + 1, mark.column + 1)
