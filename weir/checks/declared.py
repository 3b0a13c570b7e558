"""Reads checks: in files `expectations/*.yml`, and in the front matter of definitions."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from weir.checks.arguments import EXPECTATIONS, Arguments
from weir.errors import ConfigurationError, first_of
from weir.files.wrong_values import hint, reason
from weir.files.yaml_file import YamlFile
from weir.files.yaml_text import value_beside_mistake
from weir.text.near import meant

Path_ = tuple[str | int, ...]
Severity = Literal["error", "warn"]
SUITE = "checks"
"""The suite of such checks in `quality`: the table is `checks/<answer>`."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def _is_name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError("a name has letters, digits and _, and begins with a letter")
    return text


def _names(value: object) -> object:
    return (value,) if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_names), Field(min_length=1)]
"""One name, or several."""


class Entry(BaseModel):
    """A check as it is written: `type` and `kwargs` as in a suite of Great Expectations."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: str
    kwargs: dict[str, Any] = {}
    name: Annotated[str, AfterValidator(_is_name)] | None = None
    severity: Severity = "error"
    description: str = ""


class _Suite(BaseModel):
    """A file of checks."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    answers: Names
    expectations: tuple[Entry, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Check:
    """A check of an answer.

    Attributes:
        name: unique for the answer.
        type: the name of the expectation.
        arguments: of the expectation.
        severity: whether the answer is held if it fails.
        description: why it is there, or empty.
        place: file and line, the file with its folder.
        place_of_arguments: `file:line:column` of the first argument.
    """

    name: str
    type: str
    arguments: Arguments
    severity: Severity
    description: str
    place: str
    place_of_arguments: str

    @property
    def fingerprint(self) -> str:
        """Equal for checks of the same expectation with the same arguments."""
        text = f"{self.type} {self.arguments!r}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class AnswerChecks:
    """The checks of an answer.

    Attributes:
        checks: those that can be understood.
        mistakes: what is wrong with others, or with their file; they hold the answer.
    """

    checks: tuple[Check, ...] = ()
    mistakes: tuple[ConfigurationError, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Equal for the same rules and severities; places and descriptions do not matter."""
        said = [f"{check.name} {check.severity} {check.fingerprint}" for check in self.checks]
        said += map(str, self.mistakes)
        return hashlib.sha256("\n".join(sorted(said)).encode()).hexdigest()[:16]


class Suite:
    """The checks of a file, as far as it can be understood.

    Attributes:
        mistakes: what is wrong with the file as a whole, and wrong keys and values.
        answers: which answers it is about, each with its place; also if the file is not YAML
            elsewhere.
    """

    def __init__(self, file: Path, text: str) -> None:
        self.mistakes: list[ConfigurationError] = []
        try:
            self._yaml = yaml = YamlFile.of(file, text)
        except ConfigurationError as error:
            self.mistakes.append(error)
            beside = {"answers": value_beside_mistake(text, "answers")}
            self._yaml = yaml = YamlFile(file, beside, None)
        else:
            try:
                yaml.validated(_Suite)
            except ConfigurationError as error:
                self.mistakes.append(error)
        content = yaml.content if isinstance(yaml.content, dict) else {}
        answers, entries = content.get("answers"), content.get("expectations")
        if isinstance(answers, list):
            places = [yaml.place(["answers", i]) for i in range(len(answers))]
            named = [*zip(answers, places, strict=True)]
        else:
            named = [(answers, yaml.place(["answers"]))]
        self.answers = [(name, place) for name, place in named if isinstance(name, str)]
        self._entries = {
            i: entry
            for i, said in enumerate(entries if isinstance(entries, list) else ())
            if (entry := _entry(said)) is not None
        }

    def read(self, columns: Collection[str] | None) -> tuple[list[Check], list[ConfigurationError]]:
        """The checks of an answer with some columns, None for any, and what is wrong with others.

        Wrong keys are `mistakes` of the file.
        """
        return _read(self._entries, lambda at: self._yaml.place(["expectations", *at]), columns)


def _entry(said: object) -> Entry | None:
    try:
        return Entry.model_validate(said)
    except ValidationError:
        return None


def checks_of(
    entries: Sequence[Entry],
    place: Callable[[Path_], str],
    columns: Collection[str] | None,
) -> tuple[Check, ...]:
    """The checks that some entries declare.

    Args:
        entries: in their order.
        place: `file:line:column` of a path below the list.
        columns: of the answer; None if they are not known.

    Raises:
        ConfigurationError: the first mistake; the further ones are its `others`.
    """
    checks, mistakes = _read(dict(enumerate(entries)), place, columns)
    if mistakes:
        raise first_of(mistakes)
    return tuple(checks)


def _read(
    entries: Mapping[int, Entry], place: Callable[[Path_], str], columns: Collection[str] | None
) -> tuple[list[Check], list[ConfigurationError]]:
    checks, mistakes = list[Check](), list[ConfigurationError]()
    for i, entry in entries.items():
        try:
            checks.append(_check(entry, i, place, columns))
        except ConfigurationError as error:
            mistakes.append(error)
    return checks, mistakes


def _check(
    entry: Entry, i: int, place: Callable[[Path_], str], columns: Collection[str] | None
) -> Check:
    model = EXPECTATIONS.get(entry.type)
    if model is None:
        what = f"there is no expectation {entry.type}"
        hint_ = f"{meant(entry.type, EXPECTATIONS)}There are {', '.join(EXPECTATIONS)}."
        raise ConfigurationError(what, place((i, "type")), hint_)
    try:
        arguments = model.model_validate(entry.kwargs)
    except ValidationError as error:
        raise first_of(_mistakes(error, i, place, model)) from None
    if columns is not None:
        wrong = [
            no_column(name, columns, place((i, "kwargs", *path)))
            for path, name in arguments.columns.items()
            if name not in columns
        ]
        if wrong:
            raise first_of(wrong)
    name = entry.name or "_".join(filter(None, (entry.type, _as_name(arguments.label))))
    at = _shown(place((i, "type")))
    own = place((i, "kwargs", *type(arguments).model_fields))
    return Check(name, entry.type, arguments, entry.severity, entry.description, at, own)


def no_column(name: str, columns: Collection[str], place: str) -> ConfigurationError:
    """What is wrong with a name that should be that of a column of an answer."""
    hint_ = f"{meant(name, columns)}Its columns are {', '.join(columns)}."
    return ConfigurationError(f"the answer has no column {name}", place, hint_)


def _shown(place: str) -> str:
    """A place without its column, and with the last folder alone, as that of `max_rows` is."""
    return "/".join(Path(place.rpartition(":")[0]).parts[-2:])


def _as_name(label: str) -> str:
    return re.sub(r"\W", "_", label, flags=re.ASCII)


def _mistakes(
    error: ValidationError, i: int, place: Callable[[Path_], str], model: type[Arguments]
) -> Iterator[ConfigurationError]:
    errors = error.errors()
    unknown = {detail["loc"][:-1] for detail in errors if detail["type"] == "extra_forbidden"}
    for detail in errors:
        path = detail["loc"]
        # A misspelt argument is also a missing one.
        if detail["type"] == "missing" and path[:-1] in unknown:
            continue
        key = ".".join(str(part) for part in path) or "kwargs"
        what = f"{key}: {reason(detail)}"
        if detail["type"] == "extra_forbidden":
            what = f"unknown argument {key}"
        said = hint(detail, errors, model).replace("The keys are", "The arguments are")
        yield ConfigurationError(what, place((i, "kwargs", *path)), said)


def require_distinct_names(checks: Sequence[Check]) -> None:
    """Check that the checks of an answer have different names.

    Raises:
        ConfigurationError: two have the same name; with the place of the second.
    """
    names, mistakes = dict[str, Check](), list[ConfigurationError]()
    for check in checks:
        other = names.setdefault(check.name, check)
        if other is not check:
            what = f"another check of the answer is called {check.name}, too"
            hint_ = f"Give one of them another `name`; the other is at {other.place}."
            mistakes.append(ConfigurationError(what, check.place, hint_))
    if mistakes:
        raise first_of(mistakes)
