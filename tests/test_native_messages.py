"""The panics of Rust are left out of what libraries print; nothing else is."""

from __future__ import annotations

import subprocess
import sys

import pytest

from weir.process.native_messages import other_lines

PANIC = """
thread 'tokio-rt-worker' (21540) panicked at /object_store-0.13.2/src/buffered.rs:369:41:
Already shut down
"""
TRACE = """stack backtrace:
   0: <unknown>
             at /rustc/library/std/src/panicking.rs:689:5
note: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.
"""
NOTE = "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n"
OTHER = "WARN a line of Spark\n\nnote: that is one\n"


def passed(text: str) -> str:
    return b"".join(other_lines(text.encode().splitlines(keepends=True))).decode()


@pytest.mark.parametrize("rest", ["", TRACE, NOTE, PANIC, TRACE + PANIC + NOTE])
def test_a_panic_is_left_out_and_what_is_around_it_is_not(rest: str) -> None:
    assert passed(OTHER + PANIC + rest + OTHER) == OTHER + OTHER
    assert passed(PANIC + rest) == ""


def test_text_that_is_no_panic_passes_as_it_is() -> None:
    for text in (OTHER, "\n\n\nx\n\n", "no end", "thread 'x' is not in panic\n", ""):
        assert passed(text) == text


def test_a_process_prints_in_order_and_loses_nothing() -> None:
    program = (
        "import os, sys\nfrom weir.process.native_messages import without_panics\n"
        "with without_panics():\n"
        f"    os.write(2, {(OTHER + PANIC + OTHER).encode()!r})\n"
        "print('after', file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr == OTHER + OTHER + "after\n"
