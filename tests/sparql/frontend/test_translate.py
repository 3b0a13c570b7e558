"""Translation of a text: terms as written, the shape of the algebra, the columns, the limits."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from weir.sparql.algebra.expressions import Call, Constant, Variable
from weir.sparql.algebra.patterns import (
    Bgp,
    Distinct,
    Filter,
    Join,
    Pattern,
    Project,
    TriplePattern,
)
from weir.sparql.algebra.queries import Ask, Construct, Dataset, Select
from weir.sparql.frontend.errors import QuerySyntaxError, UnsupportedQuery
from weir.sparql.frontend.translate import translate

_X = "http://www.w3.org/2001/XMLSchema#"


def _select(text: str) -> Select:
    form = translate(text).form
    assert isinstance(form, Select)
    return form


def _bgp(pattern: Pattern) -> Bgp:
    if isinstance(pattern, Filter | Project | Distinct):
        return _bgp(pattern.pattern)
    assert isinstance(pattern, Bgp)
    return pattern


def _object(text: str) -> str:
    """The text of the constant that `text` is as an object."""
    prologue = (
        "BASE <http://b/c/d> PREFIX e: <http://e/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>"
    )
    node = _bgp(_select(f"{prologue} SELECT * {{ ?s ?p {text} }}").pattern).patterns[0].object
    assert isinstance(node, Constant)
    return node.term


@pytest.mark.parametrize(
    ("written", "term"),
    [
        ("1e3", f'"1e3"^^<{_X}double>'),
        ("007", f'"007"^^<{_X}integer>'),
        ("-1.50", f'"-1.50"^^<{_X}decimal>'),
        ("+5", f'"+5"^^<{_X}integer>'),
        (".5", f'".5"^^<{_X}decimal>'),
        ("true", f'"true"^^<{_X}boolean>'),
        ('"01"^^xsd:integer', f'"01"^^<{_X}integer>'),
        ('"2020-1-1"^^<http://www.w3.org/2001/XMLSchema#date>', f'"2020-1-1"^^<{_X}date>'),
        ('"x"^^xsd:string', '"x"'),
        ("'x'@en-GB", '"x"@en-gb'),
        ('"x" @en', '"x"@en'),
        ("'''a\n'b\"'''", '"a\\n\'b\\""'),
        ('"tab\\t \\u0041 \\\\u0041"', '"tab\\t A \\\\u0041"'),
        ('"# no comment"', '"# no comment"'),
        ("<../x?q#f>", "<http://b/x?q#f>"),
        ("<\\u0041:b>", "<A:b>"),
        ("e:a\\~b%20c.d", "<http://e/a~b%20c.d>"),
        ("e:", "<http://e/>"),
    ],
)
def test_a_constant_is_the_term_as_written(written: str, term: str) -> None:
    assert _object(written) == term


def test_the_columns_of_a_star_are_in_order_of_first_appearance() -> None:
    text = "SELECT * { FILTER(?z > 1 && ?nowhere > 1) [ ?c ?b ] ?a $z . { ?y a _:x } }"
    assert _select(text).variables == ("z", "c", "b", "a", "y")


def test_a_variable_that_select_names_twice_is_one_column() -> None:
    # 18.2.4.4: the variables that a SELECT projects are a set.
    select = _select("SELECT ?b ?a $b { ?a <u:p> ?b { SELECT ?a ?a { ?a <u:q> ?c } } }")
    assert select.variables == ("b", "a")
    assert isinstance(select.pattern, Project)
    assert select.pattern.variables == ("b", "a")
    assert isinstance(select.pattern.pattern, Join)
    inner = select.pattern.pattern.right
    assert isinstance(inner, Project)
    assert inner.variables == ("a",)


def test_a_select_is_a_projection_of_filters_of_one_basic_graph_pattern() -> None:
    text = "SELECT DISTINCT ?o ?missing { ?s <u:p> ?o FILTER(?o > 1) FILTER(?o < 9) }"
    bgp = Bgp((TriplePattern(Variable("s"), Constant("<u:p>"), Variable("o")),))
    one, nine = Constant(f'"1"^^<{_X}integer>'), Constant(f'"9"^^<{_X}integer>')
    inner = Filter(Call(">", (Variable("o"), one)), bgp)
    outer = Filter(Call("<", (Variable("o"), nine)), inner)
    assert _select(text).pattern == Distinct(Project(("o", "missing"), outer))


def test_nested_groups_become_one_pattern_in_the_order_of_the_text() -> None:
    text = "ASK { ?a <u:p> ?b . { ?b <u:q> ?c FILTER(?c = 1) { ?c <u:r> ?d } } ?d <u:s> ?e }"
    form = translate(text).form
    assert isinstance(form, Ask)
    assert [p.predicate for p in _bgp(form.pattern).patterns] == [
        Constant(f"<u:{name}>") for name in "pqrs"
    ]


def test_a_filter_that_does_not_see_its_variable_in_its_group_stays_there() -> None:
    form = translate("ASK { ?a <u:p> ?b { ?a <u:q> ?c FILTER(?b = 1) } }").form
    assert isinstance(form.pattern, Join)
    assert isinstance(form.pattern.right, Filter)


def test_a_filter_may_mention_a_variable_that_nothing_binds() -> None:
    translate("ASK { ?a <u:p> ?b FILTER(!BOUND(?c)) }")


def test_translation_is_a_function_of_the_text() -> None:
    text = "SELECT * { [] <u:p> (1 [ <u:q> _:b0 ]) . _:b1 <u:r> [] }"
    assert translate(text) == translate(text)


def test_an_anonymous_blank_node_gets_a_label_that_the_text_does_not_use() -> None:
    patterns = _bgp(_select("SELECT * { [] <u:p> _:b0 . _:b1 <u:q> [] }").pattern).patterns
    names = [name for pattern in patterns for name in pattern.variables]
    assert len(set(names)) == 4
    assert {"_:b0", "_:b1"} < set(names)


def test_a_label_in_two_basic_graph_patterns_is_an_error() -> None:
    with pytest.raises(QuerySyntaxError, match=r"<query>:1:47: _:x: .* two basic graph patterns"):
        translate("ASK { ?s <u:p> ?o . { _:x <u:p> ?b } ?c <u:p> _:x }")


def test_a_label_may_be_used_on_both_sides_of_a_filter() -> None:
    translate("ASK { _:x <u:p> ?b FILTER(?b = 1) ?c <u:p> _:x }")


def test_blank_nodes_of_a_template_are_not_those_of_the_pattern() -> None:
    form = translate("CONSTRUCT { _:x <u:p> ?o } { _:x <u:q> ?o }").form
    assert isinstance(form, Construct)
    in_template = {n for p in form.template for n in p.variables if n.startswith("_:")}
    in_pattern = set(_bgp(form.pattern).patterns[0].variables)
    assert in_template
    assert not in_template & in_pattern


def test_construct_where_has_its_pattern_as_template() -> None:
    form = translate("CONSTRUCT WHERE { ?s <u:p> 1.0 , ?o }").form
    assert isinstance(form, Construct)
    assert form.template == _bgp(form.pattern).patterns


def test_from_names_the_graphs_of_the_dataset() -> None:
    text = "SELECT * FROM <u:g> FROM <u:h> FROM <u:g> { ?s ?p ?o }"
    assert translate(text, "default").dataset == Dataset("default", ("<u:g>", "<u:h>"), ())


def test_parts_that_only_present_the_answer_are_recorded() -> None:
    text = "SELECT REDUCED ?s { ?s ?p ?o }\nORDER BY  DESC(?s)\n ?o # end"
    assert translate(text).presentation == ("REDUCED", "ORDER BY DESC(?s) ?o")


def test_signs_are_operators_between_operands_and_part_of_a_number_elsewhere() -> None:
    form = translate("ASK { ?s ?p ?o FILTER(?o -1 = -2.0 && ?o = - 3) }").form
    assert isinstance(form, Ask)
    assert isinstance(form.pattern, Filter)
    one, three = Constant(f'"1"^^<{_X}integer>'), Constant(f'"3"^^<{_X}integer>')
    assert form.pattern.condition == Call(
        "&&",
        (
            Call("=", (Call("-", (Variable("o"), one)), Constant(f'"-2.0"^^<{_X}decimal>'))),
            Call("=", (Variable("o"), Call("NEG", (three,)))),
        ),
    )


@pytest.mark.parametrize("spaced", ["?s :p* 1", "?s (:p)* 1", "?s a* 1", "?s :p +1", "?s :p+ -1"])
def test_a_number_may_follow_a_path_without_a_space(spaced: str) -> None:
    together = "".join(spaced.rsplit(" ", 1))
    prefix = "PREFIX : <http://a/> ASK"
    assert translate(f"{prefix} {{ {together} }}") == translate(f"{prefix} {{ {spaced} }}")


def test_a_relative_iri_of_a_function_is_resolved_against_the_base() -> None:
    form = translate("BASE <http://b/> ASK { ?s ?p ?o FILTER(?s = IRI(?o)) }").form
    assert isinstance(form, Ask)
    assert isinstance(form.pattern, Filter)
    call = Call("IRI", (Variable("o"), Constant("<http://b/>")))
    assert form.pattern.condition == Call("=", (Variable("s"), call))


def test_deep_nesting_is_translated_up_to_the_limit_and_leaves_the_interpreter_alone() -> None:
    before = sys.getrecursionlimit()
    translate("ASK { ?s ?p ?o FILTER" + "(" * 127 + "?o" + ")" * 127 + "}")
    with pytest.raises(UnsupportedQuery, match="nested deeper than 128"):
        translate("ASK { ?s ?p ?o FILTER" + "(" * 128 + "?o" + ")" * 128 + "}")
    assert sys.getrecursionlimit() == before


def test_more_than_64_patterns_are_refused() -> None:
    translate("ASK {" + "?s ?p ?o ." * 64 + "}")
    with pytest.raises(UnsupportedQuery, match="65 triple patterns and paths"):
        translate("ASK {" + "?s ?p ?o ." * 65 + "}")


def test_more_than_a_mebibyte_is_refused() -> None:
    text = "ASK { ?s ?p ?o } #"
    translate(text + " " * (1_048_576 - len(text)))
    with pytest.raises(UnsupportedQuery, match="longer than 1,048,576 bytes"):
        translate(text + " " * (1_048_577 - len(text)))


def test_more_than_10000_tokens_are_refused() -> None:
    with pytest.raises(UnsupportedQuery, match="longer than 10,000 words and symbols"):
        translate("ASK { ?s ?p ?o FILTER(?o IN (" + "?s," * 5_000 + "1)) }")


@pytest.mark.parametrize(
    "text",
    [
        "ASK {{ VALUES ?s {{ {values} }} }}",
        "ASK {{ VALUES (?s ?o) {{ {rows} }} }}",
        "ASK {{ ?s ?p ?o FILTER(?o IN ({list})) }}",
        "ASK {{ ?s ?p ?o FILTER(?o NOT IN ({list})) }}",
    ],
)
def test_lists_of_terms_do_not_count_as_words(text: str) -> None:
    terms = [f"<urn:{i}>" for i in range(5_000)] + [f'"{i}"@en' for i in range(5_000)]
    rows = " ".join(f"({term} -1)" for term in terms)
    translate(text.format(values=" ".join(terms), rows=rows, list=", ".join(terms)))


def test_a_long_chain_of_arithmetic_is_refused() -> None:
    with pytest.raises(UnsupportedQuery, match="deeper than 128 calls"):
        translate("ASK { ?s ?p ?o FILTER(?o = " + "1 + " * 200 + "1) }")


def test_the_queries_of_the_papers_and_of_nomisma_are_translated(shared: Path) -> None:
    files = [
        *shared.glob("papers/examples/000-*/**/*.rq"),
        *shared.glob("data/nomisma/queries/*.rq"),
    ]
    assert len(files) >= 20
    for file in files:
        translate(file.read_text(), file=str(file))
