"""A fresh process that evaluates a traversal whenever a line on standard input says so.

    python -m bench.traversal_session CONFIG

A line is after how many hours it is evaluated. The answer is a line of JSON: seconds of the clock
and of the processor, user and system, of this process and its child, since the line before (the
first time since the process started), and what came of the evaluation.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bench.processes import LineProcess

BEGAN = "BENCH_BEGAN"


def processor_seconds() -> float:
    """User and system, of this process and of children that have ended."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


@dataclass(slots=True)
class Session:
    """The process, which ends with a `with` block.

    Attributes:
        config: of a project with one traversal.
    """

    config: Path
    _process: LineProcess | None = field(default=None, init=False)

    def __enter__(self) -> Self:
        # The clock that all processes of this machine share.
        began = {BEGAN: repr(time.monotonic())}
        self._process = LineProcess("bench.traversal_session", self.config, settings=began)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process is not None
        self._process.end()

    def evaluate(self, hours: int) -> dict[str, Any]:
        """Evaluate so many hours after the start; returns what `_evaluated` measured."""
        assert self._process is not None
        measured: dict[str, Any] = self._process.ask(hours)
        return measured


def _evaluated(project: Any, hours: int) -> dict[str, Any]:
    from weir.refresh.stage import Surroundings, refresh_remotes
    from weir.remotes.evaluation import Clock
    from weir.remotes.fetching import sleep_for

    def now() -> datetime:
        return datetime.now(UTC) + timedelta(hours=hours)

    around = Surroundings(clock=Clock(now, sleep_for))
    (made,) = refresh_remotes(project, "bench", surroundings=around).traversals
    assert made.mark is not None, made.error
    assert not made.mark.not_fetched
    return {"documents": made.mark.documents}


def main() -> None:
    """Evaluate until there are no more lines."""
    from weir.project import Project
    from weir.settings import Settings

    began, spent = float(os.environ[BEGAN]), 0.0
    with Project(Settings.load(Path(sys.argv[1]))) as project:
        for line in sys.stdin:
            if spent:
                began = time.monotonic()
            measured = _evaluated(project, int(line))
            ended = processor_seconds()
            measured |= {"seconds": time.monotonic() - began, "processor": ended - spent}
            spent = ended
            print(json.dumps(measured), flush=True)


if __name__ == "__main__":
    main()
