"""The options of a policy as they stand in a file, with the errors that say what is wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeGuard, TypeVar

from weir.errors import ConfigurationError

T = TypeVar("T", bound=str)


class PolicyError(ConfigurationError):
    """A policy that cannot be read.

    Attributes:
        option: the option that is wrong; empty: the name of the policy.
    """

    def __init__(self, option: str, what: str, hint: str) -> None:
        self.option = option
        super().__init__(what, hint=hint)


class Options:
    """The options of a policy; remembers which of them have a meaning."""

    def __init__(self, policy: str, options: Mapping[str, object]) -> None:
        self._policy, self._options = policy, options
        self._known: list[str] = []

    def value(self, name: str) -> object:
        if name not in self._known:
            self._known.append(name)
        return self._options.get(name)

    def number(
        self,
        name: str,
        default: float | None,
        low: float,
        high: float,
        otherwise: str = "",
        *,
        above: bool = False,
    ) -> float:
        value = self.value(name)
        if value is None and default is not None:
            return default
        span = f"from {low} to {high}" if math.isfinite(high) else f"{'>' if above else '>='} {low}"
        if value is None:
            hint = f"Add `{name}`, a number {span}."
            raise PolicyError(name, f"{self._policy} needs {name}", hint)
        if not _is_number(value) or not low <= value <= high or (above and value == low):
            raise self._wrong(name, value, f"a number {span}{otherwise}")
        return float(value)

    def whole(self, name: str, default: int) -> int:
        value = self.value(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self._wrong(name, value, "a whole number >= 0")
        return value

    def flag(self, name: str, default: bool) -> bool:
        value = self.value(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self._wrong(name, value, "true or false")
        return value

    def choice(self, name: str, choices: tuple[T, ...]) -> T:
        """The first of the choices by default."""
        value = self.value(name)
        if value is None:
            return choices[0]
        if value not in choices:
            raise self._wrong(name, value, " or ".join(sorted(choices)))
        return value

    def numbers(self, name: str, default: tuple[float, ...]) -> tuple[float, ...]:
        value = self.value(name)
        if value is None:
            return default
        listed = list(value) if isinstance(value, list | tuple) else []
        numbers = [float(number) for number in listed if _is_number(number) and 0 <= number <= 1]
        if len(numbers) < 2 or len(numbers) < len(listed):
            raise self._wrong(name, value, "a list of at least two numbers from 0 to 1")
        return tuple(numbers)

    def weights(self, names: Sequence[str]) -> dict[str, float]:
        value = self.value("weights")
        if value is None:
            return dict.fromkeys(names, 1.0)
        if not isinstance(value, Mapping) or set(value) != set(names):
            raise self._wrong("weights", value, f"a number for each of {', '.join(names)}")
        numbers = list(value.values())
        if not all(_is_number(number) and 0 <= number < math.inf for number in numbers) or not any(
            numbers
        ):
            raise self._wrong("weights", value, "numbers >= 0, one of them positive")
        return {name: float(value[name]) for name in names}

    def refuse_others(self) -> None:
        """Refuse options that have no meaning for the policy."""
        for name in self._options:
            if name not in self._known:
                raise PolicyError(
                    name,
                    f"{self._policy} has no option {name!r}",
                    f"Its options are {', '.join(sorted(self._known))}.",
                )

    def _wrong(self, name: str, value: object, right: str) -> PolicyError:
        return PolicyError(name, f"{name} is {value!r}", f"Write {right}.")


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value
