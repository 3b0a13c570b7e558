"""The front matter of a definition: YAML in marked comment lines at the head of its text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Generic, TypeVar

import yaml
from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)
from pydantic_core import ErrorDetails

from weir.errors import ConfigurationError, first_of
from weir.files.wrong_values import keys_at, reason
from weir.files.yaml_text import YamlError, read_yaml
from weir.text.durations import parse_duration
from weir.text.near import meant


def _time(value: object) -> datetime:
    # Not a number, which pydantic would read as seconds or milliseconds.
    if isinstance(value, datetime):
        return value
    try:
        return datetime.fromisoformat(value if isinstance(value, str) else "")
    except ValueError:
        raise ValueError("write a time with its zone: 2026-01-01T00:00:00Z") from None


def _duration(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("write a duration: PT10M or 10m")
    parse_duration(value)
    return value


Time = Annotated[AwareDatetime, BeforeValidator(_time)]
"""A time with its zone."""
Duration = Annotated[str, BeforeValidator(_duration)]
"""A duration as `weir.text.durations` reads it."""

MaxRows = Annotated[int | None, Field(ge=1, description="more rows in the answer fail validation")]
MinRows = Annotated[int | None, Field(ge=1, description="fewer rows in the answer fail validation")]


class FrontMatter(BaseModel):
    """The keys of every kind of definition."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    description: str = ""
    owner: str = Field("", description="who to ask about it")
    tags: tuple[str, ...] = Field((), description="words to find it by")


Model = TypeVar("Model", bound=BaseModel)
Path = tuple[str, ...]
"""The keys from the outermost mapping to an entry; of a list, the index."""


@dataclass(frozen=True, slots=True)
class Head(Generic[Model]):
    """What the head of a text says.

    Attributes:
        values: the keys.
        places: line and column of each key, or entry of a list, from 1.
        file: the name of the file, for errors.
    """

    values: Model
    places: Mapping[Path, tuple[int, int]]
    file: str

    def refuse(self, keys: Mapping[str, str], hint: str) -> None:
        """Refuse keys that are not for this definition.

        Args:
            keys: what is wrong with each.
            hint: what to do.

        Raises:
            ConfigurationError: the head has one of them; with the first line that has.
        """
        wrong = [(self.places[key,][0], key) for key in keys if (key,) in self.places]
        if wrong:
            line, key = min(wrong)
            raise ConfigurationError(keys[key], f"{self.file}:{line}", hint)

    def place(self, path: Path) -> str:
        """File, line and column of an entry, or of the nearest one around it."""
        line, column = self.places.get(_nearest(self.places, path), (1, 1))
        return f"{self.file}:{line}:{column}"

    def lines(self, *keys: str) -> dict[str, int]:
        """The lines of those keys that it has."""
        return {key: self.places[key,][0] for key in keys if (key,) in self.places}


def read_head(text: str, file: str, model: type[Model], comment: str) -> Head[Model]:
    """The YAML of the lines that begin with a comment's sign and `+`.

    Args:
        text: the whole text.
        file: its name, for errors.
        model: the keys.
        comment: the sign, `#` or `%`.

    Raises:
        ConfigurationError: not YAML, not a mapping, an unknown key or a wrong value; with its line.
    """
    mark = f"{comment}+"
    source = head_yaml(text, comment)
    hint = f"Write {mark} key: value."
    try:
        keys, node = read_yaml(source)
    except YamlError as error:
        what = f"the front matter is not YAML: {error.problem}"
        raise ConfigurationError(what, f"{file}:{error.line}", hint) from error
    places: dict[Path, tuple[int, int]] = {}
    if node is None:
        keys = {}
    elif not isinstance(node, yaml.MappingNode) or not isinstance(keys, dict):
        where = f"{file}:{node.start_mark.line + 1}"
        raise ConfigurationError("the front matter has no keys", where, hint)
    else:
        lines = [*_head(text, comment)]
        for path, line, column in _entries(node, ()):
            if path in places:
                where = f"{file}:{places[path][0]}"
                raise ConfigurationError("the front matter has a key twice", where, "Delete one.")
            # The mark and a space after it are not part of the YAML.
            has_space = lines[line - 1].startswith(f"{mark} ")
            places[path] = (line, column + len(mark) + has_space)
    try:
        return Head(model.model_validate(keys), places, file)
    except ValidationError as error:
        raise _invalid(error, file, model, places) from error


def _invalid(
    error: ValidationError,
    file: str,
    model: type[BaseModel],
    places: Mapping[Path, tuple[int, int]],
) -> ConfigurationError:
    return first_of(_mistake(detail, file, model, places) for detail in error.errors())


def _mistake(
    error: ErrorDetails,
    file: str,
    model: type[BaseModel],
    places: Mapping[Path, tuple[int, int]],
) -> ConfigurationError:
    path = _nearest(places, tuple(map(str, error["loc"])))
    key = ".".join(path) or str(error["loc"][0])
    line, column = places.get(path, (1, 1))
    if error["type"] == "extra_forbidden":
        *above, last = error["loc"]
        keys = keys_at(model, above)
        hint = f"{meant(str(last), keys)}The keys are {', '.join(keys)}."
        what = f"unknown key {key}"
    else:
        named = ".".join(map(str, error["loc"])) if error["type"] == "missing" else key
        what = f"{named}: {reason(error)}"
        of = str(error["loc"][0])
        meaning = model.model_fields[of].description if of in model.model_fields else None
        hint = f"`{of}`: {meaning}." if meaning else ""
    mistake = ConfigurationError(what, f"{file}:{line}", hint)
    mistake.column = column
    return mistake


def _nearest(places: Mapping[Path, tuple[int, int]], path: Path) -> Path:
    """An entry, or the nearest one around it that has a place; empty if none has."""
    while path and path not in places:
        path = path[:-1]
    return path


def _entries(node: yaml.Node, path: Path) -> Iterator[tuple[Path, int, int]]:
    """The path, line and column of each entry below a node, from 1 in the YAML."""
    match node:
        case yaml.MappingNode():
            for key, value in node.value:
                if isinstance(key, yaml.ScalarNode):
                    below = (*path, key.value)
                    yield below, key.start_mark.line + 1, key.start_mark.column + 1
                    yield from _entries(value, below)
        case yaml.SequenceNode():
            for i, value in enumerate(node.value):
                below = (*path, str(i))
                yield below, value.start_mark.line + 1, value.start_mark.column + 1
                yield from _entries(value, below)


def head_yaml(text: str, comment: str) -> str:
    """The YAML in the head of a text whose comments begin with a sign."""
    # Line i of the YAML is line i of the file, so that YAML's marks are the file's.
    mark = f"{comment}+"
    lines = [
        line.removeprefix(mark) if line.startswith(mark) else "" for line in _head(text, comment)
    ]
    return "\n".join(line.removeprefix(" ") for line in lines)


def _head(text: str, comment: str) -> Iterator[str]:
    """The lines before the first that is neither blank nor a comment."""
    for line in re.split(r"\r\n|\r|\n", text):
        if line.strip() and not line.lstrip().startswith(comment):
            return
        yield line
