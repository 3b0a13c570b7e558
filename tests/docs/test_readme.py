"""The example of the README works as it is printed."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from setup.steps import ROOT, VENV

_MARK = "--- command"


def test_the_example_of_the_readme_prints_what_it_shows(tmp_path: Path) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    example = page.partition("```console\n")[2].partition("```")[0]
    commands = [part.partition("\n") for part in re.split(r"^\$ ", example, flags=re.MULTILINE)[1:]]
    script = "\n".join(f"{command}\necho '{_MARK}'" for command, _, _ in commands)
    done = subprocess.run(
        ["bash", "-euc", script],
        cwd=tmp_path,
        env=os.environ | {"PATH": f"{VENV / 'bin'}:{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for (command, _, shown), printed in zip(commands, done.stdout.split(_MARK), strict=False):
        rest = iter(_lines(printed))
        # What is left out of the README are whole lines.
        missing = [line for line in _lines(shown) if line not in rest]
        assert not missing, f"{command}: {missing} not in\n{printed}"


def _lines(text: str) -> list[str]:
    """The lines that are not empty, without what differs between runs: seconds, times, widths."""
    words = (" ".join(line.split()) for line in text.splitlines())
    same = (re.sub(r"\b\d+\.\d\b", "0.0", line) for line in words if line.strip(" ─"))
    return [re.sub(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b", "TIME", line) for line in same]
