"""Progress of a stage, shown on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from jobs.printable import printable


@contextmanager
def progress(stage: str) -> Iterator[Callable[[str], None]]:
    """A function that shows a line of progress beside a spinner on standard error.

    Without a terminal it prints nothing.
    """
    if not sys.stderr.isatty():
        from jobs.stage import silent

        yield silent
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(f"{stage} ...")) as status:
        yield lambda line: status.update(Text(printable(f"{stage}: {line}")))
