"""Clear errors for a process whose memory the system limits (`ulimit -v`).

If memory is refused, Python and most libraries raise an error, which can be reported. Others end
the process: Rust aborts, C++ aborts while it handles another error, and the dynamic linker exits
with 127. So under a limit, the work is done by a child, and its parent reports how it ended.
"""

from __future__ import annotations

import ctypes
import errno
import importlib
import os
import re
import resource
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Final

EXIT_REFUSED: Final = 1
"""Exit code of a process that did not get enough memory."""
LEAST: Final = 2048 << 20
"""A limit of fewer bytes is refused. With 1,272 MiB a small project runs on two cores; with less, a
library fails, or waits for a thread that could not be started."""
_ENDED_BY_LIBRARY: Final = frozenset(
    {-signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS, -signal.SIGILL, -signal.SIGTRAP, 127}
)
_PASSED_ON: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)
_SET_DEATH_SIGNAL: Final = 1
"""PR_SET_PDEATHSIG of prctl(2)."""
_TEXT: Final = re.compile(
    r"cannot allocate memory|failed to map segment|can't start new thread|bad_?alloc"
    r"|out of memory|malloc of size|memory allocation of|Resource temporarily unavailable",
    re.IGNORECASE,
)
_PARENT: Final = "WEIR_PARENT"
"""The environment variable that marks a child: the process id of its parent."""
_FRUGAL: Final = {
    "PYTHONMALLOC": "malloc",
    "MALLOC_ARENA_MAX": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "ARROW_IO_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
"""Settings that save address space. Python's own allocator retries for minutes when memory is
refused; an arena per thread takes 64 MiB, a buffer of OpenBLAS 32 MiB, Arrow's own pool 1 GiB.
Arrow gets one thread for computing and one for reading, which `_load_first` starts."""
_RAISE: Final = (
    "Raise the limit (`ulimit -v`) or lift it, then run again: what was committed is whole, and the"
    " run goes on from there. What DuckDB and Spark take is set by `duckdb.memory` and"
    " `spark.driver_memory`."
)


def limit() -> int | None:
    """The most bytes that this process may map; None without a limit."""
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


def watched(main: Callable[[], int]) -> int:
    """Run a main function, in a child if memory is limited; returns the exit code.

    Call it before the process has threads.
    """
    size = limit()
    if size is None:
        return main()
    if size < LEAST:
        _report(f"{_limited(size)}; at least {LEAST >> 20:,} MiB are needed", _RAISE)
        return EXIT_REFUSED
    if os.environ.get(_PARENT) == str(os.getppid()):
        return _reported(main)
    signals = {*_PASSED_ON, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    parent, child = os.getpid(), os.fork()
    if child == 0:
        _end_with(parent)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.execve(sys.executable, sys.orig_argv, {**os.environ, **_FRUGAL, _PARENT: str(parent)})
    code = _code_of(child, signals)
    if code in _ENDED_BY_LIBRARY:
        how = f"exit code {code}" if code > 0 else signal.Signals(-code).name
        what, hint = refusal_text()
        _report(f"{what}; a library ended it ({how})", hint)
        return EXIT_REFUSED
    if code < 0:
        # The signal was meant for this process.
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.kill(parent, -code)
    return code


def is_refusal(error: BaseException) -> bool:
    """Whether an error means that memory was refused."""
    if isinstance(error, MemoryError):
        return True
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return True
    return limit() is not None and _TEXT.search(str(error)) is not None


def refusal_text() -> tuple[str, str]:
    """The message and the hint if memory was refused."""
    size = limit()
    if size is None:
        return "no memory is left", "Free some memory, or run it on a larger machine."
    return f"no memory is left: {_limited(size)}", _RAISE


def suspicion_text() -> tuple[str, str]:
    """The message and the hint for an unexpected error under a memory limit."""
    size = limit()
    assert size is not None, "it is limited"
    return f"{_limited(size)}, which may be why it failed", _RAISE


def _limited(size: int) -> str:
    return f"the address space of the process is limited to {size >> 20:,} MiB"


def _reported(main: Callable[[], int]) -> int:
    """The exit code of a main function under a memory limit; any error may be due to the limit.

    Python itself gives wrong reasons then, and a Rust panic is not an `Exception`.
    """
    try:
        _load_first()
        return main()
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:  # noqa: BLE001  (it ends the process)
        if is_refusal(error):
            what, hint = refusal_text()
        else:
            with suppress(Exception):
                # Printing takes memory too.
                traceback.print_exception(error)
            what, hint = suspicion_text()
        _report(what, hint)
        return EXIT_REFUSED


def _load_first() -> None:
    """Load libraries that would hang without memory, while there is memory.

    OpenBLAS, which Great Expectations needs, retries to get its buffers forever. Arrow waits for
    the threads of its pools even if they could not be started; reading CSV starts them.
    """
    importlib.import_module("scipy.linalg")
    arrow, csv = (importlib.import_module(name) for name in ("pyarrow", "pyarrow.csv"))
    csv.read_csv(arrow.BufferReader(b"column\n1\n"))


def _code_of(child: int, signals: set[signal.Signals]) -> int:
    """The exit code of a child; if a signal ended it, minus the number of the signal.

    Meanwhile signals sent to this process are passed on; those of the terminal reach both.
    """
    while True:
        info = signal.sigwaitinfo(signals)
        if info.si_signo != signal.SIGCHLD:
            if info.si_code <= 0:  # of another process, not of the kernel
                with suppress(ProcessLookupError):
                    os.kill(child, info.si_signo)
            continue
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)


def _end_with(parent: int) -> None:
    """End this process when its parent ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(EXIT_REFUSED)


def _report(what: str, hint: str) -> None:
    with suppress(OSError):
        os.write(2, f"error: {what}\nnext: {hint}\n".encode())
