"""What is wrong with a declared value, in words: which keys there are, and which is meant."""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from weir.text.near import meant

_SHOWN = 40
"""So many characters of a value are repeated."""
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
"""By the begin of pydantic's kinds of errors (`int_parsing`, `list_type`), what was expected."""
_BOUNDS = {
    "greater_than": ("more than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"),
    "less_than_equal": ("at most", "le"),
}


def reason(error: ErrorDetails, *, is_secret: bool = False) -> str:
    """What is wrong, without the key.

    Args:
        error: what pydantic says.
        is_secret: whether the value is not to be repeated.
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
            begins = [each for each in _NOUNS if kind.startswith(f"{each}_")]
            if begins:
                return f"{shown or 'it'} is not {_NOUNS[max(begins, key=len)]}"
            return error["msg"].removeprefix("Value error, ").lower()


def hint(error: ErrorDetails, errors: Sequence[ErrorDetails], model: Any) -> str:
    """What to do about an unknown key or kind, or a missing key; empty of others.

    Args:
        error: what is said.
        errors: all that is wrong.
        model: what the file holds.
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
                str(each["loc"][-1])
                for each in errors
                if each["type"] == "missing" and [*each["loc"][:-1]] == above
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
    """The path to the key that is wrong; of an entry of no known kind that is `kind`."""
    if error["type"] in ("union_tag_invalid", "union_tag_not_found"):
        return (*error["loc"], "kind")
    return error["loc"]


def _kinds_at(model: Any, path: Sequence[int | str]) -> Iterator[str]:
    """The kinds of entries that may be at a path."""
    for each in _at(model, path):
        for own in _models(each):
            yield from get_args(own.model_fields["kind"].annotation)


def keys_at(model: Any, path: Sequence[int | str]) -> list[str]:
    """The keys of the mapping that a path of pydantic leads to; none if it leads to no mapping."""
    models = [own for each in _at(model, path) for own in _models(each)]
    # Where several fit, the first has what they share.
    return [*models[0].model_fields] if models else []


def _at(model: Any, path: Sequence[int | str]) -> list[Any]:
    found = [model]
    for part in path:
        found = [below for each in found for below in _below(each, part)]
    return found


def _below(annotation: Any, part: int | str) -> Iterator[Any]:
    for each in _alternatives(annotation):
        if isinstance(each, type) and issubclass(each, BaseModel):
            field = each.model_fields.get(str(part))
            if field is not None:
                yield field.annotation
            elif _is_tagged(each, part):
                yield each
        elif get_origin(each) in (tuple, list) and isinstance(part, int):
            yield get_args(each)[0]


def _is_tagged(model: type[BaseModel], part: int | str) -> bool:
    kind = model.model_fields.get("kind")
    return kind is not None and part in get_args(kind.annotation)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    for each in _alternatives(annotation):
        if isinstance(each, type) and issubclass(each, BaseModel):
            yield each


def _alternatives(annotation: Any) -> Iterator[Any]:
    if get_origin(annotation) is Annotated:
        yield from _alternatives(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, types.UnionType):
        for each in get_args(annotation):
            yield from _alternatives(each)
    elif get_origin(annotation) is not Literal:
        yield annotation
