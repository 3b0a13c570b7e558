"""A quicker start and end of a process.

pyarrow imports pandas if it is installed, which takes a third of the time of an empty run. Imports
and statements allocate hundreds of thousands of objects that live to the end. At the end Python
tears down each module, which takes as long as small work, after all output is written.
"""

from __future__ import annotations

import atexit
import gc
import logging
import os
import sys
from collections.abc import Callable
from importlib.abc import MetaPathFinder


class _HiddenFromArrow(MetaPathFinder):
    """Hides pandas while pyarrow is imported; pyarrow imports it later if it needs it."""

    def find_spec(self, name: str, path: object, target: object = None) -> None:
        """Raise an error for pandas; leave every other module to the other finders."""
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
    """Make later imports of pyarrow not import pandas."""
    sys.meta_path.insert(0, _HiddenFromArrow())


def collect_rarely() -> None:
    """Look for garbage after 200,000 new objects, not after 700, and seldom at the older ones.

    The status of 10,000 queries takes 4.4 instead of 5.3 s of the processor (and 30 MB more).
    """
    gc.set_threshold(200_000, 20, 20)


def _has_spark() -> bool:
    spark = sys.modules.get("pyspark.sql")
    try:
        return spark is not None and spark.SparkSession.getActiveSession() is not None
    except Exception:  # noqa: BLE001  (of several libraries)
        # Its JVM is gone: nothing is left to be closed.
        return False


def leaving_at_once(main: Callable[[], int]) -> Callable[[], int]:
    """`main`, changed so that the process then ends without teardown, after its exit handlers.

    A process that has started Spark, or whose error was not caught, ends as usual.
    """
    codes: list[int] = []

    def leave() -> None:
        if codes and not _has_spark():
            logging.shutdown()
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            os._exit(codes[0])

    def run() -> int:
        # Handlers run in reverse order, so those that are registered later run before this one.
        atexit.register(leave)
        codes.append(main())
        return codes[0]

    return run
