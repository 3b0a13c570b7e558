"""pySHACL over two files, in a process of its own: it changes how rdflib reads literals.

    python -m bench.other_validator SHAPES DATA

prints JSON: seconds of loading and of validating, and how many results each component has.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Sequence

_SHACL = "http://www.w3.org/ns/shacl#"


def main(arguments: Sequence[str]) -> None:
    """Load, validate, print."""
    import pyshacl
    import rdflib

    rdflib.NORMALIZE_LITERALS = False
    shapes, data = arguments
    started = time.perf_counter()
    graph = rdflib.Graph().parse(data, format="nt")
    shacl = rdflib.Graph().parse(shapes, format="turtle")
    loaded = time.perf_counter()
    _, report, _ = pyshacl.validate(graph, shacl_graph=shacl, inference="none", advanced=False)
    ended = time.perf_counter()
    # Results have further ones as details, which are none of the report.
    results = report.objects(None, rdflib.URIRef(f"{_SHACL}result"))
    of = rdflib.URIRef(f"{_SHACL}sourceConstraintComponent")
    counted = Counter(str(report.value(result, of)) for result in results)
    seconds = {"load": loaded - started, "validate": ended - loaded}
    print(json.dumps({**seconds, "results": counted}))


if __name__ == "__main__":
    main(sys.argv[1:])
