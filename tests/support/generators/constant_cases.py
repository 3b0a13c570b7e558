"""Random queries that differ in constants of every kind, wherever SPARQL lets a constant stand.

A query is written with *places*, each of one kind (a term, a condition, a regular expression, a
number of rows, ...), and its variants have other constants there. A seed gives the same everywhere.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping

from tests.support.generators.basic_cases import NODES, PREDICATES, PREFIX, XSD

_IRIS = (*NODES, *PREDICATES, f"<{PREFIX}none>", f"<{XSD}integer>", f"<{XSD}string>")
_LITERALS = (
    *("true", "false", "1", "0", "2", "-1", "2.5", "1.0", "0.0", "1e0", "0e0"),
    *('""', '"a"', '"1"', '"0"', '"a b"', '"false"', '"x"@en', '""@en', '"x"@en-GB'),
    *(f'"{text}"^^<{XSD}boolean>' for text in ("1", "0", "True", "yes")),
    *(f'"{text}"^^<{XSD}integer>' for text in ("01", "x", "")),
    *(f'"{text}"^^<{XSD}double>' for text in ("NaN", "INF", "-0")),
    *(f'"{text}"^^<{XSD}dateTime>' for text in ("2020-01-01T00:00:00Z", "2020-13-01T00:00:00")),
    *('"1"^^<urn:unknown>', '""^^<urn:unknown>'),
)
KINDS: Mapping[str, tuple[str, ...]] = {
    "iri": _IRIS,
    "predicate": PREDICATES,
    "literal": _LITERALS,
    "list": ("()", "(1)", "(<{x}a>)", "(1, 2)", '(<{x}a>, "x"@en)', "(1, 1/0)", "(true, 0)"),
    "rows": ("LIMIT 0", "LIMIT 1", "LIMIT 2", "OFFSET 1", "LIMIT 1 OFFSET 1"),
    "datatype": tuple(
        f"<{XSD}{name}>" for name in ("integer", "decimal", "string", "boolean", "double")
    ),
    "regex": ('"a"', '""', '"^.$"', '"[A-Z]", "i"', '"x", ""', '"("', '"."', '"a.*b", "s"'),
    "range": ('"*"', '"en"', '"EN"', '"en-gb"', '"fr"', '""'),
    "tag": ('"en"', '"EN"', '"en-gb"', '""'),
    "base": ("BASE <{x}>", "BASE <{x}a/>", "BASE <urn:b:>", ""),
    "separator": ("", '; SEPARATOR=""', '; SEPARATOR=", "', '; SEPARATOR="$"'),
    "count": ("0", "1", "2", "3"),
}
"""The constants of each kind of place."""
_PARTS = (
    "FILTER({literal})",
    "FILTER({iri})",
    "FILTER(!{literal})",
    "FILTER({literal} && {literal})",
    "FILTER({literal} || ?o = {literal})",
    "FILTER(IF({literal}, {literal}, {literal}))",
    "FILTER(COALESCE(1/0, {literal}))",
    "FILTER(!COALESCE({literal}))",
    "FILTER(?o {operator} {literal})",
    "FILTER({literal} {operator} ?o)",
    "FILTER({literal} {operator} {literal})",
    "FILTER(?s != {iri} && {literal})",
    "FILTER(sameTerm(?o, {literal}))",
    "FILTER(?o IN {list})",
    "FILTER(?o NOT IN {list})",
    "FILTER({literal} IN {list})",
    "FILTER(DATATYPE(?o) = {datatype})",
    "FILTER(DATATYPE({literal}) = {datatype})",
    "FILTER(REGEX(STR(?o), {regex}))",
    "FILTER(REGEX(STR({literal}), {regex}))",
    "FILTER(LANGMATCHES(LANG(?o), {range}))",
    "FILTER(LANG(?o) = {tag})",
    "FILTER({tag} != LANG(?o))",
    "FILTER(LANG({literal}) = {tag})",
    "FILTER(CONTAINS(STR(?o), STR({literal})))",
    "OPTIONAL { ?s ?q ?n FILTER({literal}) }",
    "OPTIONAL { ?s ?q ?n FILTER(?n != {literal} && {literal}) }",
    "FILTER EXISTS { ?s ?q ?n FILTER({literal}) }",
    "FILTER NOT EXISTS { ?o ?q ?n FILTER({literal} || ?s = ?n) }",
    "MINUS { ?s ?q {iri} FILTER({literal}) }",
    "{ FILTER({literal}) } UNION { ?o ?q ?n FILTER({literal}) }",
    "{ SELECT ?s (COUNT(*) AS ?m) { ?s ?q {iri} } GROUP BY ?s HAVING({literal}) }",
    "VALUES ?o { {literal} {iri} UNDEF }",
    "?s {predicate} ?n .",
    "{iri} {predicate}+ ?n .",
)
_VALUES = (
    "{literal}",
    "{iri}",
    "?o + {literal}",
    "{literal} / {literal}",
    "?o / {count}",
    "{count} / ?o",
    "-{literal}",
    "IF({literal}, {literal}, ?o)",
    "IF(?o = {literal}, {iri}, {literal})",
    "COALESCE(?n, {literal})",
    "COALESCE(?o + {literal}, {literal})",
    "?o {operator} {literal}",
    "STRDT(STR(?o), {datatype})",
    "STRDT('1', {datatype})",
    "STRLANG('x', {tag})",
    "{cast}({literal})",
    "{cast}(?o)",
    "REPLACE(STR(?o), 'a', STR({literal}))",
    "SUBSTR(STR(?o), {count})",
    "STRLEN({literal})",
    "IRI('c')",
    "IRI(STR({literal}))",
    "URI(?o)",
    "CONCAT(STR(?o), {literal})",
    "ROUND({literal})",
    "YEAR({literal})",
    "EXISTS { ?s ?q {iri} FILTER({literal}) }",
)
_AGGREGATES = (
    "SUM(?o)",
    "SUM(?o + {literal})",
    "SUM({literal})",
    "COUNT({literal})",
    "MAX(IF({literal}, ?o, {literal}))",
    "MIN({literal})",
    "AVG(?o * {literal})",
    "SAMPLE({literal})",
    "GROUP_CONCAT(STR(?o){separator})",
    "GROUP_CONCAT({literal}{separator})",
)
_HAVING = ("{literal}", "!{literal}", "COUNT(*) > {count}", "{literal} {operator} SUM(?o)")


def variants(rng: random.Random, count: int) -> list[str]:
    """A random query `count` times, each with constants of its own in some of its places."""
    text = _query(rng)
    places = re.findall(r"\{(\w+)\}", text)
    queries: list[list[str]] = [[] for _ in range(count)]
    for kind in places:
        pool = KINDS[kind]
        common = rng.choice(pool) if rng.random() < 0.4 else None
        for constants in queries:
            constants.append(common or rng.choice(pool))
    return [_filled(text, constants) for constants in queries]


def _filled(text: str, constants: list[str]) -> str:
    terms = iter(constants)
    filled = re.sub(r"\{\w+\}", lambda _: next(terms), text)
    return filled.replace("{x}", PREFIX)


def _query(rng: random.Random) -> str:
    parts = " ".join(rng.choices(_PARTS, k=rng.choice((1, 1, 2))))
    body = f"?s ?p ?o . {parts}"
    if rng.random() < 0.1:
        body = parts
    rows = "{rows}" if rng.random() < 0.3 else ""
    form = rng.random()
    if form < 0.15:
        query = f"ASK {{ {body} }}"
    elif form < 0.25:
        query = f"CONSTRUCT {{ ?s {{iri}} ?o . ?s ?p {{literal}} }} {{ {body} }}"
    elif form < 0.5:
        aggregates = rng.choices(_AGGREGATES, k=rng.choice((1, 2)))
        shown = " ".join(f"({text} AS ?a{i})" for i, text in enumerate(aggregates))
        keys = rng.choice(("", "GROUP BY ?p", "GROUP BY ({literal} AS ?k)"))
        having = f"HAVING({rng.choice(_HAVING)})" if rng.random() < 0.6 else ""
        query = f"SELECT {shown} {{ {body} }} {keys} {having} {rows}"
    else:
        if rng.random() < 0.6:
            body += f" BIND({rng.choice(_VALUES)} AS ?v)"
        order = f"ORDER BY ({rng.choice(_VALUES)}) ?s ?o" if rng.random() < 0.3 else ""
        query = f"SELECT * {{ {body} }} {order} {rows}"
    cast = rng.choice(("integer", "decimal", "string", "boolean", "double", "dateTime"))
    query = query.replace("{cast}", f"<{XSD}{cast}>")
    query = query.replace("{operator}", rng.choice(("=", "!=", "<", ">=")))
    return f"{{base}} {query}" if rng.random() < 0.5 else query
