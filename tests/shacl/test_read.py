"""What shapes graphs are refused, each with the shape and its place."""

from __future__ import annotations

import pytest

from weir.shacl.errors import ShapesError, ShapesSyntaxError, UnsupportedShapes
from weir.shacl.read import read_shapes

_PREFIXES = "@prefix : <http://x/> . @prefix sh: <http://www.w3.org/ns/shacl#> .\n"


@pytest.mark.parametrize(
    ("shape", "where", "what"),
    [
        (":S a sh:NodeShape ; sh:minCount 1 .", "2:21", "only property shapes have it"),
        (":S a sh:NodeShape ; sh:datatype :a, :b .", "2:21", "it has several values"),
        (":S a sh:NodeShape ; sh:in :a .", "2:21", "its value is not a list"),
        (":S a sh:NodeShape ; sh:in ( [] ) .", "2:21", "no node of the data"),
        (":S a sh:NodeShape ; sh:maxLength 1.5 .", "2:21", "not an xsd:integer"),
        (":S a sh:NodeShape ; sh:nodeKind :Iri .", "2:21", "Write one of sh:IRI"),
        (":S a sh:NodeShape ; sh:targetNode [] .", "2:21", "not an IRI or a literal"),
        (":S a sh:NodeShape ; sh:property [ sh:minCount 1 ] .", "2:21", "it has no sh:path"),
        (":S a sh:PropertyShape ; sh:targetNode :a .", "2:1", "a property shape has one"),
        (":S a sh:PropertyShape ; sh:path ( :a ) .", "2:25", "at least two members"),
        (":S a sh:PropertyShape ; sh:path [ :x :a ] .", "2:25", "it is not a path"),
        (":S a sh:NodeShape ; sh:node [ sh:path :p ] .", "2:21", "is a property shape"),
        (":S a sh:NodeShape ; sh:closed 1 .", "2:21", "neither true nor false"),
        (":S a sh:NodeShape ;", "2:20", "not Turtle"),
        (":S a sh:NodeShape ; sh:minCnt 1 .", "2:21", "Did you mean minCount"),
        (":S a sh:NodeShap .", "2:6", "Did you mean NodeShape"),
        (":S a sh:NodeShape ; sh:pattern '[a' .", "2:21", "no regular expression"),
        (":S a sh:NodeShape ; sh:pattern 'a' ; sh:flags 'zz' .", "2:21", "regular expression"),
        (":S a sh:NodeShape ; sh:pattern 'a' ; sh:flags 'i', 's' .", "2:38", "several values"),
        (":S a sh:NodeShape ; sh:not 'x' .", "2:1", "is no shape"),
        (":S a sh:NodeShape ; sh:minLength 1 .", "1:1", "no shape has a target"),
        ("", "1:1", "no shape has a target"),
    ],
)
def test_an_ill_formed_shape_is_named_with_its_place(shape: str, where: str, what: str) -> None:
    with pytest.raises(ShapesSyntaxError) as raised:
        read_shapes(_PREFIXES + shape, "s.ttl")
    assert raised.value.where == f"s.ttl:{where}"
    assert what in f"{raised.value.what} {raised.value.hint}"


def test_a_cycle_is_printed() -> None:
    text = ":A a sh:NodeShape ; sh:node :B . :B a sh:NodeShape ; sh:not :A ."
    with pytest.raises(UnsupportedShapes, match=r"<http://x/A> > <http://x/B> > <http://x/A>"):
        read_shapes(_PREFIXES + text, "s.ttl")


def test_a_shapes_graph_may_import_shacl_itself() -> None:
    imports = ":O <http://www.w3.org/2002/07/owl#imports> sh: ."
    shape = ":S a sh:NodeShape ; sh:targetNode :a ; sh:minLength 1 ."
    assert read_shapes(f"{_PREFIXES}{imports} {shape}", "s.ttl")


@pytest.mark.parametrize("name", ["target", "rule", "js"])
def test_what_is_beyond_shacl_is_refused(name: str) -> None:
    with pytest.raises(UnsupportedShapes, match=f"sh:{name} of <http://x/S>"):
        read_shapes(f"{_PREFIXES}:S a sh:NodeShape ; sh:{name} [] .", "s.ttl")


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ("SELECT ?x { ?x :p $this }", r"it does not select \$this"),
        ("SELECT $this { $this :p ?x MINUS { ?x :p 1 } }", "it has MINUS"),
        ("SELECT $this { $this :p ?x } LIMIT 1", "it has LIMIT"),
        ("SELECT $this { $this :p ?x ; }}", "it closes no open bracket"),
        ("ASK { $this :p ?x }", "it is no SELECT query"),
    ],
)
def test_a_query_without_a_meaning_at_a_focus_node_is_refused(query: str, what: str) -> None:
    declared = '[ sh:declare [ sh:prefix "" ; sh:namespace "http://x/" ] ]'
    constraint = f'[ sh:prefixes {declared} ; sh:select "{query}" ]'
    with pytest.raises(ShapesError, match=what):
        read_shapes(f"{_PREFIXES}:S a sh:NodeShape ; sh:sparql {constraint} .", "s.ttl")


def test_a_blank_shape_keeps_its_name_when_another_shape_is_edited() -> None:
    shape = ":S a sh:NodeShape ; sh:targetNode :a ; sh:property [ sh:path :p ; sh:minCount 1 ] ."
    other = " :T a sh:NodeShape ; sh:targetNode :b ; sh:property [ sh:path :q ; sh:minCount 2 ] ."
    (alone,) = read_shapes(_PREFIXES + shape, "s.ttl")
    both = read_shapes(_PREFIXES + shape + other, "s.ttl")
    assert alone == both[0]
    assert alone.constraints[0].shape.name.startswith("<urn:weir:shape:")  # type: ignore[attr-defined]


def test_a_list_may_have_thousands_of_members() -> None:
    members = " ".join(f":m{i} {i}" for i in range(2500))
    text = f"{_PREFIXES}:S a sh:NodeShape ; sh:targetNode :a ; sh:in ( {members} ) ."
    (shape,) = read_shapes(text, "s.ttl")
    assert len(shape.constraints) == 1


@pytest.mark.parametrize(
    ("parameters", "what"),
    [
        ("[ sh:path :p ; sh:optional true ]", "not optional"),
        ("[ sh:path :value ]", "stands for something else"),
    ],
)
def test_a_component_that_would_be_of_all_shapes_is_refused(parameters: str, what: str) -> None:
    text = f":C a sh:ConstraintComponent ; sh:parameter {parameters} ."
    with pytest.raises(ShapesSyntaxError, match=what):
        read_shapes(f"{_PREFIXES}{text} :S a sh:NodeShape ; sh:targetNode :a .", "s.ttl")
