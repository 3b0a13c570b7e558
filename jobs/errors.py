"""Errors that say what went wrong, where, and what to do next."""

from __future__ import annotations

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_QUALITY = 3
EXIT_BUSY = 4


class WeirError(Exception):
    """Something that the person who runs Weir can act on.

    Args:
        what: what went wrong, one sentence.
        where: `file:line:column`, a table, a query; empty if nowhere in particular.
        hint: what to do next.
    """

    exit_code = EXIT_FAILED

    def __init__(self, what: str, where: str = "", hint: str = "") -> None:
        self.what, self.where, self.hint = what, where, hint
        super().__init__(str(self))

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        if not self.hint:
            return f"{place}{self.what}"
        stop = "" if self.what.endswith((".", "!", "?", ":")) else "."
        return f"{place}{self.what}{stop} {self.hint}"


class ConfigurationError(WeirError):
    """A file that the user writes (configuration, sources, query) cannot be used."""

    exit_code = EXIT_USAGE


class QualityError(WeirError):
    """A data-quality check failed; nothing was published."""

    exit_code = EXIT_QUALITY


class BusyError(WeirError):
    """Another run of the same job is in progress."""

    exit_code = EXIT_BUSY
