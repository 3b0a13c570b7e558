"""A mutant: a single fault that the tests must detect."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A fault of one module (a path below `jobs`): `replacement` in place of `original`."""

    name: str
    module: str
    original: str
    replacement: str

    def apply(self, source: str) -> str:
        """The source of the module with the fault.

        Raises:
            ValueError: `original` does not occur exactly once.
        """
        if source.count(self.original) != 1:
            raise ValueError(
                f"{self.name}: {self.original!r} occurs {source.count(self.original)} times in "
                f"{self.module}; update it to the current code"
            )
        return source.replace(self.original, self.replacement)
