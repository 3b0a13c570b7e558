"""Which seeds the changes touch, and what the lookups find, however many queries there are."""

from __future__ import annotations

import random

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.duck import DuckOfTest
from weir.compute.relations import Statement
from weir.engine.neighbourhood import hops, touched_seeds
from weir.plan.lookups import POSITIONS, Lookup, Seed, Shape
from weir.plan.scope import Scope

_TERMS = ("<a>", "<b>", "<c>")
_TRIPLES = st.lists(st.tuples(*[st.sampled_from(_TERMS)] * 3), max_size=6)
_SHAPES = st.lists(st.builds(Shape, *[st.sampled_from((*_TERMS, None))] * 3), unique=True)


class Counting(DuckOfTest):
    """Counts the statements that it runs."""

    def __init__(self) -> None:
        super().__init__()
        self.statements = 0

    def make(self, statement: Statement) -> None:
        self.statements += 1
        super().make(statement)


def loaded(triples: list[tuple[str, str, str]], name: str = "changes") -> Counting:
    """An engine with a log of these triples."""
    engine = Counting()
    cells = [*zip(*triples, strict=True)] if triples else [()] * 3
    arrays = [pa.array(values, pa.string()) for values in cells]
    numbers = [pa.array([1] * len(triples), pa.int64()) for _ in range(2)]
    engine.load(name, pa.table([*arrays, *numbers], [*POSITIONS, "epoch", "weight"]))
    return engine


def matches(triple: tuple[str, str, str], shape: Shape) -> bool:
    terms = (shape.subject, shape.predicate, shape.object)
    return all(term in (None, value) for term, value in zip(terms, triple, strict=True))


@given(triples=_TRIPLES, shapes=_SHAPES)
@settings(max_examples=60, deadline=None)
def test_touched_are_the_seeds_that_a_change_matches(
    triples: list[tuple[str, str, str]], shapes: list[Shape]
) -> None:
    seeds = [Seed(Scope(), shape) for shape in shapes]
    touched = touched_seeds(loaded(triples), "changes", seeds, "seeds")
    assert touched == {s for s in seeds if any(matches(triple, s.shape) for triple in triples)}


@given(triples=_TRIPLES, terms=st.sets(st.sampled_from(_TERMS), min_size=1))
@settings(max_examples=30, deadline=None)
def test_a_seed_with_terms_is_touched_by_a_change_that_has_one_of_them(
    triples: list[tuple[str, str, str]], terms: set[str]
) -> None:
    seed = Seed(Scope(), Shape(None, "<b>", None), "object", tuple(sorted(terms)))
    touched = touched_seeds(loaded(triples), "changes", [seed], "seeds")
    assert bool(touched) == any(p == "<b>" and o in terms for _, p, o in triples)


def test_a_lookup_begins_at_the_changes_that_have_one_of_the_terms() -> None:
    seed = Seed(Scope(), Shape(None, "<a>", None), "object", ("<b>", "<c>"))
    engine = loaded([("<x>", "<a>", "<b>"), ("<y>", "<a>", "<c>"), ("<z>", "<a>", "<d>")])
    (hop,) = hops("g", "changes", [Lookup(seed, "subject", Shape(None, "<q>", None), "subject")])
    hop.run(engine)
    assert {*engine.arrow(hop.keys.name)["key"].to_pylist()} == {"<x>", "<y>"}


def test_the_lookups_of_a_hop_are_the_same_statements_for_any_number_of_them() -> None:
    rng = random.Random(0)
    texts = set()
    for number in (1, 10, 300):
        seeds = [Seed(Scope(), Shape(None, "<p>", f"<o{i}>")) for i in range(number)]
        lookups = [Lookup(s, "subject", Shape(None, "<q>", None), "subject") for s in seeds]
        engine = loaded([(f"<s{i}>", "<p>", f"<o{rng.randrange(number)}>") for i in range(5)])
        engine.load("log", engine.arrow("changes"))
        (hop,) = hops("g", "changes", lookups)
        hop.run(engine)
        assert engine.count(hop.keys.name) == 5
        texts.add(
            (hop.keys.select.sql(), hop.rows({"subject": "log"}).select.sql(), engine.statements)
        )
    assert len(texts) == 1
