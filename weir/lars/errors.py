"""Errors of the texts of programs, each with its place."""

from __future__ import annotations

from weir.errors import ConfigurationError
from weir.lars.syntax import Place


class ProgramError(ConfigurationError):
    """A program that cannot be registered.

    Args:
        what: the construct as written (`p(X,Y)`, `not alarm`).
        file: name of the file.
        place: where the construct begins.
        reason: why not, a clause.
        hint: what to write or do instead, a sentence.
    """

    def __init__(self, what: str, file: str, place: Place, reason: str, hint: str = "") -> None:
        self.construct, self.file, self.place, self.reason = what, file, place, reason
        super().__init__(f"{what}: {reason}.", f"{file}:{place}", hint)


class ProgramSyntaxError(ProgramError):
    """The text is not a program."""


class UnsupportedProgram(ProgramError):  # noqa: N818  the name says what happened
    """The text is a program without a unique meaning, or beyond what Weir can maintain."""
