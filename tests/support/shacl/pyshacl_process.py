"""pySHACL in a process of its own: it changes how rdflib reads literals, wherever it is imported.

Each line of its standard input is JSON: the shapes as Turtle and the data as N-Triples; each line
of its output is the report as N-Triples with the seconds of validating, or why there is none.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from tests.support.shacl.results import Result, results_of_text


@dataclass(frozen=True, slots=True)
class Validation:
    """A report, and what it took without reading the graphs.

    Attributes:
        results: of the report.
        clock: seconds.
        processor: seconds of the processor.
    """

    results: Counter[Result]
    clock: float
    processor: float


class PySHACL:
    """The process; a context manager."""

    def __enter__(self) -> Self:
        command = [sys.executable, "-W", "ignore", "-m", __name__]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def validation(self, shapes: str, data: str) -> Validation:
        """Validate data.

        Args:
            shapes: Turtle.
            data: N-Triples.

        Raises:
            ValueError: it refuses the shapes; with its reason.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([shapes, data]) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        if "error" in answer:
            raise ValueError(answer["error"])
        results = results_of_text(answer["report"].encode())
        return Validation(results, answer["clock"], answer["processor"])


def _serve() -> None:
    import pyshacl
    import rdflib

    rdflib.NORMALIZE_LITERALS = False
    for line in sys.stdin:
        shapes, data = json.loads(line)
        graph = rdflib.Graph().parse(data=data, format="nt")
        try:
            shapes_graph = rdflib.Graph().parse(data=shapes, format="turtle")
            clock, processor = time.perf_counter(), time.process_time()
            _, report, _ = pyshacl.validate(
                graph, shacl_graph=shapes_graph, inference="none", advanced=False
            )
            answer = {
                "clock": time.perf_counter() - clock,
                "processor": time.process_time() - processor,
                "report": report.serialize(format="nt"),
            }
        except (pyshacl.errors.ValidationFailure, pyshacl.errors.ReportableRuntimeError) as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    _serve()
