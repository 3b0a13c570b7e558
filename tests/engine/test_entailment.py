"""The law of entailment: at each epoch the maintained answer is that over the closure.

`tests.support.oracles.rdfs_closure` computes the closure, and owlrl is held against that.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
import rdflib
from owlrl import DeductiveClosure, RDFS_Semantics

from tests.support.generators.basic_cases import Quad
from tests.support.generators.entailed_cases import (
    EntailedCase,
    entailed_case,
    entailed_dataset,
)
from tests.support.harness import WHOLE, Memory, run_in_cuts, state
from tests.support.laws import Seeds
from tests.support.oracles import reference
from tests.support.oracles.answers import comparable
from tests.support.oracles.histories import states
from tests.support.oracles.rdfs_closure import SCHEMA, TYPE, Triple, closure
from weir.plan.lower import lower
from weir.sparql.algebra.queries import Dataset, Query
from weir.sparql.algebra.rdfs import entailed
from weir.sparql.frontend.translate import translate

_FOLLOWS = {
    "rdfs2": (":p domain :C", ":a :p :b", "=> :a type :C"),
    "rdfs2, rdfs7": (":p sub :q", ":q domain :C", ":a :p :b", "=> :a type :C"),
    "rdfs2, rdfs5": (":p sub :q", ":q sub :r", ":r domain :C", ":a :p :b", "=> :a type :C"),
    "rdfs3": (":p range :C", ":a :p :b", "=> :b type :C"),
    "rdfs3, rdfs7": (":p sub :q", ":q range :C", ":a :p :b", "=> :b type :C"),
    "rdfs3, rdfs9": (":p range :C", ":C below :D", ":a :p :b", "=> :b type :D"),
    "rdfs5": (":p sub :q", ":q sub :r", "=> :p sub :r"),
    "rdfs7": (":p sub :q", ":a :p :b", "=> :a :q :b"),
    "rdfs7 twice": (":p sub :q", ":q sub :r", ":a :p :b", "=> :a :r :b"),
    "rdfs7 to a type": (":p sub type", ":a :p :C", "=> :a type :C"),
    "rdfs7, rdfs9": (":p sub type", ":C below :D", ":a :p :C", "=> :a type :D"),
    "rdfs9": (":C below :D", ":a type :C", "=> :a type :D"),
    "rdfs9 twice": (":C below :D", ":D below :E", ":a type :C", "=> :a type :E"),
    "rdfs11": (":C below :D", ":D below :E", "=> :C below :E"),
}
"""What follows from statements, all of which are needed."""


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("statements", _FOLLOWS.values(), ids=_FOLLOWS)
@pytest.mark.parametrize("asked", ["{s} {p} {o}", "{s} {p} ?o", "?s {p} {o}", "{s} ?p {o}"])
def test_a_triple_follows_until_one_of_its_statements_is_deleted(
    statements: tuple[str, ...], asked: str
) -> None:
    *given, follows = (_triple(text.removeprefix("=> ")) for text in statements)
    quads = [("", *triple) for triple in given]
    history = [(frozenset[Quad](), frozenset(quads))]
    for quad in quads:
        history += [(frozenset([quad]), frozenset()), (frozenset(), frozenset([quad]))]
    query = translate(f"SELECT * {{ {asked.format(**dict(zip('spo', follows, strict=True)))} }}")
    plan = lower(entailed(query), allow_product=True)
    log = run_in_cuts(Memory(plan, history, optimized=False), len(history), [2]).log()
    terms = dict(zip("spo", follows, strict=True))
    wanted = tuple(terms[name] for name, _ in plan.columns)
    there = [state(log, epoch)[wanted] for epoch in range(1, len(history) + 1)]
    assert there == [1, *([0, 1] * len(given))]


_WORDS = dict(zip(("below", "sub", "domain", "range", "type"), (*SCHEMA, TYPE), strict=True))


def _triple(text: str) -> Triple:
    s, p, o = (_WORDS.get(word) or f"<http://x/{word[1:]}>" for word in text.split())
    return s, p, o


@pytest.mark.law("entailment")
def test_the_answer_is_that_over_what_follows_at_every_epoch(seeds: Seeds) -> None:
    seeds.check(lambda seed: _broken(entailed_case(seed)))


def _broken(case: EntailedCase) -> Iterator[str]:
    query = translate(case.query, case.default_graph)  # type: ignore[arg-type]
    plan = lower(entailed(query), allow_product=True)
    last, rng = len(case.history), random.Random(case.seed)
    log = run_in_cuts(Memory(plan, case.history, optimized=False), last, ()).log()
    cuts = sorted(rng.sample(range(1, last + 1), min(last, 2)))
    cut = Memory(plan, case.history, optimized=False)
    if run_in_cuts(cut, last, cuts).log() != log:
        yield f"{case}: other changes by runs up to {cuts}"
    whole = Memory(plan, case.history, optimized=False)
    if run_in_cuts(whole, last, cuts[:1], thresholds=WHOLE).log() != log:
        yield f"{case}: other changes where the whole graph is read"
    for epoch, quads in enumerate(states(case.history), 1):
        expected = comparable(_over_closure(query, quads, [name for name, _ in plan.columns]))
        answer = comparable(state(log, epoch))
        if answer != expected:
            yield (
                f"{case}: epoch {epoch}: {answer - expected} too many, {expected - answer} missing"
            )
            return


def _over_closure(
    query: Query, quads: frozenset[Quad], columns: list[str]
) -> Counter[tuple[str | None, ...]]:
    """The answer of the query as it is written, over the closure of each graph."""
    dataset = query.dataset
    from_graphs = dataset.from_graphs
    if from_graphs is None and dataset.default_graph == "default":
        from_graphs = ("",)
    plain = replace(query, dataset=Dataset("default", None, dataset.named_graphs))
    return reference.rows(plain, entailed_dataset(quads, from_graphs), columns)


def test_what_triple_patterns_have_in_common_is_stored_once() -> None:
    """Three patterns store less than twice what one stores."""
    one, three = (
        lower(entailed(translate(f"SELECT * {{ {text} }}")))
        for text in ("?x a <u:C>", "?x a <u:C> . ?x <u:p> ?y . ?y a <u:D>")
    )
    assert (len(one.stored), len(three.stored)) == (14, 23)


def test_queries_have_answers_that_follow_and_change() -> None:
    """A generator whose answers follow from nothing would make the law pass."""
    changed = derived = 0
    for seed in range(60):
        case = entailed_case(seed)
        query = translate(case.query, case.default_graph)  # type: ignore[arg-type]
        columns = ["answer"] if not hasattr(query.form, "variables") else [*query.form.variables]
        if case.query.startswith("CONSTRUCT"):
            columns = []
        answers = [_over_closure(query, quads, columns) for quads in states(case.history)]
        plain = [reference.rows(query, quads, columns) for quads in states(case.history)]
        changed += any(one != other for one, other in pairwise(answers))
        derived += answers != plain
    assert changed > 30
    assert derived > 20


def test_the_closure_is_that_of_another_implementation() -> None:
    """Where nothing is said of the predicates of schemas themselves, and no node is a literal."""
    compared = 0
    for seed in range(40):
        pool = {quad[1:] for _, appear in entailed_case(seed).history for quad in appear}
        triples = frozenset(triple for triple in pool if _is_plain(triple))
        own = closure(triples)
        assert _by_owlrl(triples, own) == own
        compared += len(own - triples)
    assert compared > 200


def _is_plain(triple: Triple) -> bool:
    s, _, o = triple
    is_special = s in (TYPE, *SCHEMA) or o in (TYPE, *SCHEMA)
    return not is_special and not o.startswith('"') and "_:" not in (s[:2], o[:2])


def _by_owlrl(triples: frozenset[Triple], own: frozenset[Triple]) -> frozenset[Triple]:
    """The closure by all rules of RDFS, without what is about terms that only they bring."""
    graph = rdflib.Graph()
    graph.parse(data="".join(f"{s} {p} {o} .\n" for s, p, o in triples), format="nt")
    DeductiveClosure(RDFS_Semantics, axiomatic_triples=False, datatype_axioms=False).expand(graph)
    terms = {term for triple in triples for term in triple} | {TYPE}
    by_all_rules = {tuple(term.n3() for term in triple) for triple in graph}
    return frozenset(
        (s, p, o)
        for s, p, o in by_all_rules
        if {s, p, o} <= terms and not (s == o and p in SCHEMA and (s, p, o) not in own)
    )
