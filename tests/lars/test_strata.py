"""Strata, look-back and windows of programs."""

from __future__ import annotations

import random

import pytest

from tests.support.lars.cases import lars_case
from tests.support.lars.definitions import negative_cycle
from tests.support.lars.programs import Element, Rule, text
from tests.support.lars.programs import Program as Written
from tests.support.laws import Seeds
from weir.lars.errors import UnsupportedProgram
from weir.lars.parse import parse
from weir.lars.program import Declarations, DeclaredAtom, Program, read_program, stratified
from weir.lars.reads import LookBack
from weir.lars.syntax import Assignment, Condition, Literal, Place, Stratified

PREFIXES = {"": "http://example.org/"}


def program(written: str) -> Program:
    """A program whose atoms z and y have no arguments and are of the stream."""
    place = Place(1, 1)
    atoms = tuple(DeclaredAtom(name, f":it a :{name}", place) for name in "yz")
    return read_program(written, Declarations(("s",), PREFIXES, atoms))


def propositional(rng: random.Random) -> Written:
    """Rules over predicates without arguments, with any dependencies."""
    names = [f"p{i}" for i in range(rng.randint(1, 6))]

    def element() -> Element:
        name = rng.choice([*names, "e"])
        return Element(name, negated=rng.random() < 0.25)

    return Written(
        tuple(
            Rule(rng.choice(names), (), None, tuple(element() for _ in range(rng.randint(1, 2))))
            for _ in range(rng.randint(1, 8))
        )
    )


def checked(written: Written) -> Stratified | None:
    """The strata, None if they are refused."""
    try:
        return stratified(parse(text(written), {}), "p.lars")
    except UnsupportedProgram:
        return None


@pytest.mark.law("strata")
def test_programs_are_refused_if_and_only_if_a_predicate_depends_on_its_negation(
    seeds: Seeds,
) -> None:
    refused = 0
    for seed in seeds:
        written = propositional(random.Random(f"strata {seed}"))
        is_refused = checked(written) is None
        assert is_refused == (negative_cycle(written) is not None), text(written)
        refused += is_refused
    assert len(seeds) < 100 or len(seeds) / 12 < refused < len(seeds) * 11 / 12


@pytest.mark.law("strata")
def test_what_a_body_reads_is_in_an_earlier_stratum_and_only_unnegated_in_its_own(
    seeds: Seeds,
) -> None:
    for seed in seeds:
        rules = checked(propositional(random.Random(f"strata {seed}")))
        seen: set[str] = set()
        for stratum in rules.strata if rules else ():
            own = {*stratum.predicates}
            assert own.isdisjoint(seen)
            assert {rule.head.atom.predicate for rule in stratum.rules} == own
            derived = {*(rules.derived if rules else ())}
            for literal in (literal for rule in stratum.rules for literal in rule.literals):
                name = literal.atom.predicate
                assert name not in derived or name in seen or (name in own and not literal.negated)
            reads_own = any(e.atom.predicate in own for r in stratum.rules for e in r.literals)
            assert stratum.recursive == reads_own
            assert stratum.recursive or len(own) == 1
            seen |= own


def test_strata_have_every_rule_once() -> None:
    for seed in range(100):
        case = lars_case(seed)
        parsed = parse(case.text, PREFIXES)
        rules = stratified(parsed, "p.lars")
        assert sorted(rule.place for rule in rules.rules) == [rule.place for rule in parsed.rules]
        assert rules.facts == parsed.facts


def test_recursive_predicates_are_one_stratum_and_others_one_each() -> None:
    compiled = program(
        "c <- b, not d.\nb <- win^1 box a.\na <- win^2 diamond b.\na <- z.\nd <- z.\ne <- c, e."
    )
    strata = [(stratum.predicates, stratum.recursive) for stratum in compiled.rules.strata]
    assert strata == [(("b", "a"), True), (("d",), False), (("c",), False), (("e",), True)]


def test_a_body_has_literals_then_assignments_in_order_then_conditions() -> None:
    (rule,) = program("a(K) <- K = M + 1, N < 3, M = N + 1, K != 7, p(N), not q(N,M).").rules.rules
    kinds = [type(element) for element in rule.body]
    assert kinds == [Literal, Literal, Assignment, Assignment, Condition, Condition]
    assigned = [element.variable for element in rule.body if isinstance(element, Assignment)]
    assert assigned == ["M", "K"]


def test_only_the_first_equation_of_a_variable_assigns_it() -> None:
    (rule,) = program("a(M) <- p(N), M = N + 1, M = 2 * N.").rules.rules
    kinds = [type(element) for element in rule.body]
    assert kinds == [Literal, Assignment, Condition]


@pytest.mark.parametrize(
    ("written", "points", "tuples"),
    [
        ("a <- z.", 0, 0),
        ("a <- win^3 diamond z, win^7 box y.", 7, 0),
        ("a <- not win^3 @2 z, win^#4 box y.", 3, 4),
        # What is derived exists at the point of its evaluation only.
        ("a <- win^1 box z.\nb <- win^50 diamond a.", 1, 0),
        ("a <- @T z.", None, 0),
        ("a <- win^3 diamond z.\n@T b <- @T a.", 3, 0),
        ("k(x).\na <- z, win^9 @T k(X).", 0, 0),
    ],
)
def test_a_program_looks_back_as_far_as_its_windows_over_streams(
    written: str, points: int | None, tuples: int
) -> None:
    assert program(written).look_back == LookBack(points, tuples)


def test_windows_that_several_rules_read_are_listed_once_with_their_places() -> None:
    compiled = program(
        "a(X) <- win^3 diamond p(X), not win^#2 box p(X).\nb(Y) <- win^3 diamond p(Y).\n"
        "c(T) <- win^3 @T p(_), win^2 @T p(_)."
    )
    reads = [
        (str(window_read), [*map(str, window_read.places)]) for window_read in compiled.window_reads
    ]
    assert reads == [
        ("win^3 diamond p", ["1:9", "2:9"]),
        ("win^#2 box p", ["1:29"]),
        ("win^3 @ p", ["3:9"]),
        ("win^2 @ p", ["3:24"]),
    ]
