"""What each form of SPARQL becomes in the algebra: https://www.w3.org/TR/sparql11-query/#sparqlQuery."""

from __future__ import annotations

import pytest

from weir.sparql.algebra.expressions import Call, Constant, Exists, Variable
from weir.sparql.algebra.paths import (
    Alternative,
    Closure,
    Inverse,
    Link,
    Negated,
    Sequence,
    ZeroOrOne,
)
from weir.sparql.algebra.patterns import (
    Aggregate,
    Bgp,
    Distinct,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    LeftJoin,
    Minus,
    OrderKey,
    PathPattern,
    Pattern,
    Project,
    Reduced,
    Slice,
    TriplePattern,
    Union,
    Values,
)
from weir.sparql.algebra.queries import Ask, Dataset, Select
from weir.sparql.frontend.translate import translate

_A, _B, _C, _N = (Variable(name) for name in "abcn")
_ONE = Constant('"1"^^<http://www.w3.org/2001/XMLSchema#integer>')
_TRUE = Constant('"true"^^<http://www.w3.org/2001/XMLSchema#boolean>')
_P, _Q, _R = (Bgp((TriplePattern(_A, Constant(f"<u:{name}>"), _B),)) for name in "pqr")
_IS_ONE = Call("=", (_B, _ONE))


def _where(text: str) -> Pattern:
    """The pattern of a group; `P` is the triple `?a <u:p> ?b`."""
    for name in "PQR":
        text = text.replace(f" {name} ", f" ?a <u:{name.lower()}> ?b ")
    form = translate(f"ASK {{ {text} }}").form
    assert isinstance(form, Ask)
    return form.pattern


def _select(text: str) -> Select:
    form = translate(text).form
    assert isinstance(form, Select)
    return form


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("", Bgp(())),
        ("{}", Bgp(())),
        ("P OPTIONAL { Q }", LeftJoin(_P, _Q)),
        ("OPTIONAL { P }", LeftJoin(Bgp(()), _P)),
        ("P OPTIONAL { Q FILTER(?b = 1) }", LeftJoin(_P, _Q, _IS_ONE)),
        (
            "P OPTIONAL { Q FILTER(?b = 1) FILTER(?b = 1) }",
            LeftJoin(_P, _Q, Call("&&", (_IS_ONE, _IS_ONE))),
        ),
        ("P OPTIONAL { { Q FILTER(?b = 1) } }", LeftJoin(_P, Filter(_IS_ONE, _Q))),
        ("P OPTIONAL { Q } OPTIONAL { R }", LeftJoin(LeftJoin(_P, _Q), _R)),
        ("P OPTIONAL { Q } R ", Join(LeftJoin(_P, _Q), _R)),
        ("FILTER(?b = 1) P MINUS { Q }", Filter(_IS_ONE, Minus(_P, _Q))),
        ("{ P } UNION { Q } UNION { R }", Union(Union(_P, _Q), _R)),
        ("{ P } UNION {}", Union(_P, Bgp(()))),
        ("GRAPH <u:g> { P }", Graph(Constant("<u:g>"), _P)),
        ("GRAPH ?c { GRAPH ?n { P } }", Graph(_C, Graph(_N, _P))),
        ("BIND(1 AS ?c)", Extend(Bgp(()), "c", _ONE)),
        ("P BIND(1 AS ?c) Q ", Join(Extend(_P, "c", _ONE), _Q)),
        ("VALUES ?c { 1 UNDEF }", Values(("c",), ((_ONE.term,), (None,)))),
        ("P VALUES () { () }", Join(_P, Values((), ((),)))),
        ("VALUES (?a ?c) { (UNDEF true) }", Values(("a", "c"), ((None, _TRUE.term),))),
        ("P FILTER EXISTS { Q }", Filter(Exists(_Q), _P)),
        ("P FILTER NOT EXISTS { Q }", Filter(Call("!", (Exists(_Q),)), _P)),
        ("P { SELECT ?a { Q } }", Join(_P, Project(("a",), _Q))),
        ("P { SELECT ?a { Q } ORDER BY ?b }", Join(_P, Project(("a",), _Q))),
    ],
)
def test_a_group_becomes_what_the_specification_says(text: str, pattern: Pattern) -> None:
    assert _where(f" {text} ") == pattern


def _path(text: str) -> Pattern:
    return _where(f"?a {text} ?b")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("<u:p>*", Closure(Link("<u:p>"), 0)),
        ("<u:p>+", Closure(Link("<u:p>"), 1)),
        ("<u:p>?", ZeroOrOne(Link("<u:p>"))),
        ("<u:p>|^<u:q>", Alternative(Link("<u:p>"), Inverse(Link("<u:q>")))),
        ("(<u:p>/<u:q>)*", Closure(Sequence(Link("<u:p>"), Link("<u:q>")), 0)),
        ("!<u:p>", Negated(("<u:p>",))),
        ("!()", Negated(())),
        ("!(<u:p>|<u:q>|<u:p>)", Negated(("<u:p>", "<u:q>"))),
        ("!^<u:p>", Negated(None, ("<u:p>",))),
        ("!(^<u:p>|<u:q>|^<u:r>)", Negated(("<u:q>",), ("<u:p>", "<u:r>"))),
    ],
)
def test_a_path_that_is_not_a_chain_of_triples_stays_a_path(text: str, path: object) -> None:
    assert _path(text) == PathPattern(_A, path, _B)  # type: ignore[arg-type]


def test_links_inverses_and_sequences_are_triple_patterns() -> None:
    one, two = Variable("_:path1"), Variable("_:path2")
    p, q, r = (Constant(f"<u:{name}>") for name in "pqr")
    assert _path("<u:p>/^<u:q>/<u:r>") == Bgp(
        (TriplePattern(_A, p, two), TriplePattern(one, q, two), TriplePattern(one, r, _B))
    )
    assert _path("^(<u:p>/<u:q>)") == Bgp((TriplePattern(_B, p, one), TriplePattern(one, q, _A)))


def test_the_inverse_of_a_path_is_the_path_with_its_ends_exchanged() -> None:
    assert _path("^(<u:p>*)") == PathPattern(_B, Closure(Link("<u:p>"), 0), _A)


def test_the_variable_between_two_steps_is_not_one_of_the_query() -> None:
    pattern = _where("_:path1 <u:p>/<u:q> ?b")
    assert isinstance(pattern, Bgp)
    assert pattern.patterns[0].object == Variable("_:path2")


def test_a_path_between_triple_patterns_is_joined_in_its_place() -> None:
    pattern = _where(" P . ?a <u:p>* ?b . Q ")
    assert pattern == Join(Join(_P, PathPattern(_A, Closure(Link("<u:p>"), 0), _B)), _Q)


def test_groups_with_filters_on_their_own_variables_are_one_pattern() -> None:
    pattern = _where(" P { Q FILTER(?b = 1) } ")
    assert pattern == Filter(_IS_ONE, Bgp((*_P.patterns, *_Q.patterns)))


def test_a_filter_with_exists_stays_in_its_group() -> None:
    assert _where(" P { Q FILTER EXISTS { R } } ") == Join(_P, Filter(Exists(_R), _Q))


def test_star_selects_the_variables_in_scope_in_order_of_first_mention() -> None:
    text = """SELECT * { FILTER EXISTS { ?no ?no ?z } ?x ?y [] MINUS { ?x ?never 1 }
        OPTIONAL { GRAPH ?g { ?z <u:p>/<u:q> 1 } } { SELECT (?inner AS ?out) { ?inner a 1 } }
        BIND(1 AS ?bound) } VALUES ?given { 1 }"""
    assert _select(text).variables == ("z", "x", "y", "g", "out", "bound", "given")


def test_aggregates_are_hidden_variables_of_one_group() -> None:
    select = _select(
        "SELECT ?a (COUNT(*) + SUM(?b) AS ?n) { ?a <u:p> ?b } GROUP BY ?a HAVING (SUM(?b) = 1)"
    )
    count, total = Variable("_:agg1"), Variable("_:agg2")
    group = Group(
        ("a",), (("_:agg1", Aggregate("COUNT", None)), ("_:agg2", Aggregate("SUM", _B))), _P
    )
    having = Filter(Call("=", (total, _ONE)), group)
    assert select.pattern == Project(("a", "n"), Extend(having, "n", Call("+", (count, total))))


def test_an_aggregate_keeps_distinct_and_its_separator() -> None:
    select = _select("SELECT (GROUP_CONCAT(DISTINCT ?b; SEPARATOR=', ') AS ?n) { ?a <u:p> ?b }")
    group = Group((), (("_:agg1", Aggregate("GROUP_CONCAT", _B, True, ", ")),), _P)
    assert select.pattern == Project(("n",), Extend(group, "n", Variable("_:agg1")))


def test_keys_that_are_expressions_become_variables() -> None:
    text = "SELECT ?n { ?a <u:p> ?b } GROUP BY (STR(?a) AS ?n) LANG(?b) (?b)"
    named = Extend(_P, "n", Call("STR", (_A,)))
    hidden = Extend(named, "_:key1", Call("LANG", (_B,)))
    assert _select(text).pattern == Project(("n",), Group(("n", "_:key1", "b"), (), hidden))


def test_a_variable_of_having_that_is_no_key_is_sampled() -> None:
    text = "SELECT ?a { ?a <u:p> ?b } GROUP BY ?a HAVING (?b = 1)"
    sample = Group(("a",), (("_:agg1", Aggregate("SAMPLE", _B)),), _P)
    condition = Call("=", (Variable("_:agg1"), _ONE))
    assert _select(text).pattern == Project(("a",), Filter(condition, sample))


def test_distinct_solutions_are_counted_without_blank_nodes() -> None:
    select = _select("SELECT (COUNT(DISTINCT *) AS ?n) { [] <u:p> ?b }")
    assert isinstance(select.pattern, Project)
    assert isinstance(select.pattern.pattern, Extend)
    group = select.pattern.pattern.pattern
    assert isinstance(group, Group)
    assert isinstance(group.pattern, Project)
    assert group.pattern.variables == ("b",)


def test_values_at_the_end_are_joined_with_the_groups() -> None:
    text = "SELECT ?a (COUNT(*) AS ?n) { ?a <u:p> ?b } GROUP BY ?a VALUES ?a { 1 }"
    group = Group(("a",), (("_:agg1", Aggregate("COUNT", None)),), _P)
    joined = Join(group, Values(("a",), ((_ONE.term,),)))
    assert _select(text).pattern == Project(("a", "n"), Extend(joined, "n", Variable("_:agg1")))


_KEYS = (OrderKey(_A, True), OrderKey(Call("STR", (_B,))))
_ORDER = "{ ?a <u:p> ?b } ORDER BY DESC(?a) STR(?b)"


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        (f"SELECT ?a {_ORDER}", Project(("a",), _P)),
        (f"SELECT ?a {_ORDER} LIMIT 2", Project(("a",), Slice(_P, _KEYS, 0, 2))),
        (f"SELECT REDUCED ?a {_ORDER} OFFSET 1", Reduced(Project(("a",), Slice(_P, _KEYS, 1)))),
        (
            f"SELECT DISTINCT * {_ORDER} OFFSET 1 LIMIT 2",
            Slice(Distinct(Project(("a", "b"), _P)), _KEYS, 1, 2),
        ),
        ("SELECT ?a { ?a <u:p> ?b } OFFSET 0", Project(("a",), _P)),
        ("SELECT ?a { ?a <u:p> ?b } LIMIT 0", Project(("a",), Slice(_P, (), 0, 0))),
    ],
)
def test_a_bag_is_sliced_before_its_projection_and_a_set_after(text: str, pattern: Pattern) -> None:
    assert _select(text).pattern == pattern


def test_a_distinct_solution_is_placed_where_its_first_duplicate_is() -> None:
    pattern = _select(f"SELECT DISTINCT ?a {_ORDER} LIMIT 2").pattern
    place = Call("CONCAT", (Call("SORTKEY DESC", (_A,)), Call("SORTKEY", (Call("STR", (_B,)),))))
    group = Group(("a",), (("_:first1", Aggregate("MIN", place)),), _P)
    keys = (OrderKey(Variable("_:first1")),)
    assert pattern == Project(("a",), Slice(group, keys, 0, 2))


def test_an_ask_and_a_construct_have_modifiers() -> None:
    for form in ("ASK", "CONSTRUCT { ?a a ?a }"):
        query = translate(f"{form} {{ ?a <u:p> ?b }} GROUP BY ?a HAVING (?a = 1) LIMIT 3")
        grouped = Filter(Call("=", (_A, _ONE)), Group(("a",), (), _P))
        assert query.form.pattern == Slice(grouped, (), 0, 3)


def test_calls_of_bnode_without_a_label_differ() -> None:
    pattern = _where('BIND(BNODE() AS ?a) BIND(BNODE() AS ?b) BIND(BNODE("x") AS ?c)')
    labels = []
    while isinstance(pattern, Extend):
        assert isinstance(pattern.expression, Call)
        labels.append(pattern.expression.arguments[0])
        pattern = pattern.pattern
    assert labels == [Constant('"x"'), Constant("_:call2"), Constant("_:call1")]


@pytest.mark.parametrize(
    ("clauses", "dataset"),
    [
        ("", Dataset("default")),
        ("FROM <u:g>", Dataset("default", ("<u:g>",), ())),
        ("FROM NAMED <u:g> FROM NAMED <u:h>", Dataset("default", (), ("<u:g>", "<u:h>"))),
        ("FROM <u:g> FROM NAMED <u:g>", Dataset("default", ("<u:g>",), ("<u:g>",))),
    ],
)
def test_the_dataset_is_that_of_from_and_from_named(clauses: str, dataset: Dataset) -> None:
    assert translate(f"ASK {clauses} {{ }}", "default").dataset == dataset


def test_presentation_is_of_the_outermost_level_only() -> None:
    query = translate(
        "ASK { { SELECT REDUCED ?a { ?a a 1 } ORDER BY ?a } } ORDER BY ?b VALUES ?b {}"
    )
    assert query.presentation == ("ORDER BY ?b",)
    assert translate(f"SELECT ?a {_ORDER} LIMIT 1").presentation == ()
