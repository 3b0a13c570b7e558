"""The child process that answers a query from a document of a remote, with little memory.

It gets one line of JSON (format, base IRI, query, most solutions) and the document behind it. It
answers with frames of JSON: a `{"solution": ...}` each and then null, or one that says what is
wrong with the document.
"""

from __future__ import annotations

import json
from itertools import islice
from typing import IO, Any

import pyoxigraph as ox

from weir.rdf.documents import read_document
from weir.rdf.limits import ParseLimits
from weir.sandbox.frames import write_frame
from weir.sandbox.serving import serve


def main() -> None:
    """Answer one query."""
    serve(_answer)


def _answer(message: bytes, output: IO[bytes]) -> None:
    head, _, document = message.partition(b"\n")
    task = json.loads(head)
    try:
        store = _store(document, task)
    except (SyntaxError, ValueError) as error:
        _write(output, {"unusable": str(error)[:500]})
        return
    rows = store.query(task["query"], use_default_graph_as_union=True)
    assert isinstance(rows, ox.QuerySolutions), "the query is a SELECT"
    names = [variable.value for variable in rows.variables]
    for row in islice(rows, task["most"]):
        solution = {name: str(row[name]) for name in names if row[name] is not None}
        _write(output, {"solution": solution})
    _write(output, None)


def _store(document: bytes, task: dict[str, Any]) -> ox.Store:
    read = read_document(document, task["format"], task["base"], {}, ParseLimits())
    # Of JSON-LD, what is no RDF is left out, as its algorithm says.
    statements = b"".join(lines for lines in read if isinstance(lines, bytes))
    store = ox.Store()
    store.load(statements, format=ox.RdfFormat.N_QUADS)
    return store


def _write(output: IO[bytes], message: object) -> None:
    write_frame(output, json.dumps(message, ensure_ascii=False).encode())


if __name__ == "__main__":
    main()
