"""What of SPARQL 1.1 is refused, why, and what to write instead."""

from __future__ import annotations

from dataclasses import dataclass

from jobs.sparql.errors import UnsupportedQuery
from jobs.sparql.positions import Token
from jobs.sparql.tree import Source

NOT_YET = "not supported yet"
_UNSTABLE = "its value changes though no triple does, so an answer kept up to date has no meaning"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A construct that is refused; the first of `keywords` in the text is where."""

    what: str
    keywords: tuple[str, ...]
    reason: str
    instead: str


def _aggregate(name: str) -> Refusal:
    return Refusal(
        name,
        (name,),
        NOT_YET,
        "Register the rows without the aggregate and aggregate the answer table.",
    )


def _unstable(name: str, instead: str) -> Refusal:
    return Refusal(f"{name}()", (name,), _UNSTABLE, instead)


_TWO_QUERIES = "Register the parts as queries of their own."

REFUSALS: dict[str, Refusal] = {
    "DescribeQuery": Refusal(
        "DESCRIBE", ("DESCRIBE",), "SPARQL does not define its answer", "Write a CONSTRUCT query."
    ),
    "SubSelect": Refusal(
        "subquery", ("SELECT",), NOT_YET, "Write its patterns into the group around it."
    ),
    "OptionalGraphPattern": Refusal("OPTIONAL", ("OPTIONAL",), NOT_YET, _TWO_QUERIES),
    "Union": Refusal("UNION", ("UNION",), NOT_YET, _TWO_QUERIES),
    "MinusGraphPattern": Refusal("MINUS", ("MINUS",), NOT_YET, _TWO_QUERIES),
    "GraphGraphPattern": Refusal(
        "GRAPH", ("GRAPH",), NOT_YET, "Name the graphs with FROM, or use default_graph: union."
    ),
    "ServiceGraphPattern": Refusal(
        "SERVICE",
        ("SERVICE",),
        "a query reads only what has been ingested",
        "Declare the remote data as a source.",
    ),
    "Bind": Refusal("BIND", ("BIND",), NOT_YET, "Write the expression where its value is used."),
    "InlineData": Refusal("VALUES", ("VALUES",), NOT_YET, "Write FILTER(?variable IN (...))."),
    "valuesClause": Refusal("VALUES", ("VALUES",), NOT_YET, "Write FILTER(?variable IN (...))."),
    "expression": Refusal(
        "(expression AS ?variable)", ("AS",), NOT_YET, "Select the variables of the expression."
    ),
    "groupby": Refusal("GROUP BY", ("GROUP",), NOT_YET, "Group the answer table."),
    "having": Refusal("HAVING", ("HAVING",), NOT_YET, "Group the answer table."),
    "limitoffset": Refusal(
        "LIMIT and OFFSET", ("LIMIT", "OFFSET"), NOT_YET, "Limit the rows when reading the answer."
    ),
    "FromNamed": Refusal("FROM NAMED", ("NAMED",), NOT_YET, "Name the graphs with FROM."),
    "path": Refusal(
        "property path", (), NOT_YET, "Write one triple pattern for each step of the path."
    ),
    "Builtin_EXISTS": Refusal("EXISTS", ("EXISTS",), NOT_YET, _TWO_QUERIES),
    "Builtin_NOTEXISTS": Refusal("NOT EXISTS", ("EXISTS",), NOT_YET, _TWO_QUERIES),
    "Builtin_BNODE": Refusal(
        "BNODE",
        ("BNODE",),
        "it makes a new blank node at every evaluation",
        "Write a blank node into a CONSTRUCT template: its label stays the same.",
    ),
    "Builtin_NOW": _unstable("NOW", "Write the moment as a constant, or filter the answer table."),
    "Builtin_RAND": _unstable("RAND", "Sample the answer table."),
    "Builtin_UUID": _unstable("UUID", "Write a blank node into a CONSTRUCT template."),
    "Builtin_STRUUID": _unstable("STRUUID", "Write a blank node into a CONSTRUCT template."),
    "Aggregate_Count": _aggregate("COUNT"),
    "Aggregate_Sum": _aggregate("SUM"),
    "Aggregate_Min": _aggregate("MIN"),
    "Aggregate_Max": _aggregate("MAX"),
    "Aggregate_Avg": _aggregate("AVG"),
    "Aggregate_Sample": _aggregate("SAMPLE"),
    "Aggregate_GroupConcat": _aggregate("GROUP_CONCAT"),
}


def refusal(construct: str, source: Source, token: Token | None = None) -> UnsupportedQuery:
    """The error for a construct by the name of its production; an unknown one is refused as well.

    Without a `token` it is placed at the first of its keywords.
    """
    known = REFUSALS.get(construct)
    if known is None:
        return source.unsupported(
            construct, None, "unknown to Weir, and nothing is guessed", "Leave it out."
        )
    # The first SELECT is the query's own.
    words = [word for word in source.tokens if word.is_word(*known.keywords)]
    if construct == "SubSelect" and source.tokens[0].is_word("SELECT"):
        words = words[1:]
    place = token or (words[0] if words else None)
    return source.unsupported(known.what, place, known.reason, known.instead)
