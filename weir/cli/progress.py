"""Prints the progress of commands on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from weir.text.printable import printable
from weir.text.step_lines import StepLines, reminding


@contextmanager
def progress(stage: str, *, announce: bool = True) -> Iterator[Callable[[str], None]]:
    """Gives a function that shows the steps of a stage.

    A terminal shows the newest step beside a spinner. Elsewhere a line is printed at the start of
    the stage, and from time to time while it takes long.

    Args:
        stage: its name.
        announce: whether the line at the start is printed.
    """
    if not sys.stderr.isatty():
        lines = StepLines(stage, _print, every_step=False)
        if announce:
            lines.announce()
        with reminding(lines):
            yield lines.begin
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(f"{stage} ...")) as status:
        yield lambda line: status.update(Text(printable(f"{stage}: {line}")))


@contextmanager
def still_at_work(command: str) -> Iterator[None]:
    """Within the block, print a line from time to time if a command without stages takes long."""
    with reminding(StepLines(command, _print, every_step=False)):
        yield


def _print(line: str) -> None:
    print(printable(line), file=sys.stderr, flush=True)
