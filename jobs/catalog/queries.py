"""The registered queries: `queries/*.rq`, SPARQL with a `#+` YAML front matter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from jobs.errors import ConfigurationError
from jobs.sparql.algebra.queries import Query, Select
from jobs.sparql.frontend.lexer import tokenize
from jobs.sparql.frontend.translate import translate
from lake.tables import ANSWER_COLUMNS, RESERVED_NAMES

_NAME = re.compile("[a-z][a-z0-9_]{0,62}")
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


@dataclass(frozen=True, slots=True)
class RegisteredQuery:
    """A query that Weir maintains."""

    name: str
    file: Path
    text: str
    front_matter: FrontMatter
    query: Query


@dataclass(frozen=True, slots=True)
class Registry:
    """What a folder of query files holds: usable queries by name, what is wrong with the others."""

    queries: tuple[RegisteredQuery, ...]
    errors: tuple[ConfigurationError, ...]


def load_registry(folder: Path) -> Registry:
    """Read every `*.rq` of `folder`; one bad file does not hide the others.

    Raises:
        ConfigurationError: the folder is not there.
    """
    if not folder.is_dir():
        raise ConfigurationError(
            "the folder of queries is not there", str(folder), "Create it, or set `queries`."
        )
    queries: list[RegisteredQuery] = []
    errors: list[ConfigurationError] = []
    # Editors keep hidden files beside the one that is open.
    for file in sorted(f for f in folder.glob("*.rq") if not f.name.startswith(".")):
        try:
            queries.append(load_query(file))
        except ConfigurationError as error:
            errors.append(error)
    return Registry(tuple(queries), tuple(errors))


def load_query(file: Path) -> RegisteredQuery:
    """Read one query file.

    Raises:
        ConfigurationError: the first thing that is wrong with name, front matter or query.
    """
    if not _NAME.fullmatch(file.stem):
        raise ConfigurationError(
            f"{file.stem!r} cannot be the name of a query",
            str(file),
            "Rename the file: a lower-case letter, then up to 62 lower-case letters, digits and _.",
        )
    if file.stem in RESERVED_NAMES:
        raise ConfigurationError(
            f"{file.stem!r} is the name of a table and cannot be that of a query",
            str(file),
            f"Rename the file; taken are {', '.join(sorted(RESERVED_NAMES))}.",
        )
    try:
        # Line ends stay as they are: they may be part of a string.
        text = file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            f"byte {error.start} is not UTF-8", str(file), "Save the file as UTF-8."
        ) from error
    except OSError as error:
        raise ConfigurationError(
            f"it cannot be read: {error.strerror}", str(file), "It has to be a readable file."
        ) from error
    front_matter = read_front_matter(text, str(file))
    query = translate(text, front_matter.default_graph, str(file))
    _check_columns(query, text, str(file))
    return RegisteredQuery(file.stem, file, text, front_matter, query)


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


def _check_columns(query: Query, text: str, file: str) -> None:
    """No two columns of the answer table may have the same name, case aside."""
    if not isinstance(query.form, Select):
        return
    taken = {name: f"the column {name} of every answer table" for name in ANSWER_COLUMNS}
    for name in query.form.variables:
        lower = name.lower()
        if lower in taken:
            raise ConfigurationError(
                f"the variable ?{name} would be named like {taken[lower]}",
                f"{file}:{_place(name, text)}",
                "Rename the variable.",
            )
        taken[lower] = f"?{name}"
    for name in query.form.variables:
        # Views give the exact term of ?x in a column x_term.
        if f"{name.lower()}_term" in taken:
            raise ConfigurationError(
                f"the variable ?{name}_term would be named like the exact term of ?{name}",
                f"{file}:{_place(name, text)}",
                "Rename one of them.",
            )


def _place(name: str, text: str) -> str:
    token = next(t for t in tokenize(text) if t.kind == "variable" and t.text[1:] == name)
    return f"{token.line}:{token.column}"
