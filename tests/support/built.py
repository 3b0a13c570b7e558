"""Projects that tests begin with: built once in a module, and copied for each test.

Copying takes a hundredth of the time of the runs that the project has behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, Self, TypeAlias, TypeVar


class Copied(Protocol):
    """A project, or a lake with its project."""

    def copy(self, folder: Path) -> Self:
        """The same in another folder, which is not there yet."""


B = TypeVar("B", bound=Copied)
Build: TypeAlias = Callable[[Path], B]
"""Builds in a folder that is not there yet; what it gives is not to be changed."""


class AsBuilt(Protocol):
    """Gives a test a copy of what a function builds."""

    def __call__(self, build: Build[B], /) -> B: ...
