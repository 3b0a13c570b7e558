"""Documents whose commands are run, and examples that also print what they show."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path

from setup.steps import ROOT

_MARK = "--- command"


def check_example(
    folder: Path,
    environment: Mapping[str, str],
    before_second: str = ":",
    page: str = "README.md",
) -> None:
    """Run the commands of the examples of a page, one after the other; compare what they print.

    Args:
        folder: where they are run; the first makes the project's folder in it.
        environment: its `PATH` has the command `weir`.
        before_second: a command that is run in the project's folder after the first of them.
        page: of the documentation.
    """
    text = (ROOT / page).read_text(encoding="utf-8")
    example = "".join(re.findall("^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    commands = [*map(_command, re.split(r"^\$ ", example, flags=re.MULTILINE)[1:])]
    first, *others = (f"{command}\necho '{_MARK}'" for command, _ in commands)
    done = subprocess.run(
        ["bash", "-euc", "\n".join([first, before_second, *others])],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for (command, shown), printed in zip(commands, done.stdout.split(_MARK), strict=False):
        rest = iter(_lines(printed))
        # What is left out of the README are whole lines.
        missing = [line for line in _lines(shown) if line not in rest]
        assert not missing, f"{command}: {missing} not in\n{printed}"


def commands_of(page: str, section: str, here: Mapping[str, str]) -> str:
    """The commands in a section of a document, as a script.

    Args:
        page: its path.
        section: its heading.
        here: words of the document, and what is in their place where they are run.
    """
    _, heading, rest = (ROOT / page).read_text(encoding="utf-8").partition(f"\n## {section}\n")
    assert heading, section
    lines = re.findall("^    (.*)$", rest.partition("\n## ")[0], re.MULTILINE)
    script = "\n".join(["set -eu", *lines])
    for word, replaced in here.items():
        assert word in script, word
        script = script.replace(word, replaced)
    return script


def _command(part: str) -> tuple[str, str]:
    """A command with the lines that continue it (`> `), and what it prints."""
    first, *lines = part.splitlines()
    further = [*takewhile(lambda line: line.startswith("> "), lines)]
    command = "\n".join([first, *(line.removeprefix("> ") for line in further)])
    return command, "\n".join(lines[len(further) :])


def _lines(text: str) -> list[str]:
    """The lines that are not empty, without what differs between runs: seconds, times, widths."""
    words = (" ".join(line.split()) for line in text.splitlines())
    same = (re.sub(r"\b\d+\.\d\b", "0.0", line) for line in words if line.strip(" ─"))
    return [re.sub(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b", "TIME", line) for line in same]
