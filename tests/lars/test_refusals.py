"""Programs that are refused: each with its line and column, and of a cycle the rules."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.lars.cases import lars_case
from tests.support.lars.fixtures import fixture
from weir.lars.errors import ProgramError, ProgramSyntaxError, UnsupportedProgram
from weir.lars.parse import parse
from weir.lars.program import Declarations, DeclaredAtom, Program, read_program, stratified
from weir.lars.syntax import Place

PREFIXES = {"": "http://example.org/"}
PLACE = Place(4, 6)
DECLARED = (
    DeclaredAtom("z", ":it a :z", PLACE),
    DeclaredAtom("g(X)", "?X a :G", PLACE, "graph"),
)


def program(text: str, *atoms: DeclaredAtom, streams: tuple[str, ...] = ("s",)) -> Program:
    """The program of a text, with `z` read from the stream and `g` from the graph."""
    return read_program(text, Declarations(streams, PREFIXES, DECLARED + atoms), "p.lars")


def refused(text: str, *atoms: DeclaredAtom, streams: tuple[str, ...] = ("s",)) -> ProgramError:
    """The error of a text."""
    with pytest.raises(ProgramError) as raised:
        program(text, *atoms, streams=streams)
    return raised.value


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("a(X) <- p(Y).", "1:1", "X: the head has it, and nothing gives it a value"),
        ("p(X) <- q(X).\n@T a <- p(X).", "2:1", "T: the head has it"),
        ("a(X) <- not p(X).", "1:9", "X: the negated atom has it"),
        ("a <- p(X), not q(X,Y).", "1:12", "Y: the negated atom has it"),
        ("a <- p(X), not win^2 @T q(X).", "1:12", "T: the negated atom has it"),
        ("a <- p(X), not q(X,_).", "1:12", "_: the negated atom has it"),
        ("a(_) <- p(X).", "1:1", "_: the head has it"),
        ("a <- p(X), X < Y.", "1:12", "Y: the comparison has it"),
        ("a <- p(X), X = Y + 1, Y = Z.", "1:12", "Y: the comparison has it"),
        ("a <- p(X), Y = Y + 1.", "1:12", "Y: the comparison has it"),
        ("a <- p(X), not q(X,Y), X = Y.".replace("X = Y", "Y > 1"), "1:24", "Y: the comparison"),
        ("a <- f(1).\nf(X).", "2:1", "X: a fact has no variable"),
        ("a <- f(1).\nf(_).", "2:1", "_: a fact has no variable"),
    ],
)
def test_a_variable_without_a_value_is_refused(text: str, where: str, what: str) -> None:
    error = refused(text)
    assert isinstance(error, UnsupportedProgram)
    assert error.where == f"p.lars:{where}"
    assert what in str(error)


@pytest.mark.parametrize(
    "text",
    [
        "a(X,Y) <- p(X), Y = X + 1.",
        "a(X,Z) <- p(X), Z = Y + 1, X + 1 = Y.",
        "a(X) <- X = 3.",
        "a <- p(X), Y = X, not q(X,Y).",
        "a <- not z.",
        "@T1 a <- win^2 @T p(X), T1 = T + 1.",
        "a(T) <- win^2 @T p(_).",
        "@5 a <- z.",
    ],
)
def test_a_value_can_come_from_an_atom_from_at_or_from_an_equation(text: str) -> None:
    assert program(text).output == ("a",)


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("a <- p(X).\nb <- p(X,Y).", "2:6", "p: 2 arguments here, and 1 at 1:6"),
        ("a(X) <- p(X), a(X,X).", "1:15", "a: 2 arguments here, and 1 at 1:1"),
        ("a <- g(X,Y).", "1:6", "g: 2 arguments here, and 1 at 4:6"),
        ("a <- z, p(_).\np.", "2:1", "p: 0 arguments here, and 1 at 1:9"),
        ("a <- win^#2{p(_,_)} box p(X).", "1:13", "p(_,_): 2 arguments here, and 1 at 1:25"),
    ],
)
def test_a_predicate_has_one_number_of_arguments(text: str, where: str, what: str) -> None:
    error = refused(text)
    assert isinstance(error, ProgramSyntaxError)
    assert error.where == f"p.lars:{where}"
    assert what in str(error)


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("a(X) <- p(X).\na(x).", "2:1", "it has facts here, and is derived by rules elsewhere"),
        ("g(X) <- p(X).", "1:1", "it is derived by rules here, and is read from the graph"),
        ("z <- p(X).", "1:1", "it is derived by rules here, and is read from a stream"),
        ("g(x).\na <- g(X).", "1:1", "it has facts here, and is read from the graph elsewhere"),
        ("isOn(X) <- p(X).\nison(X) <- p(X).", "2:1", "it differs from isOn at 1:1 in case only"),
    ],
)
def test_atoms_of_a_predicate_come_from_one_place(text: str, where: str, what: str) -> None:
    error = refused(text)
    assert error.where == f"p.lars:{where}"
    assert what in str(error)


@pytest.mark.parametrize(
    ("text", "where", "cycle"),
    [
        ("a <- not a.", "1:6", "a depends on not a (1:6)"),
        ("a <- not b.\nb <- not a.", "1:6", "a depends on not b (1:6), b depends on not a (2:6)"),
        (
            "b <- win^2 diamond a.\na <- z,\n  not win^1 box b.",
            "3:3",
            "a depends on not b (3:3), b depends on a (1:6)",
        ),
        (
            "a(X) <- p(X), not c(X).\nb(X) <- a(X).\nc(X) <- d(X).\nd(X) <- b(X), p(X).",
            "1:15",
            "a depends on not c (1:15), c depends on d (3:9), d depends on b (4:9),"
            " b depends on a (2:9)",
        ),
        (
            "@T a <- win^2 @T b.\nb <- z, not @3 a.",
            "2:9",
            "b depends on not a (2:9), a depends on b (1:9)",
        ),
    ],
)
def test_a_cycle_through_negation_is_refused_with_its_rules(
    text: str, where: str, cycle: str
) -> None:
    error = refused(text)
    assert isinstance(error, UnsupportedProgram)
    assert error.where == f"p.lars:{where}"
    assert f"negation in a cycle: {cycle}." in str(error)


def test_the_loop_of_the_paper_is_refused_naming_both_predicates(shared: Path) -> None:
    """004-14."""
    text = fixture(shared / "papers" / "examples", 14).text
    with pytest.raises(UnsupportedProgram, match=r"a depends on not b .*, b depends on not a"):
        stratified(parse(text, PREFIXES), "p.lars")


@pytest.mark.parametrize(
    ("text", "where", "cycle"),
    [
        ("@T1 a <- @T a, T1 = T + 1.\n@T a <- @T z.", "1:16", "a depends on a (1:10)"),
        ("c(M) <- c(N), M = N + 1.\nc(N) <- p(N).", "1:15", "c depends on c (1:9)"),
        (
            "c(M) <- b(N), K = N * 2, M = K.\nb(N) <- c(N).",
            "1:26",
            "c depends on b (1:9), b depends on c (2:9)",
        ),
        ('c(M) <- c(N), M = CONCAT(N, "x").\nc(N) <- p(N).', "1:15", "c depends on c (1:9)"),
    ],
)
def test_recursion_through_arithmetic_is_refused_with_its_rules(
    text: str, where: str, cycle: str
) -> None:
    error = refused(text)
    assert isinstance(error, UnsupportedProgram)
    assert error.where == f"p.lars:{where}"
    assert f"recursion through arithmetic makes values without end: {cycle}." in str(error)


@pytest.mark.parametrize(
    "text",
    [
        # The value is one of those of p, and a point is one of the window's.
        "c(M) <- c(N), q(N,K), M = K + 1.\nc(N) <- p(N).",
        "c(N) <- c(N), M = N + 1, M < 5.\nc(N) <- p(N).",
        "c(M) <- c(N), p(M), M = N + 1.\nc(N) <- p(N).",
        "@T c(T) <- win^2 @T c(N).\nc(N) <- p(N).",
    ],
)
def test_arithmetic_beside_recursion_is_not_refused(text: str) -> None:
    assert any(stratum.recursive for stratum in program(text).rules.strata)


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        (
            "a <- win^#3 diamond b.\nb <- z.",
            "1:6",
            "win^#3: tuples are events, and b is derived by rules (2:1)",
        ),
        ("a <- z, not win^#3 box a.", "1:9", "tuples are events, and a is derived by rules"),
        ("a <- win^#3 diamond g(X).", "1:6", "tuples are events, and g is read from the graph"),
        ("k(x).\na <- win^#3 @T k(X).", "2:6", "tuples are events, and k has facts"),
        ("a <- win^#3{z} diamond b.\nb <- z.", "1:6", "tuples are events, and b is derived by"),
        ("a <- z, win^#3{z,g} box z.", "1:18", "tuples are events, and g is read from the graph"),
        (
            "b <- z.\na <- win^#3{z,b} box z.",
            "2:15",
            "tuples are events, and b is derived by rules",
        ),
        ("a <- win^#3{z} box p(X).", "1:6", "win^#3{z}: it does not count p, so that no p is in"),
        ("a <- win^#3{z,q} box z.", "1:15", "q: no rule reads such atoms, so nothing says how"),
        ("a <- @T g(X).", "1:6", "g is read from the graph, so it holds at all points or at none"),
        ("k(x).\na <- z, not @3 k(x).", "2:9", "k has facts, so it holds at all points or at none"),
    ],
)
def test_windows_that_the_origin_of_an_atom_does_not_have_are_refused(
    text: str, where: str, what: str
) -> None:
    error = refused(text)
    assert isinstance(error, UnsupportedProgram)
    assert error.where == f"p.lars:{where}"
    assert what in str(error)


def test_tuple_windows_in_a_program_of_two_streams_are_refused() -> None:
    text = "a(X) <- win^2 diamond p(X),\n  win^#2 box q(X)."
    assert program(text).output == ("a",)
    error = refused(text, streams=("s", "t"))
    assert error.where == "p.lars:2:3"
    assert "the last tuples of 2 streams have no order" in str(error)


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("a <- q.", "1:6", "nothing says which triples are an atom with 0 arguments"),
        ("a <- q(X,Y,Z).", "1:6", 'atoms: {"q(X,Y,Z)": "a pattern of SPARQL"}'),
        ("", "1:1", "it has no rule"),
        ("p(x).", "1:1", "it has no rule"),
    ],
)
def test_atoms_without_a_pattern_and_programs_without_a_rule_are_refused(
    text: str, where: str, what: str
) -> None:
    error = refused(text)
    assert error.where == f"p.lars:{where}"
    assert what in str(error)


@pytest.mark.parametrize("seed", range(150))
def test_random_programs_that_are_safe_and_stratified_are_accepted(seed: int) -> None:
    case = lars_case(seed)
    stratified(parse(case.text, PREFIXES), "p.lars")


@pytest.mark.parametrize("seed", range(20))
def test_a_garbled_program_is_read_or_refused_and_nothing_else(seed: int) -> None:
    rng = random.Random(f"garbled {seed}")
    text = lars_case(seed).text
    for _ in range(25):
        garbled = text
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(garbled) + 1)
            end = at + rng.choice((0, 0, 1, 6))
            garbled = f"{garbled[:at]}{rng.choice(_SOUP)}{garbled[end:]}"
        with suppress(ProgramError):
            stratified(parse(garbled, PREFIXES), "p.lars")


_SOUP = (
    *"()., @%#^+-*/=<>!&\"'\\{}:?_TXa3\n\x00é",
    *(
        " <- ",
        " win^2 ",
        " win^#1 ",
        " win^(1,2) ",
        " step 3 ",
        " win^#1{p} ",
        " diamond ",
        " box ",
        " not ",
        " <= ",
        " ^^ ",
    ),
    *(" <http://x> ", " ex:q ", ' "x" ', " @en ", " STRLEN(X) ", " 1e3 ", " 0.5 ", ""),
)


def test_a_predicate_that_is_not_published_is_not_written_to_a_stream() -> None:
    written = DeclaredAtom("b(X)", "?X a :B", Place(3, 5))
    declarations = Declarations(
        ("s",),
        PREFIXES,
        output=(("a", Place(2, 1)),),
        written=(written,),
        written_stream="t",
    )
    with pytest.raises(UnsupportedProgram, match="Add b to `output`") as raised:
        read_program("a(X) <- p(X).\nb(X) <- p(X).", declarations, "p.lars")
    assert raised.value.where == "p.lars:3:5"


def test_an_atom_of_the_graph_that_no_rule_reads_is_not_read() -> None:
    assert not program("a(X) <- p(X).").reads_graph
    assert program("a(X) <- p(X), g(X).").reads_graph
