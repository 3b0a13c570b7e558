"""A mutant: a single fault that the tests must detect."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A fault of one module: `replacement` in place of `original`.

    Attributes:
        name: what is wrong.
        module: a path below `package`, without its suffix.
        original: occurs once in the module.
        replacement: stands in its place.
        package: a folder of the project.
        tests: files of which one must fail; by default those of the area.
    """

    name: str
    module: str
    original: str
    replacement: str
    package: str = "weir"
    tests: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The file of the module, below the project."""
        return f"{self.package}/{self.module}.py"

    def apply(self, source: str) -> str:
        """The source of the module with the fault.

        Raises:
            ValueError: `original` does not occur exactly once.
        """
        if source.count(self.original) != 1:
            raise ValueError(
                f"{self.name}: {self.original!r} occurs {source.count(self.original)} times in "
                f"{self.path}; update it to the current code"
            )
        return source.replace(self.original, self.replacement)
