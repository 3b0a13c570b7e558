"""From the text of a program to its syntax."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from tests.support.lars import programs
from tests.support.lars.cases import lars_case
from tests.support.lars.fixtures import read_fixtures
from tests.support.lars.terms import INTEGER, NAMESPACE, term
from weir.lars.errors import ProgramError, ProgramSyntaxError, UnsupportedProgram
from weir.lars.parse import parse
from weir.lars.syntax import (
    At,
    Atom,
    BodyElement,
    Box,
    Condition,
    CountedAtom,
    Diamond,
    FilteredTupleWindow,
    Head,
    HoppingWindow,
    Literal,
    Modality,
    Place,
    Rule,
    RuleSet,
    Term,
    Time,
    TimeWindow,
    TupleWindow,
    Window,
)
from weir.rdf.terms import canonical_term
from weir.sparql.algebra.expressions import Call, Constant, Expression, Variable

PREFIXES = {"": NAMESPACE, "ex": "http://other.example/"}
SEEDS = range(150)


class Translation:
    """The syntax that a program must have, by what its values mean."""

    def __init__(self) -> None:
        self._anonymous = count(1)

    def rule_set(self, program: programs.Program) -> RuleSet:
        """The rules and facts."""
        rules = tuple(map(self._rule, program.rules))
        return RuleSet(rules, tuple(self._atom(*fact) for fact in program.facts))

    def _rule(self, rule: programs.Rule) -> Rule:
        head = Head(
            self._atom(rule.predicate, rule.arguments),
            None if rule.point is None else _time(rule.point),
        )
        return Rule(head, tuple(map(self._element, rule.body)))

    def _element(self, element: programs.Element | programs.Comparison) -> BodyElement:
        if isinstance(element, programs.Comparison):
            return Condition(
                Call(element.symbol, (self._value(element.left), self._value(element.right)))
            )
        window: Window | None = None
        if element.window is not None:
            window = self._window(element.window)
        modality: Modality | None = None
        if isinstance(element.modality, programs.At):
            modality = At(_time(element.modality.point))
        elif element.modality is not None:
            modality = Diamond() if element.modality == "diamond" else Box()
        atom = self._atom(element.predicate, element.arguments)
        return Literal(atom, window, modality, element.negated)

    def _window(self, window: programs.Window) -> Window:
        if window.step is not None:
            return HoppingWindow(window.size, window.after, window.step)
        if not window.tuples:
            return TimeWindow(window.size)
        if not window.counted:
            return TupleWindow(window.size)
        counted = {
            CountedAtom(
                atom.predicate,
                tuple("" if value is None else term(value) for value in atom.arguments or ()),
            )
            for atom in window.counted
        }
        return FilteredTupleWindow(window.size, tuple(sorted(counted)))

    def _atom(self, predicate: str, arguments: tuple[programs.Argument, ...]) -> Atom:
        return Atom(predicate, tuple(map(self._argument, arguments)))

    def _argument(self, argument: programs.Argument) -> Term:
        constant = self._value(argument)
        assert isinstance(constant, Variable | Constant)
        return constant

    def _value(self, expression: programs.Expression) -> Expression:
        match expression:
            case programs.Var(name):
                return Variable(f"_{next(self._anonymous)}" if name.startswith("_") else name)
            case programs.Sum(operator, left, right):
                return Call(operator, (self._value(left), self._value(right)))
            case _:
                return Constant(term(expression))


def _time(argument: programs.Argument) -> Time:
    match argument:
        case programs.Var(name):
            return Variable(name)
        case int():
            return argument
        case _:
            raise AssertionError("a point is no name")


def only_rule(text: str) -> Rule:
    """The one rule of a text."""
    (rule,) = parse(text, PREFIXES).rules
    return rule


def arguments(text: str) -> tuple[Term, ...]:
    """The arguments of the one fact of a text."""
    (fact,) = parse(text, PREFIXES).facts
    return fact.arguments


@pytest.mark.parametrize("seed", SEEDS)
def test_a_program_that_is_written_is_read_as_it_was(seed: int) -> None:
    case = lars_case(seed)
    assert parse(case.text, PREFIXES) == Translation().rule_set(case.program)


def test_the_programs_of_the_paper_are_read_as_its_notation_says(shared: Path) -> None:
    fixtures = [e for e in read_fixtures(shared / "papers" / "examples") if e.text]
    assert len(fixtures) == 20
    for fixture in fixtures:
        assert parse(fixture.text, PREFIXES) == Translation().rule_set(fixture.program), (
            fixture.name
        )


def test_elements_have_the_places_where_they_begin() -> None:
    rule = only_rule("% a comment\n  @T hot(S) <-\n\tnot off(S), win^2\n@T temp(S,V), V >= 1.")
    places = [element.place for element in rule.body]
    assert rule.place == Place(2, 3)
    assert rule.head.atom.place == Place(2, 6)
    assert places == [Place(3, 2), Place(3, 14), Place(4, 15)]
    assert [literal.atom.place for literal in rule.literals] == [Place(3, 6), Place(4, 4)]


def test_lines_that_end_with_cr_lf_are_counted_like_others() -> None:
    assert [rule.place for rule in parse("a <- b.\r\nc <- d.\r\n", PREFIXES).rules] == [
        Place(1, 1),
        Place(2, 1),
    ]


@pytest.mark.parametrize(
    ("written", "n_triples"),
    [
        ("room", f"<{NAMESPACE}room>"),
        ("true", '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'),
        ("ex:a-b.c", "<http://other.example/a-b.c>"),
        (":room", f"<{NAMESPACE}room>"),
        ("<http://x/%20>", "<http://x/%20>"),
        ("7", f'"7"^^<{INTEGER}>'),
        ("-7", f'"-7"^^<{INTEGER}>'),
        ("007", f'"007"^^<{INTEGER}>'),
        ("1.50", '"1.50"^^<http://www.w3.org/2001/XMLSchema#decimal>'),
        ("1e3", '"1e3"^^<http://www.w3.org/2001/XMLSchema#double>'),
        ('"a % b"', '"a % b"'),
        (r'"a\"\u0041"', r'"a\"A"'),
        ('"a"@EN-gb', '"a"@en-gb'),
        ('"a"^^ex:t', '"a"^^<http://other.example/t>'),
        ('"a"^^<http://x/t>', '"a"^^<http://x/t>'),
    ],
)
def test_a_constant_is_an_rdf_term(written: str, n_triples: str) -> None:
    assert arguments(f"p({written}).") == (Constant(n_triples),)


def test_each_underscore_is_a_variable_of_its_own() -> None:
    first, second = (literal.atom.arguments for literal in only_rule("a <- p(_,_), q(_).").literals)
    assert len({*first, *second}) == 3


def test_a_sign_before_a_number_is_part_of_it_and_any_other_is_an_operator() -> None:
    (condition,) = only_rule("a <- X - 1 < -Y * -2 + 3.").body
    x, y, one, two, three = (
        Variable("X"),
        Variable("Y"),
        *(Constant(term(n)) for n in (1, -2, 3)),
    )
    product = Call("*", (Call("NEG", (y,)), two))
    assert condition == Condition(Call("<", (Call("-", (x, one)), Call("+", (product, three)))))


def test_operators_bind_from_the_left_and_products_bind_first() -> None:
    (condition,) = only_rule("a <- X - Y - Z / X * Y = (X - (Y - Z)).").body
    x, y, z = map(Variable, "XYZ")
    left = Call("-", (Call("-", (x, y)), Call("*", (Call("/", (z, x)), y))))
    assert condition == Condition(Call("=", (left, Call("-", (x, Call("-", (y, z)))))))


def test_functions_of_sparql_can_be_called() -> None:
    (condition,) = only_rule("a <- STRLEN(SUBSTR(X, 2)) > IF(X, 1, 2).").body
    call = Call("STRLEN", (Call("SUBSTR", (Variable("X"), Constant(term(2)))),))
    choice = Call("IF", (Variable("X"), Constant(term(1)), Constant(term(2))))
    assert condition == Condition(Call(">", (call, choice)))


def test_less_than_a_negative_number_is_not_an_arrow_and_less_than_a_name_no_iri() -> None:
    (first, second) = only_rule("a<-V<-3,A<B.").body
    assert first == Condition(Call("<", (Variable("V"), Constant(term(-3)))))
    assert second == Condition(Call("<", (Variable("A"), Variable("B"))))


def test_words_that_begin_like_keywords_are_names() -> None:
    rule = only_rule("winner <- notify(X), boxed, win^1 diamond diamonds.")
    assert [literal.atom.predicate for literal in rule.literals] == ["notify", "boxed", "diamonds"]


@pytest.mark.parametrize(
    "written",
    [
        "win^3",
        "win^9 step 10",
        "win^(0,9) step 10",
        "win^#3",
        "win^#3{p}",
        "win^#3{p(<http://example.org/a>,_),q}",
    ],
)
def test_a_window_is_shown_as_it_is_written(written: str) -> None:
    (literal,) = only_rule(f"a <- {written} diamond p(X,Y).").literals
    assert str(literal.window) == written


def test_what_a_window_counts_has_no_order_and_each_once() -> None:
    first, second = only_rule("a <- win^#1{q,p,q} box p, win^#1{p,q} box p.").literals
    assert first.window == second.window


def test_step_is_a_name_where_no_size_of_a_window_is_before_it() -> None:
    rule = only_rule("step <- win^2 step 3 box step, step.")
    assert [literal.atom.predicate for literal in rule.literals] == ["step", "step"]


def test_a_text_without_statements_is_a_program_without_rules() -> None:
    assert parse("% nothing\n", PREFIXES) == RuleSet((), ())


def test_values_that_say_the_same_are_equal_wherever_they_stand() -> None:
    first, second = only_rule("a <- win^2 box p(X),\n  win^2 box p(X).").literals
    assert first == second
    assert first.place != second.place


@pytest.mark.parametrize(
    ("text", "line", "column", "what"),
    [
        ("a b.", 1, 3, "b: expected <-"),
        ("a <- b", 1, 7, "end of the text: a rule is not complete"),
        ("a <-\n  b,\n.", 3, 1, "expected a name"),
        ("a <- win^2 b.", 1, 12, "b: a window is read by diamond, box or @T"),
        ("a <- win^2 diamonds(X).", 1, 12, "a window is read by"),
        ("a <- win^2 diamond not b.", 1, 20, "negation stands once, before the window"),
        ("a <- not not b.", 1, 10, "negation stands once, before the window"),
        ("a <- win^#0 box b.", 1, 11, "a tuple window has at least one tuple"),
        ("a <- win^X box b.", 1, 10, "expected a whole number"),
        ("a <- win^-1 box b.", 1, 10, "expected a whole number"),
        ("a <- win^2 step 0 box b.", 1, 17, "a window that hops goes on by at least one point"),
        ("a <- win^2 step box b.", 1, 17, "expected a whole number"),
        ("a <- win^2 step -1 box b.", 1, 17, "expected a whole number"),
        ("a <- win^(0,5) step 5 box b.", 1, 13, "(0,5): 5 points after a multiple of 5 are"),
        ("a <- win^(0,5) box b.", 1, 16, "expected step"),
        ("a <- win^(5) step 5 box b.", 1, 12, "expected a comma"),
        ("a <- win^#5 step 5 box b.", 1, 13, "a window is read by diamond, box or @T"),
        ("a <- win^#0{b} box b.", 1, 11, "a tuple window has at least one tuple"),
        ("a <- win^#2{} box b.", 1, 13, "expected a name in lower case"),
        ("a <- win^#2{b box b.", 1, 15, "expected } or a comma or ("),
        ("a <- win^2.5 box b.", 1, 11, "the size of a window is a whole number"),
        ("a <- @T.", 1, 8, "expected a name in lower case"),
        ("@x a <- b.", 1, 2, "expected a variable or a whole number"),
        ("win^2 box a <- b.", 1, 1, "win: expected a name"),
        ("not a <- b.", 1, 1, "not: expected a name"),
        ("A <- b.", 1, 1, "A: a predicate begins with a lower-case letter"),
        ("ex:a <- b.", 1, 3, "a predicate is a name without a prefix"),
        ("a :- b.", 1, 3, ":-: an arrow is written <-"),
        ("@5 a.", 1, 5, "expected <-"),
        ("a() <- b.", 1, 3, "expected"),
        ("a <- P.", 1, 7, "expected a comparison"),
        ("a <- 1 < 2 < 3.", 1, 12, "expected a full stop or a comma"),
        ('a <- p("x).', 1, 8, "a string that does not end in its line"),
        (r'a <- p("\q").', 1, 8, "or an escape that no string has"),
        ("a <- p('x').", 1, 8, "a string"),
        ("p(zz:x).", 1, 3, "zz:x: the prefix zz: is not declared"),
        ("p(<relative>).", 1, 3, "not an absolute IRI"),
        ('p("a"@toolonglanguagetag).', 1, 3, "not a language tag"),
        (r'p("\uD800").', 1, 3, "not a character"),
        ("a <- STRLEN(X,Y) > 1.", 1, 6, "not with 2 arguments"),
        ("a <- b;", 1, 7, "expected a comparison or a full stop or a comma"),
    ],
)
def test_a_malformed_text_is_an_error_with_its_place(
    text: str, line: int, column: int, what: str
) -> None:
    with pytest.raises(ProgramSyntaxError) as raised:
        parse(text, PREFIXES, "p.lars")
    assert raised.value.where == f"p.lars:{line}:{column}"
    assert what in str(raised.value)


def test_a_name_needs_a_namespace() -> None:
    with pytest.raises(ProgramSyntaxError, match="no namespace is declared"):
        parse("p(x).", {})


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("p(A,B,C,D) <- q.", "1:1", "4 arguments, and an atom has at most 3"),
        ("a <- win^9999999999 box b.", "1:10", "more than 1,000,000,000"),
        ("@9999999999999999 a <- b.", "1:2", "more than"),
        ("a <- win^1 step 9999999999 box b.", "1:17", "more than 1,000,000,000"),
        ("a <- win^#1{p(x,X)} box p(_,X).", "1:17", "X: a window counts the same tuples for all"),
        ("a <- FOO(X) > 1.", "1:6", "rules have no function of this name"),
        ("a <- BNODE(X) = Y.", "1:6", "rules have no function of this name"),
        ("a <- X = " + "1 + " * 200 + "1.", "1:6", "deeper than 128 calls"),
        ("a <- X = " + "- " * 3000 + "X.", "1:6", "deeper than 128 calls"),
        ("% " + "x" * 70_000, "1:1", "longer than 65,536 bytes"),
    ],
)
def test_a_program_that_is_too_large_or_calls_an_unknown_function_is_refused(
    text: str, where: str, what: str
) -> None:
    with pytest.raises(UnsupportedProgram) as raised:
        parse(text, PREFIXES, "p.lars")
    assert raised.value.where == f"p.lars:{where}"
    assert what in str(raised.value)


@pytest.mark.parametrize("seed", range(40))
def test_a_text_cut_anywhere_is_read_or_refused_at_a_place_within_it(seed: int) -> None:
    text = lars_case(seed).text
    for end in range(0, len(text), 17):
        place = _place_of_error(text[:end])
        lines = text[:end].splitlines() or [""]
        assert place is None or 1 <= place.line <= len(lines)
        assert place is None or 1 <= place.column <= len(lines[place.line - 1]) + 1


def _place_of_error(text: str) -> Place | None:
    try:
        parse(text, PREFIXES, "p.lars")
    except ProgramError as error:
        return error.place
    return None


@pytest.mark.parametrize(
    "escape", [r"\t", r"\b", r"\n", r"\r", r"\f", r"\\", r"\"", r"\'", r"\u00e9"]
)
def test_every_escape_of_a_string_is_read(escape: str) -> None:
    fact = parse(f'a(X) <- p(X).\nf("x{escape}y").', PREFIXES).facts[0]
    (term,) = fact.arguments
    assert isinstance(term, Constant)
    assert term.term == canonical_term(f'"x{escape}y"', "object")
