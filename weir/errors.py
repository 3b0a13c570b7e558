"""Errors that say what went wrong, where, and what to do next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from weir.text.printable import escaped

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_QUALITY = 3
EXIT_BUSY = 4
EXIT_NOTHING_TO_DO = 99
"""Of programs that Airflow asks whether there is work: it then skips the dependent tasks."""


class WeirError(Exception):
    """An error that the person who runs Weir can act on.

    Its texts are one line each. Line feeds in them, as in names of files, are escaped: they would
    look like further lines of the message.

    Args:
        what: what went wrong, one sentence.
        where: `file:line:column`, a table, a query; empty if nowhere in particular.
        hint: what to do next.
        parts: lines below `what`, if it concerns several queries, sources or tables.
        done: the result of the stage, if the rest of its work is done.
    """

    exit_code = EXIT_FAILED

    def __init__(
        self,
        what: str,
        where: str = "",
        hint: str = "",
        *,
        parts: Iterable[str] = (),
        done: object = None,
    ) -> None:
        self.what, self.where, self.hint = map(escaped, (what, where, hint))
        self.parts, self.done = tuple(map(escaped, parts)), done
        super().__init__(str(self))

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        if self.parts:
            below = "".join(f"\n  {part}" for part in self.parts)
            return f"{place}{self.what}{below}" + (f"\n{self.hint}" if self.hint else "")
        if not self.hint:
            return f"{place}{self.what}"
        stop = "" if self.what.endswith((".", "!", "?", ":")) else "."
        return f"{place}{self.what}{stop} {self.hint}"

    def lines(self) -> Iterator[str]:
        """The printed lines: what, its parts, where, and the hint; empty ones are left out."""
        yield f"error: {self.what}"
        for part in self.parts:
            yield f"  {part}"
        for label, text in (("where", self.where), ("next", self.hint)):
            if text:
                yield f"{label}: {text}"


def listed(reasons: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Lines `names: reason` from (name, reason); names with the same reason share a line."""
    names: defaultdict[str, list[str]] = defaultdict(list)
    for name, reason in reasons:
        names[reason].append(name)
    return tuple(f"{', '.join(sharing)}: {reason}" for reason, sharing in names.items())


def causes(errors: Sequence[Exception]) -> BaseException | None:
    """The cause of an error about several queries: with it, --debug shows why each failed."""
    return ExceptionGroup("why each failed", errors) if errors else None


class ConfigurationError(WeirError):
    """A file that the user writes (configuration, sources, query) cannot be used.

    Attributes:
        others: the further mistakes of the same file, as far as they were looked for.
        column: of the place, from 1, if `where` ends with the line; 0 if it is not known.
    """

    exit_code = EXIT_USAGE
    others: tuple[ConfigurationError, ...] = ()
    column: int = 0


def first_of(mistakes: Iterable[ConfigurationError]) -> ConfigurationError:
    """The first of some mistakes; those after it, and what came with them, are its `others`."""
    first, *others = (one for mistake in mistakes for one in (mistake, *mistake.others))
    first.others = tuple(others)
    return first


class QualityError(WeirError):
    """A data-quality check failed; nothing was published."""

    exit_code = EXIT_QUALITY


class BusyError(WeirError):
    """Another run of the same job is in progress."""

    exit_code = EXIT_BUSY


def worst_of(errors: Sequence[WeirError]) -> WeirError:
    """The error to exit with: a failure if there is one, else a failed check, else a busy job.

    A busy job comes last because the other run ends by itself.
    """
    return min(
        errors, key=lambda error: (error.exit_code == EXIT_BUSY, error.exit_code == EXIT_QUALITY)
    )
