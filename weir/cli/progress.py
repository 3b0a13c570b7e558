"""Progress of commands on standard error, apart from their results."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from weir.text.printable import printable
from weir.text.step_lines import StepLines, reminding


@contextmanager
def progress(stage: str, *, announce: bool = True) -> Iterator[Callable[[str], None]]:
    """A function that receives the steps of a stage.

    A terminal shows the newest one beside a spinner. Elsewhere the stage has a line before it
    begins, and one whenever it goes on for long.

    Args:
        stage: its name.
        announce: whether it has the first of these lines.
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
    """Within the block, a line whenever a command without stages goes on for long."""
    with reminding(StepLines(command, _print, every_step=False)):
        yield


def _print(line: str) -> None:
    print(printable(line), file=sys.stderr, flush=True)
