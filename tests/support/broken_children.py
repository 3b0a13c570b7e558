"""Child processes that send what is no message of their protocol."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from weir.sandbox.frames import LENGTH

HUGE = b"\xff" * LENGTH.size
"""The length of a frame that nobody would hold."""


def frame(content: bytes) -> bytes:
    """A frame as a child writes it."""
    return LENGTH.pack(len(content)) + content


BROKEN = {
    "huge": HUGE,
    "no message": frame(b"\xffnone"),
    "other JSON": frame(b"[1]"),
}
"""What a child writes that breaks every protocol, by name."""


def write_instead(monkeypatch: pytest.MonkeyPatch, module: str, content: bytes) -> None:
    """Have the child that runs a module write these bytes, and then do nothing."""
    popen = subprocess.Popen
    code = (
        "import sys, time\n"
        f"sys.stdout.buffer.write({content!r})\n"
        "sys.stdout.buffer.flush()\n"
        "time.sleep(60)"
    )

    def start(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
        is_replaced = command[-1] == module
        return popen([sys.executable, "-I", "-c", code] if is_replaced else command, **options)

    monkeypatch.setattr(subprocess, "Popen", start)
