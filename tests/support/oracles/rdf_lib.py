"""The oracle rdflib, and where it is known to depart from SPARQL 1.1.

Its engine shares no code with Weir, whose front end uses its grammar.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import rdflib

from tests.support.generators.basic_cases import Quad
from tests.support.oracles.answers import FALSE, TRUE, Row

# What a query contains, and how rdflib's answer departs then. `tests/engine/test_oracles.py` found
# them; each was checked against the specification.
_DEPARTURES = {
    r"!\([^)]*\^": "an inverse in a negated property set is an error",
    r"\bFROM\b": "FROM loads a document",
    r"GROUP BY": "without solutions there is one group, as if there was no GROUP BY",
    r"SUM|AVG": "a value that is not a number is ignored, where the sum is an error",
    r"COUNT\(DISTINCT \(": "an expression without a value is counted, where it is left out",
    r"GROUP_CONCAT": "an IRI is concatenated, where it is an error",
    r"MIN|MAX": "the least or greatest IRI becomes a string",
    r"CONSTRUCT": "a literal may become a subject",
    r"\{ SELECT": "a variable that a subquery does not project is joined with the outer one",
    r"GRAPH \?": "the graph's variable is bound inside of GRAPH",
    r"\)[+*?]": "a closure finds a pair once per path, not once",
    r"\)/|/[!(]|>\|": "a sequence or an alternative finds a pair once, not once per path",
    "ORDER BY": "two unbound values cannot be ordered",
    "REDUCED|LIMIT|OFFSET|SAMPLE": "SPARQL leaves open which of equal solutions are kept",
    "EXISTS.*MINUS": "in MINUS, a variable that EXISTS replaces by its value is still shared",
    r"EXISTS \{[^}]*\{[^}]*FILTER": "a filter in a group does not see what EXISTS replaces",
    r"UNION|GRAPH": "a filter in a group sees the variables of the group around it",
    r"UNION|VALUES": "the right side of a join loses its duplicates",
    r"SELECT.* \* .*VALUES": "the variables of the last VALUES are not in `SELECT *`",
}


def answer(
    query: str, default_graph: str, quads: Iterable[Quad], columns: Sequence[str]
) -> Counter[Row]:
    """The answer in the form of `oxigraph.Oxigraph.answer`.

    Raises:
        Exception: whichever rdflib raises; it has no class for what it cannot evaluate.
    """
    dataset = rdflib.Dataset(default_union=False)
    lines = []
    for graph, *triple in quads:
        own = [graph] if default_graph == "default" else {graph, ""}
        lines += [" ".join((*triple, name, ".")) for name in own]
    dataset.parse(data="\n".join(lines), format="nquads")
    result = dataset.query(query)
    match result.type:
        case "ASK":
            return Counter({(TRUE if result.askAnswer else FALSE,): 1})
        case "CONSTRUCT":
            return Counter({tuple(map(_text, triple)) for triple in result.graph or ()})
        case _:
            variables = [rdflib.Variable(name) for name in columns]
            return Counter(
                tuple(_text(row.get(variable)) for variable in variables) for row in result.bindings
            )


def departures(query: str) -> list[str]:
    """The reasons why rdflib's answer may differ."""
    return [reason for words, reason in _DEPARTURES.items() if re.search(words, query)]


def _text(term: rdflib.term.Node | None) -> str | None:
    return None if term is None else term.n3()
