"""The child process that answers a query from a document of a remote, with little memory.

It reads one JSON line (format, base IRI, query, most solutions, memory in bytes), then the
document, from its standard input; it writes a JSON line per solution, or one that says what is
wrong with the document, to its standard output.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from typing import Any

import pyoxigraph as ox

from weir.rdf.documents import read_document
from weir.rdf.limits import ParseLimits
from weir.sandbox import OUT_OF_MEMORY


def main() -> None:
    """Answer one query."""
    # Ctrl-C on a terminal is for the parent.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    task = json.loads(sys.stdin.buffer.readline())
    resource.setrlimit(resource.RLIMIT_AS, (task["memory"], task["memory"]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        _answer(task)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)


def _answer(task: dict[str, Any]) -> None:
    try:
        store = _store(sys.stdin.buffer.read(), task)
    except (SyntaxError, ValueError) as error:
        _write({"unusable": str(error)[:500]})
        return
    found = store.query(task["query"], use_default_graph_as_union=True)
    assert isinstance(found, ox.QuerySolutions), "the query is a SELECT"
    names = [each.value for each in found.variables]
    for number, row in enumerate(found):
        if number == task["most"]:
            break
        _write({name: str(row[name]) for name in names if row[name] is not None})


def _store(document: bytes, task: dict[str, Any]) -> ox.Store:
    read = read_document(document, task["format"], task["base"], {}, ParseLimits())
    # Of JSON-LD, what is no RDF is left out, as its algorithm says.
    statements = b"".join(lines for lines in read if isinstance(lines, bytes))
    store = ox.Store()
    store.load(statements, format=ox.RdfFormat.N_QUADS)
    return store


def _write(value: object) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
