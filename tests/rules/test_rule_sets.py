"""The law of rule sets: what follows at each epoch is what other implementations derive."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from importlib.resources import files
from math import inf

import pytest

from tests.rules.test_epochs import body_of_text
from tests.support.generators.basic_cases import Quad, Triple
from tests.support.generators.entailed_cases import EntailedCase, entailed_case
from tests.support.generators.owl_cases import OWL, RDF, RDFS, graph_of, owl_case
from tests.support.harness import LogRow, run_in_cuts, state
from tests.support.laws import Seeds
from tests.support.oracles.histories import states
from tests.support.oracles.owl_closure import owl_closure, without_trivial
from tests.support.oracles.rdfs_closure import SCHEMA, closure
from tests.support.rules.graph_memory import ProgramMemory
from weir.rules import epochs, held_atoms

_TEXT = "%+ graph: urn:d:rules\n%+ rules: {}\n"


@pytest.mark.law("owl 2 rl")
def test_what_follows_by_owl_2_rl_is_what_owlrl_derives(
    monkeypatch: pytest.MonkeyPatch, seeds: Seeds
) -> None:
    body = body_of_text(_TEXT.format("owl-rl"))

    def broken_laws(seed: int) -> Iterator[str]:
        history = owl_case(seed)
        last, rng = len(history), random.Random(seed)
        monkeypatch.setattr(epochs, "MOST_TOUCHED", rng.choice((inf, inf, -1)))
        monkeypatch.setattr(held_atoms, "LEAST", rng.choice((0, inf)))
        monkeypatch.setattr(held_atoms, "FEW", rng.choice((3, 50)))
        cuts = sorted(rng.sample(range(1, last + 1), 3))
        log = run_in_cuts(ProgramMemory(body, history), last, cuts).log()
        for epoch, quads in enumerate(states(history), 1):
            computed = without_trivial(_triples(log, epoch))
            expected = owl_closure(graph_of(quads))
            if computed != expected:
                yield (
                    f"{seed}, epoch {epoch}: {sorted(computed - expected)} too many,"
                    f" {sorted(expected - computed)} missing"
                )
                return

    seeds.check(broken_laws)


def _triples(log: Sequence[LogRow], epoch: int) -> set[Triple]:
    return {(str(s), str(p), str(o)) for s, p, o in state(log, epoch)}


@pytest.mark.law("rdfs rules")
def test_what_follows_by_the_rules_of_rdfs_is_the_closure(seeds: Seeds) -> None:
    """That of the oracle of the rewriting; where nothing is said of the words of schemas."""
    body = body_of_text(_TEXT.format("rdfs"))

    def broken_laws(seed: int) -> Iterator[str]:
        case = next(case for case in _cases(seed) if _is_plain(case))
        last = len(case.history)
        log = run_in_cuts(ProgramMemory(body, case.history), last, (1, last - 1)).log()
        for epoch, quads in enumerate(states(case.history), 1):
            computed = _triples(log, epoch)
            expected = closure(graph_of(quads))
            if computed != expected:
                yield f"{case.seed}, epoch {epoch}: {computed ^ expected}"
                return

    seeds.check(broken_laws)


def _cases(seed: int) -> Iterator[EntailedCase]:
    return (entailed_case(seed + 1_000_003 * attempt) for attempt in range(100))


def _is_plain(case: EntailedCase) -> bool:
    words = {*SCHEMA, f"<{RDF}type>"}
    every = [quad for _, appear in case.history for quad in appear]
    return all(words.isdisjoint((s, o)) for _, s, _, o in every)


def _follows(text: str) -> tuple[list[Triple], Triple]:
    *given, follows = (_triple(part) for part in text.replace("=>", ",").split(","))
    return given, follows


def _triple(text: str) -> Triple:
    s, p, o = (_WORDS.get(word, f"<u:{word}>") for word in text.split())
    return s, p, o


_WORDS = {
    **{word: f"<{RDF}{word}>" for word in ("type", "first", "rest", "nil")},
    **{word: f"<{RDFS}{word}>" for word in ("subClassOf", "subPropertyOf", "domain", "range")},
    **{
        word: f"<{OWL}{word}>"
        for word in (
            *("SymmetricProperty", "TransitiveProperty", "propertyChainAxiom", "inverseOf"),
            *("equivalentProperty", "equivalentClass", "intersectionOf", "unionOf", "oneOf"),
            *("someValuesFrom", "allValuesFrom", "hasValue", "onProperty", "Thing"),
        )
    },
}
_LIST = "L first {}, L rest M, M first {}, M rest nil"
FOLLOWS = {
    "prp-dom": "P domain C, x P y => x type C",
    "prp-rng": "P range C, x P y => y type C",
    "prp-symp": "P type SymmetricProperty, x P y => y P x",
    "prp-trp": "P type TransitiveProperty, x P y, y P z => x P z",
    "prp-spo1": "P subPropertyOf Q, x P y => x Q y",
    "prp-spo2": f"P propertyChainAxiom L, {_LIST.format('Q', 'R')}, x Q y, y R z => x P z",
    "prp-eqp1": "P equivalentProperty Q, x P y => x Q y",
    "prp-eqp2": "P equivalentProperty Q, x Q y => x P y",
    "prp-inv1": "P inverseOf Q, x P y => y Q x",
    "prp-inv2": "P inverseOf Q, x Q y => y P x",
    "cls-int1": f"C intersectionOf L, {_LIST.format('D', 'E')}, x type D, x type E => x type C",
    "cls-int2": f"C intersectionOf L, {_LIST.format('D', 'E')}, x type C => x type E",
    "cls-uni": f"C unionOf L, {_LIST.format('D', 'E')}, x type E => x type C",
    "cls-svf1": "C someValuesFrom D, C onProperty P, x P y, y type D => x type C",
    "cls-svf2": "C someValuesFrom Thing, C onProperty P, x P y => x type C",
    "cls-avf": "C allValuesFrom D, C onProperty P, x type C, x P y => y type D",
    "cls-hv1": "C hasValue v, C onProperty P, x type C => x P v",
    "cls-hv2": "C hasValue v, C onProperty P, x P v => x type C",
    "cls-oo": f"C oneOf L, {_LIST.format('x', 'y')} => y type C",
    "cax-sco": "C subClassOf D, x type C => x type D",
    "cax-eqc1": "C equivalentClass D, x type C => x type D",
    "cax-eqc2": "C equivalentClass D, x type D => x type C",
    "scm-sco": "C subClassOf D, D subClassOf E => C subClassOf E",
    "scm-eqc1": "C equivalentClass D => C subClassOf D",
    "scm-eqc1 too": "C equivalentClass D => D subClassOf C",
    "scm-eqc2": "C subClassOf D, D subClassOf C => C equivalentClass D",
    "scm-spo": "P subPropertyOf Q, Q subPropertyOf R => P subPropertyOf R",
    "scm-eqp1": "P equivalentProperty Q => P subPropertyOf Q",
    "scm-eqp1 too": "P equivalentProperty Q => Q subPropertyOf P",
    "scm-eqp2": "P subPropertyOf Q, Q subPropertyOf P => P equivalentProperty Q",
    "scm-dom1": "P domain C, C subClassOf D => P domain D",
    "scm-dom2": "Q domain C, P subPropertyOf Q => P domain C",
    "scm-rng1": "P range C, C subClassOf D => P range D",
    "scm-rng2": "Q range C, P subPropertyOf Q => P range C",
    "scm-hv": "C hasValue v, C onProperty P, D hasValue v, D onProperty Q, P subPropertyOf Q"
    " => C subClassOf D",
    "scm-svf1": "C someValuesFrom E, C onProperty P, D someValuesFrom F, D onProperty P,"
    " E subClassOf F => C subClassOf D",
    "scm-svf2": "C someValuesFrom E, C onProperty P, D someValuesFrom E, D onProperty Q,"
    " P subPropertyOf Q => C subClassOf D",
    "scm-avf1": "C allValuesFrom E, C onProperty P, D allValuesFrom F, D onProperty P,"
    " E subClassOf F => C subClassOf D",
    "scm-avf2": "C allValuesFrom E, C onProperty P, D allValuesFrom E, D onProperty Q,"
    " P subPropertyOf Q => D subClassOf C",
    "scm-int": f"C intersectionOf L, {_LIST.format('D', 'E')} => C subClassOf E",
    "scm-uni": f"C unionOf L, {_LIST.format('D', 'E')} => E subClassOf C",
}
"""What follows by each rule that is in."""


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("rule", FOLLOWS)
def test_a_triple_follows_until_one_of_its_statements_is_deleted(rule: str) -> None:
    given, follows = _follows(FOLLOWS[rule])
    needed = given
    if rule in ("cls-oo", "cls-int2", "scm-int", "scm-uni", "cls-uni"):
        # The last member follows by its own cell, and the way to it.
        other = {("<u:L>", f"<{RDF}first>"), ("<u:M>", f"<{RDF}rest>")}
        needed = [triple for triple in given if triple[:2] not in other]
    quads = frozenset(("", *triple) for triple in given)
    nothing = frozenset[Quad]()
    history = [(nothing, quads)]
    for triple in needed:
        gone = frozenset({("", *triple)})
        history += [(gone, nothing), (nothing, gone)]
    log = run_in_cuts(
        ProgramMemory(body_of_text(_TEXT.format("owl-rl")), history),
        len(history),
        range(1, len(history)),
    ).log()
    there = [state(log, epoch)[follows] for epoch in range(1, len(history) + 1)]
    assert there == [1, *([0, 1] * len(needed))]


def test_each_rule_that_is_in_has_an_example() -> None:
    text = files("weir.lars").joinpath("sets", "owl-rl.lars").read_text(encoding="utf-8")
    named = set(re.findall(r"% ((?:prp|cls|cax|scm)-\w+)", text))
    assert named == {name.removesuffix(" too") for name in FOLLOWS}
