"""pySHACL in a process of its own: it changes how rdflib reads literals, wherever it is imported.

Each line of its standard input is JSON: the shapes as Turtle and the data as N-Triples; each line
of its output is the report as N-Triples, or why there is none.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from types import TracebackType
from typing import Self

import pyoxigraph as ox

from tests.support.shacl.results import Graph, Result, results_of_report


class OtherValidator:
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

    def results(self, shapes: str, data: str) -> Counter[Result]:
        """The results of the report.

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
        quads = ox.parse(answer["report"].encode(), ox.RdfFormat.N_TRIPLES)
        graph = Graph(quad.triple for quad in quads)
        (report,) = graph.instances("http://www.w3.org/ns/shacl#ValidationReport")
        return results_of_report(graph, report)


def _serve() -> None:
    import pyshacl
    import rdflib

    rdflib.NORMALIZE_LITERALS = False
    for line in sys.stdin:
        shapes, data = json.loads(line)
        try:
            _, report, _ = pyshacl.validate(
                rdflib.Graph().parse(data=data, format="nt"),
                shacl_graph=rdflib.Graph().parse(data=shapes, format="turtle"),
                inference="none",
                advanced=False,
            )
            answer = {"report": report.serialize(format="nt")}
        except (pyshacl.errors.ValidationFailure, pyshacl.errors.ReportableRuntimeError) as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    _serve()
