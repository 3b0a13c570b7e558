"""Reads checks: in files `expectations/*.yml`, and in the front matter of definitions."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from weir.checks.arguments import EXPECTATIONS, Arguments, KeyPath, OfColumn
from weir.checks.values import Kind, key_as, kind_of
from weir.errors import ConfigurationError, first_of
from weir.files.wrong_values import hint, reason
from weir.files.yaml_file import YamlFile
from weir.files.yaml_text import value_beside_mistake
from weir.text.near import meant
from weir.typed.column_type import TermType

Severity = Literal["error", "warn"]
SUITE = "checks"
"""The suite of such checks in `quality`: the table is `checks/<answer>`."""
NO_PINS: Mapping[str, TermType] = MappingProxyType({})
"""The types of columns, where the definition names none, or is not known."""
_EXAMPLES: Mapping[Kind, str] = {
    "boolean": "true or false",
    "number": "a number, without quotes",
    "time": "a date, or a time, such as 2001-01-31 or 2001-01-31T12:00:00Z",
    "text": "a text",
}
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
        self._entries, self._partly = dict[int, Entry](), dict[int, Entry]()
        for i, said in enumerate(entries if isinstance(entries, list) else ()):
            try:
                self._entries[i] = Entry.model_validate(said)
            except ValidationError as error:
                if (entry := _without_mistakes(said, error)) is not None:
                    self._partly[i] = entry

    def read(
        self, columns: Collection[str] | None, pins: Mapping[str, TermType] = NO_PINS
    ) -> tuple[list[Check], list[ConfigurationError]]:
        """The checks of an answer, and what is wrong with others.

        Wrong keys are `mistakes` of the file; here is what else is wrong with an entry that has
        some.

        Args:
            columns: of the answer; None for any.
            pins: the types that its definition names, by column.
        """

        def place(at: KeyPath) -> str:
            return self._yaml.place(["expectations", *at])

        checks, mistakes = _read(self._entries, place, columns, pins)
        return checks, [*mistakes, *_read(self._partly, place, columns, pins)[1]]


def _without_mistakes(said: object, error: ValidationError) -> Entry | None:
    """An entry without its wrong keys; None if it does not say which expectation it is."""
    wrong = {detail["loc"][:1] for detail in error.errors()}
    if not isinstance(said, dict) or ("type",) in wrong or () in wrong:
        return None
    return Entry.model_validate({key: said[key] for key in said if (key,) not in wrong})


def checks_of(
    entries: Sequence[Entry],
    place: Callable[[KeyPath], str],
    columns: Collection[str] | None,
    pins: Mapping[str, TermType] = NO_PINS,
) -> tuple[Check, ...]:
    """The checks that some entries declare.

    Args:
        entries: in their order.
        place: `file:line:column` of a path below the list.
        columns: of the answer; None if they are not known.
        pins: the types that its definition names, by column.

    Raises:
        ConfigurationError: the first mistake; the further ones are its `others`.
    """
    checks, mistakes = _read(dict(enumerate(entries)), place, columns, pins)
    if mistakes:
        raise first_of(mistakes)
    return tuple(checks)


def _read(
    entries: Mapping[int, Entry],
    place: Callable[[KeyPath], str],
    columns: Collection[str] | None,
    pins: Mapping[str, TermType],
) -> tuple[list[Check], list[ConfigurationError]]:
    checks, mistakes = list[Check](), list[ConfigurationError]()
    for i, entry in entries.items():
        try:
            checks.append(_check(entry, i, place, columns, pins))
        except ConfigurationError as error:
            mistakes.append(error)
    return checks, mistakes


def _check(
    entry: Entry,
    i: int,
    place: Callable[[KeyPath], str],
    columns: Collection[str] | None,
    pins: Mapping[str, TermType],
) -> Check:
    model = EXPECTATIONS.get(entry.type)
    if model is None:
        what = f"there is no expectation {entry.type}"
        hint_ = f"{meant(entry.type, EXPECTATIONS)}There are {', '.join(EXPECTATIONS)}."
        raise ConfigurationError(what, place((i, "type")), hint_)

    def own(path: KeyPath) -> str:
        return place((i, "kwargs", *path))

    wrong = [
        no_column(name, columns, own(path))
        for path, name in model.columns_in(entry.kwargs).items()
        if columns is not None and name not in columns
    ]
    try:
        arguments = model.model_validate(entry.kwargs)
    except ValidationError as error:
        raise first_of([*_mistakes(error, own, model), *wrong]) from None
    wrong += _incomparable(arguments, own, pins)
    if wrong:
        raise first_of(wrong)
    name = entry.name or "_".join(filter(None, (entry.type, _as_name(arguments.label))))
    at = _shown(place((i, "type")))
    first = own((*model.model_fields,))
    return Check(name, entry.type, arguments, entry.severity, entry.description, at, first)


def _incomparable(
    arguments: Arguments, place: Callable[[KeyPath], str], pins: Mapping[str, TermType]
) -> Iterator[ConfigurationError]:
    """The arguments that no value of their column is compared with, as its type is pinned.

    A column that is pinned as a text may have values of any datatype, each compared as its own.
    """
    pin = pins.get(arguments.column) if isinstance(arguments, OfColumn) else None
    if pin is None or pin.name == "text":
        return
    kind = kind_of(pin.name)
    for path, value in arguments.compared.items():
        if key_as(value, kind) is None:
            shown = f"'{value}'" if isinstance(value, str) else str(value).lower()
            key = ".".join(map(str, path))
            what = f"{key}: {shown} is compared with no value of a column of type {pin}"
            hint_ = f"Write {_EXAMPLES[kind]}, or pin another type."
            yield ConfigurationError(what, place(path), hint_)


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
    error: ValidationError, place: Callable[[KeyPath], str], model: type[Arguments]
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
        yield ConfigurationError(what, place(path), said)


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
