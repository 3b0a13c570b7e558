"""The start and the end of a process without work that nobody needs.

pyarrow imports pandas if it is there, which takes a third of the time of an empty run. Python tears
down each module at the end, which takes as long as small work, after all is committed and printed.
"""

from __future__ import annotations

import atexit
import logging
import os
import sys
from collections.abc import Callable
from importlib.abc import MetaPathFinder


class _HiddenFromArrow(MetaPathFinder):
    """Hides pandas from pyarrow while that is imported; it imports pandas later if it needs it."""

    def find_spec(self, name: str, path: object, target: object = None) -> None:
        """No pandas; every other module is for the other finders."""
        del path, target
        if name == "pandas" and _is_arrow_being_imported():
            raise ModuleNotFoundError("it is imported when it is needed", name=name)


def _is_arrow_being_imported() -> bool:
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        module = frame.f_globals.get("__name__", "")
        if frame.f_code.co_name == "<module>" and module.partition(".")[0] == "pyarrow":
            return True
    return False


def hide_pandas() -> None:
    """Have pyarrow be imported without pandas."""
    sys.meta_path.insert(0, _HiddenFromArrow())


def leaving_at_once(main: Callable[[], int]) -> Callable[[], int]:
    """A main function after whose end the process leaves, once all exit handlers have run.

    A process that has started Spark, or in which an error was not caught, ends as any other.
    """
    codes: list[int] = []

    def leave() -> None:
        if codes and "pyspark" not in sys.modules:
            logging.shutdown()
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            os._exit(codes[0])

    def run() -> int:
        # Handlers run in the opposite order: those that are registered later come before.
        atexit.register(leave)
        codes.append(main())
        return codes[0]

    return run
