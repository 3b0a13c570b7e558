"""Random queries over the whole grammar, and small datasets that give them answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

from hypothesis import strategies as st

from tests.support.generators.basic_cases import Quad

_X = "http://www.w3.org/2001/XMLSchema#"
_NODES = ("<u:a>", "<u:b>", "<u:c>")
_PREDICATES = ("<u:p>", "<u:q>")
_GRAPHS = ("<u:g>", "<u:h>")
_NUMBERS = tuple(f'"{number}"^^<{_X}integer>' for number in (1, 2))
_VARIABLES = ("?a", "?b", "?c")

# In every graph, so that every graph exists and has every term: pyoxigraph departs from SPARQL in
# that it has no zero-length path from a term outside the graph, and evaluates GRAPH over a graph
# that does not exist.
_EVERYWHERE: tuple[Quad, ...] = tuple(
    (graph, subject, "<u:r>", object_)
    for graph in ("", *_GRAPHS)
    for subject, object_ in [("<u:a>", "<u:b>"), *(("<u:c>", o) for o in (*_NUMBERS, '"x"'))]
)

datasets: st.SearchStrategy[list[Quad]] = st.lists(
    st.tuples(
        st.sampled_from(("", *_GRAPHS)),
        st.sampled_from(_NODES),
        st.sampled_from(_PREDICATES),
        st.sampled_from((*_NODES, *_NODES, *_NUMBERS, '"x"')),
    ),
    min_size=3,
    max_size=12,
    unique=True,
).map(lambda quads: [*quads, *_EVERYWHERE])
"""Quads of the unnamed graph and two named ones."""


@dataclass
class _Query:
    """The state of generating one query; `budget` is how many more parts of groups it may have."""

    draw: st.DrawFn
    budget: int
    names: count[int] = field(default_factory=count)
    in_exists: bool = False

    def pick(self, *choices: str) -> str:
        return self.draw(st.sampled_from(choices))

    def new(self) -> str:
        return f"?n{next(self.names)}"

    def maybe(self) -> bool:
        return self.draw(st.booleans())


@st.composite
def select_queries(draw: st.DrawFn, parts: int = 6) -> str:
    """SELECT queries, some with grouping, DISTINCT, LIMIT or a dataset of their own.

    A LIMIT has an ORDER BY of all the variables, so that engines agree on what is first.
    """
    text, _ = _select(_Query(draw, parts), is_subquery=False)
    return text


@st.composite
def ask_queries(draw: st.DrawFn, parts: int = 4) -> str:
    """ASK queries."""
    text, _ = _group(_Query(draw, parts), frozenset())
    return f"ASK {text}"


@st.composite
def construct_queries(draw: st.DrawFn, parts: int = 4) -> str:
    """CONSTRUCT queries; a triple of the template may lack a value, or begin with a literal."""
    text, _ = _group(_Query(draw, parts), frozenset())
    template = draw(
        st.sampled_from(
            ["?a <u:r> ?b", "?a <u:r> ?b , -1.50 . ?c ?b ?a", "_:x <u:r> ?a ; <u:s> _:y , [] , ?b"]
        )
    )
    return f"CONSTRUCT {{ {template} }} WHERE {text}"


def _group(query: _Query, outer: frozenset[str]) -> tuple[str, frozenset[str]]:
    """A group in braces, and the variables in its scope."""
    texts: list[str] = []
    scope = frozenset[str]()
    for _ in range(query.draw(st.integers(1, 3))):
        if query.budget <= 0 and texts:
            break
        query.budget -= 1
        kinds = ["triples", "triples", "triples", "path"]
        if query.budget > 0:
            kinds += ["optional", "union", "graph", "group", "values", "bind", "filter", "exists"]
            # In EXISTS, pyoxigraph takes variables that the outer solution binds as bound in both
            # sides of MINUS, and in a subquery that does not project them.
            kinds += [] if query.in_exists else ["minus", "subquery"]
        text, added = _PARTS[query.pick(*kinds)](query, scope, outer)
        texts.append(text)
        scope |= added
    return f"{{ {' '.join(texts)} }}", scope


@st.composite
def paths(draw: st.DrawFn) -> str:
    """Property paths."""
    return _path_text(_Query(draw, 0), 2)


def _node(query: _Query) -> str:
    return query.pick(*_VARIABLES, *_VARIABLES, *_NODES)


def _object(query: _Query) -> str:
    return query.pick(*_VARIABLES, *_VARIABLES, *_NODES, "1", '"x"')


def _variables(*nodes: str) -> frozenset[str]:
    return frozenset(node for node in nodes if node.startswith("?"))


_Part = tuple[str, frozenset[str]]


def _triples(query: _Query, scope: frozenset[str], outer: frozenset[str]) -> _Part:  # noqa: ARG001
    s, p, o = _node(query), query.pick(*_PREDICATES, "?p"), _object(query)
    text, bound = f"{s} {p} {o}", _variables(s, p, o)
    match query.pick("plain", "plain", "more", "blank"):
        case "more":
            other = _object(query)
            return f"{text} ; {query.pick(*_PREDICATES)} {other} .", bound | _variables(other)
        case "blank":
            return f"{text} . [] {p} {o} .", bound
        case _:
            return f"{text} .", bound


def _path_text(query: _Query, depth: int, *, is_repeated: bool = False) -> str:
    """A property path; alternatives only where a pair counts once: pyoxigraph drops duplicates."""
    kinds = ["link", "link", "inverse", "negated"]
    if depth:
        kinds += ["sequence", "closure", "closure"] + (["alternative"] if is_repeated else [])
    match query.pick(*kinds):
        case "link":
            return query.pick(*_PREDICATES)
        case "inverse":
            return f"^{query.pick(*_PREDICATES)}"
        case "negated":
            both = ["!(<u:p>|^<u:q>)", "!(^<u:p>|<u:p>|a)"] if is_repeated else []
            return query.pick("!<u:p>", "!^<u:p>", "!(<u:p>|a)", *both)
        case "sequence" | "alternative" as kind:
            one, two = (_path_text(query, depth - 1, is_repeated=is_repeated) for _ in range(2))
            return f"({one}{'/' if kind == 'sequence' else '|'}{two})"
        case _:
            inner = _path_text(query, depth - 1, is_repeated=True)
            return f"({inner}){query.pick('*', '+', '?')}"


def _path(query: _Query, scope: frozenset[str], outer: frozenset[str]) -> _Part:  # noqa: ARG001
    s, o = _node(query), _node(query)
    return f"{s} {_path_text(query, 2)} {o} .", _variables(s, o)


def _optional(query: _Query, scope: frozenset[str], outer: frozenset[str]) -> _Part:
    text, bound = _group(query, outer | scope)
    return f"OPTIONAL {text}", bound


def _union(query: _Query, scope: frozenset[str], outer: frozenset[str]) -> _Part:
    left, one = _group(query, outer | scope)
    right, two = _group(query, outer | scope)
    return f"{left} UNION {right}", one | two


def _minus(query: _Query, scope: frozenset[str], outer: frozenset[str]) -> _Part:
    text, _ = _group(query, outer | scope)
    return f"MINUS {text}", frozenset()


def _graph(query: _Query, scope: frozenset[str], outer: frozenset[str]) -> _Part:
    if query.maybe():
        text, bound = _group(query, outer | scope)
        return f"GRAPH {query.pick(*_GRAPHS)} {text}", bound
    # pyoxigraph binds the variable in each triple pattern, and nowhere else.
    text, bound = _triples(query, scope, outer)
    more, others = _triples(query, scope, outer)
    text = f"{text} {query.pick('', 'OPTIONAL')} {{ {more} }}"
    return f"GRAPH ?g {{ {text} }}", bound | others | {"?g"}


def _nested(query: _Query, scope: frozenset[str], outer: frozenset[str]) -> _Part:
    return _group(query, outer | scope)


def _values(query: _Query, scope: frozenset[str], outer: frozenset[str]) -> _Part:  # noqa: ARG001
    one, two = query.pick("?a", "?b"), "?c"
    rows = query.draw(
        st.lists(
            st.tuples(
                st.sampled_from((*_NODES, "UNDEF")), st.sampled_from((*_NODES, "1", "UNDEF"))
            ),
            max_size=3,
        )
    )
    if query.maybe():
        terms = " ".join(term for term, _ in rows)
        return f"VALUES {one} {{ {terms} }}", frozenset({one})
    text = " ".join(f"({left} {right})" for left, right in rows)
    return f"VALUES ({one} {two}) {{ {text} }}", frozenset({one, two})


def _bind(query: _Query, scope: frozenset[str], outer: frozenset[str]) -> _Part:  # noqa: ARG001
    name = query.new()
    # Later parts may use the new variable as any other.
    return f"BIND({_expression(query)} AS {name})", frozenset({name})


def _filter(query: _Query, scope: frozenset[str], outer: frozenset[str]) -> _Part:  # noqa: ARG001
    return f"FILTER({_condition(query)})", frozenset()


def _exists(query: _Query, scope: frozenset[str], outer: frozenset[str]) -> _Part:
    before, query.in_exists = query.in_exists, True
    text, _ = _group(query, outer | scope)
    query.in_exists = before
    condition = f"{query.pick('', 'NOT ')}EXISTS {text}"
    if query.maybe():
        return f"FILTER {condition}", frozenset()
    return f"FILTER({condition} || {_condition(query)})", frozenset()


def _subquery(query: _Query, scope: frozenset[str], outer: frozenset[str]) -> _Part:  # noqa: ARG001
    text, bound = _select(query, is_subquery=True)
    return f"{{ {text} }}", bound


_PARTS = {
    "triples": _triples,
    "path": _path,
    "optional": _optional,
    "union": _union,
    "minus": _minus,
    "graph": _graph,
    "group": _nested,
    "values": _values,
    "bind": _bind,
    "filter": _filter,
    "exists": _exists,
    "subquery": _subquery,
}


def _condition(query: _Query) -> str:
    x, y = query.pick(*_VARIABLES), query.pick(*_VARIABLES)
    return query.pick(
        f"{x} = {y}",
        f"{x} != <u:a>",
        f"BOUND({x})",
        f"!BOUND({x})",
        f"{x} < 2",
        f"isIRI({x}) && {y} = 1",
        f"{x} IN ({y}, <u:b>, 2)",
        f"{x} NOT IN (<u:a>, {y})",
        f"COALESCE({x}, {y}) = <u:b>",
        f"sameTerm({x}, {y}) || isLiteral({x})",
    )


def _expression(query: _Query) -> str:
    x, y = query.pick(*_VARIABLES), query.pick(*_VARIABLES)
    return query.pick(
        x,
        f"{x} + 1",
        f"STR({x})",
        f"IF(BOUND({x}), {x}, {y})",
        f"COALESCE({x}, {y}, 2)",
        "<u:a>",
        f"{x} = {y}",
    )


def _select(query: _Query, *, is_subquery: bool) -> _Part:
    where, scope = _group(query, frozenset())
    dataset = "" if is_subquery else _dataset(query, where)
    if query.pick("plain", "plain", "grouped") == "grouped":
        return _grouped(query, where, sorted(scope), dataset)
    values = query.pick("", "", "", " VALUES ?a { <u:a> 1 }")
    visible = sorted(scope | ({"?a"} if values else set()))
    keyword = query.pick("SELECT", "SELECT", "SELECT DISTINCT")
    if not is_subquery:
        keyword = query.pick(keyword, keyword, "SELECT REDUCED")
    names = query.draw(st.lists(st.sampled_from([*visible, "?a"]), min_size=1, unique=True))
    selected, computed = " ".join(names), ""
    if query.maybe():
        selected, names = "*", visible
    elif query.maybe():
        computed = query.new()
        selected += f" ({_expression(query)} AS {computed})"
        names = [*names, computed]
    order = ""
    if query.maybe():
        keys = query.draw(st.permutations(visible or ["?a"]))
        order = " ORDER BY " + " ".join(query.pick(k, f"DESC({k})", f"ASC({k})") for k in keys)
        # REDUCED may drop solutions before the limit counts them.
        if keyword != "SELECT REDUCED" and not computed:
            order += query.pick("", " LIMIT 2", " OFFSET 1", " LIMIT 1 OFFSET 1", " LIMIT 0")
    return f"{keyword} {selected}{dataset} {where}{order}{values}", frozenset(names)


def _grouped(query: _Query, where: str, visible: list[str], dataset: str) -> _Part:
    keys = query.draw(st.lists(st.sampled_from(visible or ["?a"]), max_size=2, unique=True))
    alias, measured = query.new(), query.pick(*(visible or ["?a"]))
    aggregate = query.pick(
        "COUNT(*)",
        # For pyoxigraph, blank nodes and the middle of a path are part of a solution.
        "COUNT(*)" if "[]" in where or "/" in where else "COUNT(DISTINCT *)",
        f"COUNT({measured})",
        f"COUNT(DISTINCT {measured})",
        f"SUM({measured})",
        f"SUM(DISTINCT {measured})",
        f"AVG({measured})",
        f"MIN({measured})",
        f"MAX({measured})",
        f"STRLEN(GROUP_CONCAT(STR({measured}) ; SEPARATOR=', '))",
        f"SUM(IF(BOUND({measured}), 1, 0)) + COUNT(*)",
    )
    groups = " ".join(keys)
    if keys and query.maybe():
        computed = query.new()
        groups += f" (isIRI({measured}) AS {computed})"
        keys = [*keys, computed]
    having = query.pick("", "", " HAVING(COUNT(*) > 1)", f" HAVING(BOUND({(keys or ['?z'])[0]}))")
    group_by = f" GROUP BY {groups}" if groups else ""
    text = f"SELECT {' '.join(keys)} ({aggregate} AS {alias}){dataset} {where}{group_by}{having}"
    return text, frozenset((*keys, alias))


def _dataset(query: _Query, where: str) -> str:
    # Of a graph that the dataset does not have, pyoxigraph evaluates inline data (`_EVERYWHERE`).
    if any(f"GRAPH {graph}" in where for graph in _GRAPHS):
        every = " ".join(f"FROM NAMED {graph}" for graph in _GRAPHS)
        return query.pick("", "", "", f" FROM <u:g> {every}")
    return query.pick("", "", "", " FROM <u:g>", " FROM <u:g> FROM NAMED <u:h>")
