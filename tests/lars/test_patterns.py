"""Which triples are an atom, and as which triples an atom is written."""

from __future__ import annotations

import pytest

from weir.lars.atoms import RDF_TYPE, AtomPattern
from weir.lars.errors import ProgramError, ProgramSyntaxError, UnsupportedProgram
from weir.lars.program import Declarations, DeclaredAtom, Program, WrittenAtom, read_program
from weir.lars.syntax import Place
from weir.sparql.algebra.expressions import Constant, Variable
from weir.sparql.algebra.patterns import TriplePattern

PREFIXES = {"": "http://example.org/", "ex": "http://other.example/"}
PLACE = Place(3, 6)


def program(
    text: str,
    *atoms: DeclaredAtom,
    written: tuple[DeclaredAtom, ...] = (),
    output: tuple[tuple[str, Place], ...] | None = None,
) -> Program:
    """A program with declared atoms."""
    stream = "alerts" if written else None
    declarations = Declarations(("s",), PREFIXES, atoms, output, written, stream)
    return read_program(text, declarations, "p.lars")


def atom(signature: str, triples: str) -> DeclaredAtom:
    """An atom of the stream, or a template."""
    return DeclaredAtom(signature, triples, PLACE)


def iri(name: str) -> Constant:
    """An IRI of the empty prefix."""
    return Constant(f"<http://example.org/{name}>")


def variables(*names: str) -> tuple[Variable, ...]:
    """Variables of these names."""
    return tuple(map(Variable, names))


def test_an_atom_of_one_argument_is_an_instance_and_one_of_two_a_property() -> None:
    patterns = program("a(X) <- p(X), q(X,_).").patterns
    x, y = variables("X", "Y")
    assert patterns["p"] == AtomPattern(
        "p", ("X",), (TriplePattern(x, RDF_TYPE, iri("p")),), "stream"
    )
    assert patterns["q"] == AtomPattern("q", ("X", "Y"), (TriplePattern(x, iri("q"), y),), "stream")


def test_a_declared_pattern_names_its_arguments_and_joins_its_triples() -> None:
    declared = atom("w(A,B)", "?A ex:of ?N . ?N ex:has ?B")
    a, n, b = variables("A", "N", "B")
    of, has = Constant("<http://other.example/of>"), Constant("<http://other.example/has>")
    pattern = program("a(X) <- w(X,_).", declared).patterns["w"]
    triples = (TriplePattern(a, of, n), TriplePattern(n, has, b))
    assert pattern == AtomPattern("w", ("A", "B"), triples, "stream")


def test_atoms_of_the_graph_are_background() -> None:
    declared = DeclaredAtom("g(X)", "?X a ex:G", PLACE, "graph")
    compiled = program("a(X) <- p(X), g(X).", declared)
    assert compiled.reads_graph
    assert compiled.predicates["g"].is_background
    assert not compiled.predicates["p"].is_background
    assert not program("a(X) <- p(X).").reads_graph


def test_facts_have_no_pattern() -> None:
    compiled = program("a(X) <- p(X), k(X).\nk(x).")
    assert {*compiled.patterns} == {"p"}
    assert compiled.predicates["k"].origin == "facts"


@pytest.mark.parametrize(
    ("declared", "what"),
    [
        (atom("w(a)", "?a ex:of ?b"), "w(a): not a predicate with up to three variables"),
        (atom("w(X,X)", "?X ex:of ?X"), "up to three variables that differ"),
        (atom("W(X)", "?X ex:of ?Y"), "not a predicate"),
        (atom("w(X", "?X ex:of ?Y"), "not a predicate"),
        (atom("w(X,Y)", "?X ex:of ?Z"), "it does not have ?Y"),
        (atom("w(X)", "?X ex:of* ?Z"), "not a basic graph pattern"),
        (atom("w(X)", "?X ex:of ?Z FILTER(?Z > 1)"), "not a basic graph pattern"),
        (atom("w(X)", "GRAPH ?g { ?X ex:of ?Z }"), "not a basic graph pattern"),
        (atom("w(X)", "?X ex:of ?Z } UNION { ?X ex:of 3"), "not SPARQL 1.1 from here on"),
        (atom("w", ""), "not a basic graph pattern"),
        (atom("w(X)", "?X zz:of ?Z"), "the prefix zz: is not declared"),
        (atom("w(X)", "?X ex:of"), "not SPARQL 1.1 from here on"),
    ],
)
def test_a_wrong_pattern_is_an_error_at_its_key(declared: DeclaredAtom, what: str) -> None:
    with pytest.raises(ProgramError) as raised:
        program("a(X) <- p(X).", declared)
    assert raised.value.where == "p.lars:3:6"
    assert what in str(raised.value)


def test_a_predicate_is_declared_once() -> None:
    second = DeclaredAtom("w(X,Y)", "?X ex:of ?Y", Place(4, 6))
    with pytest.raises(ProgramSyntaxError, match=r"p.lars:4:6: w: it is declared twice"):
        program("a(X) <- p(X).", atom("w(X)", "?X a ex:W"), second)


def test_a_default_pattern_needs_a_namespace() -> None:
    with pytest.raises(ProgramSyntaxError, match=r"p.lars:1:9: p: .* no namespace"):
        read_program("a(X) <- p(X).", Declarations(("s",), {}), "p.lars")


def test_atoms_are_written_as_triples_of_their_arguments() -> None:
    compiled = program(
        "alarm <- p(_).\nhot(X,V) <- q(X,V).",
        written=(atom("alarm", ":it a ex:Alarm"), atom("hot(S,V)", "?S ex:is ?V")),
    )
    s, v = variables("S", "V")
    assert compiled.written_stream == "alerts"
    assert compiled.written == (
        WrittenAtom(
            "alarm",
            (),
            (TriplePattern(iri("it"), RDF_TYPE, Constant("<http://other.example/Alarm>")),),
        ),
        WrittenAtom(
            "hot", ("S", "V"), (TriplePattern(s, Constant("<http://other.example/is>"), v),)
        ),
    )


@pytest.mark.parametrize(
    ("written", "what"),
    [
        (atom("p(X)", "?X a ex:P"), "p: no rule derives it. The rules derive a."),
        (atom("b(X)", "?X a ex:P"), "b: no rule derives it"),
        (atom("a", ":it a ex:P"), "the rules derive it with 1 arguments"),
        (atom("a(X)", "?Y a ex:P"), "?Y is no argument of a"),
        (atom("a(X)", "[] ex:of ?X"), "is no argument of a"),
        (atom("a(X)", ""), "an empty template makes no triple"),
        (atom("a(X)", "?X a"), "not SPARQL 1.1 from here on"),
    ],
)
def test_a_wrong_template_is_an_error_at_its_key(written: DeclaredAtom, what: str) -> None:
    with pytest.raises(ProgramError) as raised:
        program("a(X) <- p(X).", written=(written,))
    assert raised.value.where == "p.lars:3:6"
    assert what in str(raised.value)


def test_all_derived_predicates_are_published_unless_the_front_matter_chooses() -> None:
    text = "b(X) <- a(X).\na(X) <- p(X)."
    assert program(text).output == ("b", "a")
    assert program(text, output=(("a", PLACE),)).output == ("a",)
    with pytest.raises(UnsupportedProgram, match=r"p.lars:3:6: p: no rule derives it"):
        program(text, output=(("p", PLACE),))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a(X,Y) <- q(X,Y).", ("x", "y")),
        ("a(X,3) <- p(X).\na(X,Speed) <- q(X,Speed).", ("x", "speed")),
        ("a(X,3) <- p(X).", ("x", "a2")),
        ("a(X,X) <- p(X).", ("x", "a2")),
        ("a(room,X) <- p(X).\na(X,Y) <- q(X,Y).", ("x", "y")),
        ("a(A2,room) <- p(A2).", ("a1", "a2")),
        ("a(V,v) <- p(V).\na(room,V) <- p(V).", ("v", "a2")),
        ("a <- p(_).", ()),
    ],
)
def test_columns_are_named_after_the_variables_of_heads(text: str, names: tuple[str, ...]) -> None:
    columns = program(text).argument_names("a")
    assert columns == names
    assert len({*columns}) == len(columns)


def test_a_variable_named_like_another_column_names_none() -> None:
    assert program("a(Epoch,X) <- q(X,Epoch).").argument_names("a", {"epoch"}) == ("a1", "x")
