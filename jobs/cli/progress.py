"""What a long stage is doing, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def silent(line: str) -> None:
    """Progress that nobody reads."""
    del line


@contextmanager
def progress(stage: str) -> Iterator[Callable[[str], None]]:
    """A function to tell what is going on: the newest line beside a spinner on standard error.

    Without a terminal it prints nothing.
    """
    if not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(f"{stage} ...")) as status:
        yield lambda line: status.update(Text(f"{stage}: {line}"))
