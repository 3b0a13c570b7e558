"""Apache Jena as a validator of shapes: Fuseki's service SHACL, in one process for all graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pyoxigraph as ox

from demo.fuseki import LIFETIME, SMALL, Fuseki, started_fuseki
from tests.support.shacl.results import Result, results_of_text

_CONFIGURATION = """\
PREFIX fuseki: <http://jena.apache.org/fuseki#>
PREFIX ja: <http://jena.hpl.hp.com/2005/11/Assembler#>
[] a fuseki:Service ; fuseki:name "ds" ; fuseki:dataset [ a ja:MemoryDataset ] ;
  fuseki:endpoint [ fuseki:operation fuseki:gsp-rw ; fuseki:name "data" ] ;
  fuseki:endpoint [ fuseki:operation fuseki:shacl ; fuseki:name "shacl" ] .
"""
_SHACL = "http://www.w3.org/ns/shacl#"
_UNIQUE_LANG = f"<{_SHACL}UniqueLangConstraintComponent>"


@dataclass(frozen=True, slots=True)
class Jena:
    """Fuseki with one graph.

    seconds: how long a request may take.
    """

    fuseki: Fuseki
    seconds: float

    def load(self, data: str) -> None:
        """Replace the graph by N-Triples."""
        self._exchange("PUT", "/ds/data?default", data, "application/n-triples")

    def report(self, shapes: str) -> bytes:
        """The report about the graph, as N-Triples.

        Args:
            shapes: Turtle.

        Raises:
            FusekiRefusedError: it refuses the shapes; with its reason.
        """
        return self._exchange("POST", "/ds/shacl?graph=default", shapes, "text/turtle")

    def results(self, shapes: str, data: str) -> Counter[Result]:
        """The results about data, of shapes that are `without_differences`.

        Of `sh:uniqueLang`, a result has no value (section 4.4.5: there is one for each language);
        Jena gives one of the nodes.
        """
        self.load(data)
        results: Counter[Result] = Counter()
        for result, count in results_of_text(self.report(shapes)).items():
            is_of_languages = result.component == _UNIQUE_LANG
            results[replace(result, value=None) if is_of_languages else result] += count
        return results

    def _exchange(self, method: str, path: str, body: str, kind: str) -> bytes:
        accept = "application/n-triples"
        return self.fuseki.exchange(method, path, body.encode(), kind, accept, self.seconds)


@contextmanager
def running_jena(
    folder: Path,
    java_options: Sequence[str] = SMALL,
    lifetime: float = LIFETIME,
    seconds: float = 30.0,
) -> Iterator[Jena]:
    """Start it, and stop it when the block is left; also if this process is gone.

    Args:
        folder: for its log and its configuration.
        java_options: options of Java.
        lifetime: seconds after which it ends.
        seconds: how long a request may take.
    """
    configuration = folder / "configuration.ttl"
    configuration.write_text(_CONFIGURATION)
    options = ["--conf", str(configuration.absolute())]
    with started_fuseki(folder, options, lifetime, java_options=java_options) as fuseki:
        yield Jena(fuseki, seconds)


def without_differences(shapes: str) -> str:
    """Shapes without what Jena validates in another way than SHACL says; Turtle, of Turtle.

    - `sh:closed` of a property shape: Jena looks at the focus node; section 4.8.1: "for each value
      node".
    - `sh:property` of a property shape that is not itself a value of `sh:property`: Jena validates
      the focus node; section 4.7.2: "each value node".
    """
    triples = [quad.triple for quad in ox.parse(shapes.encode(), ox.RdfFormat.TURTLE)]

    def predicate(name: str) -> ox.NamedNode:
        return ox.NamedNode(_SHACL + name)

    with_path = {triple.subject for triple in triples if triple.predicate == predicate("path")}
    nested = {triple.object for triple in triples if triple.predicate == predicate("property")}

    def differs(triple: ox.Triple) -> bool:
        if triple.predicate == predicate("closed"):
            return triple.subject in with_path
        is_property = triple.predicate == predicate("property")
        return is_property and triple.subject in with_path and triple.subject not in nested

    return "".join(f"{triple} .\n" for triple in triples if not differs(triple))
