"""Describes errors of declared values in words: what is wrong, and which keys are possible."""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from weir.text.near import meant

_SHOWN = 40
"""A longer value is not repeated in an error."""
_NOUNS = {
    "int": "a whole number",
    "float": "a number",
    "decimal": "a number",
    "bool": "true or false",
    "string": "a text: put it in quotes",
    "list": "a list",
    "tuple": "a list",
    "set": "a list",
    "frozen_set": "a list",
    "dict": "a mapping of keys to values",
    "mapping": "a mapping of keys to values",
    "model": "a mapping of keys to values",
    "date": "a date",
    "datetime": "a time",
    "url": "an address",
    "path": "a path",
}
"""The expected value, by the prefix of pydantic's error types (`int_parsing`, `list_type`)."""
_BOUNDS = {
    "greater_than": ("more than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"),
    "less_than_equal": ("at most", "le"),
}


def reason(error: ErrorDetails, *, is_secret: bool = False) -> str:
    """What is wrong with a value, without its key.

    Args:
        error: of pydantic.
        is_secret: whether the value must not be repeated.
    """
    kind, context = error["type"], error.get("ctx", {})
    shown = "" if is_secret else _shown(error.get("input"))
    match kind:
        case "missing" | "union_tag_not_found":
            return "it is missing"
        case "extra_forbidden":
            return "unknown key"
        case "invalid_key":
            return "a key is a text: put it in quotes"
        case "value_error":
            return str(context["error"])
        case "literal_error" | "enum":
            return f"{shown} is none of {_choices(str(context['expected']))}"
        case "union_tag_invalid":
            known = _choices(str(context["expected_tags"]))
            return f"{context['tag']!r} is none of {known}"
        case "too_short" | "string_too_short":
            return "it is empty" if context.get("min_length") == 1 else "it is too short"
        case "finite_number":
            return "it is not finite"
        case _ if error.get("input", kind) is None and not is_secret:
            return "it is empty"
        case _ if kind in _BOUNDS:
            word, bound = _BOUNDS[kind]
            number = context[bound]
            is_whole = isinstance(number, float) and number.is_integer()
            return f"it must be {word} {int(number) if is_whole else number:,}"
        case _:
            prefixes = [prefix for prefix in _NOUNS if kind.startswith(f"{prefix}_")]
            if prefixes:
                return f"{shown or 'it'} is not {_NOUNS[max(prefixes, key=len)]}"
            return error["msg"].removeprefix("Value error, ").lower()


def hint(error: ErrorDetails, errors: Sequence[ErrorDetails], model: Any) -> str:
    """What to do about an unknown key or kind, or a missing key; empty for other errors.

    Args:
        error: that is described.
        errors: all errors of the file.
        model: the type of the file's content.
    """
    match error:
        case {"type": "union_tag_invalid", "ctx": {"tag": tag, "expected_tags": tags}}:
            return meant(str(tag), _tags(str(tags))).strip()
        case {"type": "union_tag_not_found", "loc": path}:
            return f"Write one of {', '.join(_kinds_at(model, path))}."
        case {"type": "extra_forbidden" | "missing", "loc": (*above, key)}:
            keys = keys_at(model, above)
            if not keys:
                return ""
            missing = [
                str(other["loc"][-1])
                for other in errors
                if other["type"] == "missing" and [*other["loc"][:-1]] == above
            ]
            lacking = f" Missing: {', '.join(missing)}." if missing else ""
            question = meant(str(key), keys) if error["type"] == "extra_forbidden" else ""
            return f"{question}The keys are {', '.join(keys)}.{lacking}"
        case _:
            return ""


def _shown(value: object) -> str:
    if isinstance(value, str | int | float | bool) and len(str(value)) <= _SHOWN:
        return repr(value) if isinstance(value, str) else str(value).lower()
    return ""


def _tags(expected: str) -> list[str]:
    return [part.strip().strip("'") for part in expected.replace(" or ", ", ").split(",")]


def _choices(expected: str) -> str:
    return ", ".join(_tags(expected))


def key_of(error: ErrorDetails) -> Sequence[int | str]:
    """The path to the wrong key; for an entry without a known kind, its key `kind`."""
    if error["type"] in ("union_tag_invalid", "union_tag_not_found"):
        return (*error["loc"], "kind")
    return error["loc"]


def _kinds_at(model: Any, path: Sequence[int | str]) -> Iterator[str]:
    """The kinds of entries that may be at a path."""
    for annotation in _at(model, path):
        for entry in _models(annotation):
            yield from get_args(entry.model_fields["kind"].annotation)


def keys_at(model: Any, path: Sequence[int | str]) -> list[str]:
    """The keys of the mapping at a path of pydantic; empty if there is no mapping."""
    models = [entry for annotation in _at(model, path) for entry in _models(annotation)]
    # If several fit, the first has the keys that they share.
    return [*models[0].model_fields] if models else []


def _at(model: Any, path: Sequence[int | str]) -> list[Any]:
    annotations = [model]
    for part in path:
        annotations = [below for annotation in annotations for below in _below(annotation, part)]
    return annotations


def _below(annotation: Any, part: int | str) -> Iterator[Any]:
    for alternative in _alternatives(annotation):
        if isinstance(alternative, type) and issubclass(alternative, BaseModel):
            field = alternative.model_fields.get(str(part))
            if field is not None:
                yield field.annotation
            elif _is_tagged(alternative, part):
                yield alternative
        elif get_origin(alternative) in (tuple, list) and isinstance(part, int):
            yield get_args(alternative)[0]


def _is_tagged(model: type[BaseModel], part: int | str) -> bool:
    kind = model.model_fields.get("kind")
    return kind is not None and part in get_args(kind.annotation)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    for alternative in _alternatives(annotation):
        if isinstance(alternative, type) and issubclass(alternative, BaseModel):
            yield alternative


def _alternatives(annotation: Any) -> Iterator[Any]:
    if get_origin(annotation) is Annotated:
        yield from _alternatives(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, types.UnionType):
        for argument in get_args(annotation):
            yield from _alternatives(argument)
    elif get_origin(annotation) is not Literal:
        yield annotation
