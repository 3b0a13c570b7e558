"""The front matter of a query file: YAML in `#+` lines at the head of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from jobs.errors import ConfigurationError

_MARK = "#+"


class FrontMatter(BaseModel):
    """What the `#+` lines of a query file may say."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    description: str = Field("", description="what the query is for, one sentence")
    owner: str = Field("", description="who to ask about it")
    tags: tuple[str, ...] = Field((), description="words to find it by")
    default_graph: Literal["union", "default"] = Field(
        "union",
        description="what patterns without FROM read: all graphs merged, or the unnamed one",
    )
    history: Literal["current", "full"] = Field(
        "current", description="on first registration: the current answer, or one delta per epoch"
    )
    max_rows: int | None = Field(None, ge=1, description="more rows in the answer fail validation")
    allow_product: bool = Field(False, description="permit a product of large components")


def read_front_matter(text: str, file: str) -> FrontMatter:
    """The YAML of the `#+` lines at the head of a query text.

    Raises:
        ConfigurationError: not YAML, not a mapping, an unknown key or a wrong value; with its line.
    """
    # Line i of the YAML is line i of the file, so that YAML's marks are the file's.
    lines = [line.removeprefix(_MARK) if line.startswith(_MARK) else "" for line in _head(text)]
    source = "\n".join(line.removeprefix(" ") for line in lines)
    try:
        node = yaml.compose(source, Loader=yaml.SafeLoader)
        found = yaml.safe_load(source)
    except yaml.YAMLError as error:
        mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
        line = mark.line + 1 if mark else 1
        raise ConfigurationError(
            f"the front matter is not YAML: {_first_line(error)}",
            f"{file}:{line}",
            "Write #+ key: value.",
        ) from error
    if node is None:
        return FrontMatter()
    if not isinstance(node, yaml.MappingNode) or not isinstance(found, dict):
        raise ConfigurationError(
            "the front matter has no keys",
            f"{file}:{node.start_mark.line + 1}",
            "Write #+ key: value.",
        )
    keys = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
    places = {key.value: key.start_mark.line + 1 for key in keys}
    if len(places) < len(keys):
        raise ConfigurationError("the front matter has a key twice", f"{file}:1", "Delete one.")
    try:
        return FrontMatter.model_validate(found)
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][0])
        known = ", ".join(FrontMatter.model_fields)
        what = (
            f"unknown key {key}" if first["type"] == "extra_forbidden" else f"{key}: {first['msg']}"
        )
        raise ConfigurationError(
            what, f"{file}:{places.get(key, 1)}", f"The keys are {known}."
        ) from error


def _first_line(error: yaml.YAMLError) -> str:
    problem = error.problem if isinstance(error, yaml.MarkedYAMLError) else None
    return problem or str(error).partition("\n")[0]


def _head(text: str) -> Iterator[str]:
    """The lines before the first that is neither blank nor a comment."""
    for line in re.split(r"\r\n|\r|\n", text):
        if line.strip() and not line.lstrip().startswith("#"):
            return
        yield line
