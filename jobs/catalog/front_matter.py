"""The front matter of a query file: YAML in `#+` lines at the head of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Literal

import yaml
from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from jobs.errors import ConfigurationError
from jobs.sparql.frontend.rspql.durations import parse_duration
from lake.instants import INSTANT_0, microseconds

_MARK = "#+"

WINDOW_KEYS = ("t0", "first", "bounds", "report", "corrects_back")
"""The keys that are for queries with windows."""


def _time(value: object) -> datetime:
    # Not a number, which pydantic would read as seconds or milliseconds.
    if isinstance(value, str):
        return datetime.fromisoformat(value)
    if isinstance(value, datetime):
        return value
    raise ValueError("write a time with its zone: 2026-01-01T00:00:00Z")


def _duration(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("write a duration: PT10M or 10m")
    parse_duration(value)
    return value


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
    t0: Annotated[AwareDatetime, BeforeValidator(_time)] = Field(
        INSTANT_0, description="with windows: where the grid of windows with a step begins"
    )
    first: Literal["full", "partial"] = Field(
        "full",
        description="with windows: `full`, or `partial`: those that begin before `t0` close, too",
    )
    bounds: Literal["[)", "(]"] = Field(
        "[)", description="with windows: which end of one with a step belongs to it, `[)` or `(]`"
    )
    report: Literal["close", "non_empty", "change"] = Field(
        "close",
        description="with windows: a stream reports at each `close`, where a window is "
        "`non_empty`, or on a `change` of its content",
    )
    corrects_back: Annotated[str, BeforeValidator(_duration)] = Field(
        "PT0S",
        description="with windows: how far back a change of the graph may correct the answer",
    )

    @property
    def t0_us(self) -> int:
        """Microseconds from 1970-01-01T00:00:00Z to `t0`."""
        return microseconds(self.t0)

    @property
    def corrects_back_us(self) -> int:
        """The microseconds of `corrects_back`."""
        return parse_duration(self.corrects_back)


def read_front_matter(text: str, file: str) -> FrontMatter:
    """The YAML of the `#+` lines at the head of a query text.

    Raises:
        ConfigurationError: not YAML, not a mapping, an unknown key or a wrong value; with its line.
    """
    source = _yaml(text)
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
    places = _places(node)
    if len(places) < sum(isinstance(key, yaml.ScalarNode) for key, _ in node.value):
        raise ConfigurationError("the front matter has a key twice", f"{file}:1", "Delete one.")
    try:
        return FrontMatter.model_validate(found)
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][0])
        known = ", ".join(FrontMatter.model_fields)
        message = first["msg"].removeprefix("Value error, ")
        what = f"unknown key {key}" if first["type"] == "extra_forbidden" else f"{key}: {message}"
        raise ConfigurationError(
            what, f"{file}:{places.get(key, 1)}", f"The keys are {known}."
        ) from error


def check_window_keys(front_matter: FrontMatter, text: str, file: str) -> None:
    """Refuse what the front matter of a query without windows says of windows.

    Raises:
        ConfigurationError: the first such key, with its line.
    """
    said = [key for key in WINDOW_KEYS if key in front_matter.model_fields_set]
    if said:
        line, key = min((_line_of(key, text), key) for key in said)
        raise ConfigurationError(
            f"{key} is for queries with windows, and this one has none",
            f"{file}:{line}",
            "Delete the line, or declare a window with FROM NAMED WINDOW.",
        )


def check_report(front_matter: FrontMatter, text: str, file: str) -> None:
    """Refuse the reports that are not maintained.

    Raises:
        ConfigurationError: `report` is not `close`; with its line.
    """
    if front_matter.report != "close":
        raise ConfigurationError(
            f"report: {front_matter.report} is not maintained, streams report at each close",
            f"{file}:{_line_of('report', text)}",
            "Delete the line.",
        )


def _line_of(key: str, text: str) -> int:
    """The line of a key of the front matter."""
    node = yaml.compose(_yaml(text), yaml.SafeLoader)
    assert isinstance(node, yaml.MappingNode), "the front matter has keys"
    return _places(node)[key]


def _yaml(text: str) -> str:
    # Line i of the YAML is line i of the file, so that YAML's marks are the file's.
    lines = [line.removeprefix(_MARK) if line.startswith(_MARK) else "" for line in _head(text)]
    return "\n".join(line.removeprefix(" ") for line in lines)


def _places(node: yaml.MappingNode) -> dict[str, int]:
    """The line of each key."""
    keys = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
    return {key.value: key.start_mark.line + 1 for key in keys}


def _first_line(error: yaml.YAMLError) -> str:
    problem = error.problem if isinstance(error, yaml.MarkedYAMLError) else None
    return problem or str(error).partition("\n")[0]


def _head(text: str) -> Iterator[str]:
    """The lines before the first that is neither blank nor a comment."""
    for line in re.split(r"\r\n|\r|\n", text):
        if line.strip() and not line.lstrip().startswith("#"):
            return
        yield line
