"""The entailment that a shapes graph asks for: https://www.w3.org/TR/shacl/#shacl-rdfs."""

from __future__ import annotations

from weir.shacl.errors import UnsupportedShapes
from weir.shacl.graph import ShapesGraph
from weir.shacl.vocabulary import sh

_RDFS = "<http://www.w3.org/ns/entailment/RDFS>"


def is_over_rdfs(text: str, file: str) -> bool:
    """Whether a shapes graph has `sh:entailment` with the entailment of RDFS.

    Args:
        text: a Turtle document.
        file: its name, for errors.

    Raises:
        ShapesSyntaxError: it is not Turtle.
        UnsupportedShapes: it asks for another entailment.
    """
    if "entailment" not in text:
        return False
    graph = ShapesGraph(text, file)
    predicate = sh("entailment")
    regimes = {term: node for node in graph.subjects for term in graph.objects(node, predicate)}
    for term, node in regimes.items():
        if term != _RDFS:
            raise UnsupportedShapes(
                f"sh:entailment {term}",
                graph.place(node, "sh:entailment"),
                "only that of RDFS is derived",
                f"Write {_RDFS}, or let the data have what follows.",
            )
    return bool(regimes)
