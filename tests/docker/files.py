"""The Dockerfile and the compose file as values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
DOCKER = ROOT / "docker"
_VARIABLE = re.compile(r"\$\{\w+:-([^}]*)\}")


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction of a Dockerfile; its argument on one line."""

    keyword: str
    argument: str


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a Dockerfile; the last one, without a name, is the image."""

    name: str
    base: str
    instructions: tuple[Instruction, ...]

    def arguments(self, keyword: str) -> list[str]:
        """The arguments of all instructions with a keyword."""
        return [
            instruction.argument
            for instruction in self.instructions
            if instruction.keyword == keyword
        ]

    def copied(self) -> list[str]:
        """What is copied from the repository, without the targets."""
        copies = (argument.split() for argument in self.arguments("COPY"))
        return [path for words in copies if not words[0].startswith("--") for path in words[:-1]]


def stages() -> tuple[list[Instruction], list[Stage]]:
    """The instructions before the first stage, and the stages of the Dockerfile."""
    before: list[Instruction] = []
    parts: list[tuple[str, list[Instruction]]] = []
    for instruction in _instructions((DOCKER / "Dockerfile").read_text()):
        if instruction.keyword == "FROM":
            parts.append((instruction.argument, []))
        else:
            (parts[-1][1] if parts else before).append(instruction)
    built = []
    for argument, instructions in parts:
        base, _, name = argument.partition(" AS ")
        built.append(Stage(name, base, tuple(instructions)))
    return before, built


def _instructions(text: str) -> Iterator[Instruction]:
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    for line in re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines():
        keyword, _, argument = line.partition(" ")
        yield Instruction(keyword, argument)


@cache
def compose() -> dict[str, Any]:
    """The compose file with the defaults of its variables."""
    loaded: dict[str, Any] = _interpolated(yaml.safe_load((DOCKER / "compose.yaml").read_text()))
    return loaded


def _interpolated(value: Any) -> Any:
    match value:
        case str():
            return _VARIABLE.sub(r"\1", value)
        case dict():
            return {key: _interpolated(part) for key, part in value.items()}
        case list():
            return [_interpolated(part) for part in value]
        case _:
            return value


def services() -> dict[str, dict[str, Any]]:
    """The services by name."""
    by_name: dict[str, dict[str, Any]] = compose()["services"]
    return by_name


def ends_by_itself(service: dict[str, Any]) -> bool:
    """Whether a service runs once, instead of all the time."""
    return bool(service["restart"] == "no")


def texts(value: object) -> Iterator[str]:
    """All strings in a value of YAML."""
    match value:
        case str():
            yield value
        case dict():
            for key, part in value.items():
                yield from texts(key)
                yield from texts(part)
        case list():
            for part in value:
                yield from texts(part)
        case _:
            pass
