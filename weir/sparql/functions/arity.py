"""How many arguments a function takes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Arity:
    """From `least` to `most` arguments; `most` None: any number."""

    least: int
    most: int | None

    def accepts(self, count: int) -> bool:
        """Whether a call may have `count` arguments."""
        return self.least <= count and (self.most is None or count <= self.most)


def exactly(count: int) -> Arity:
    """The arity of a function with `count` arguments."""
    return Arity(count, count)
