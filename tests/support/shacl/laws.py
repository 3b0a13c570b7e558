"""How the report that Weir maintains differs from that of another validator."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator

from tests.support.harness import Memory, run_in_cuts, state
from tests.support.shacl.cases import ShapesCase, as_turtle
from tests.support.shacl.results import Result, results_of_rows
from weir.plan.lower import lower
from weir.shacl.compile import compile_shapes
from weir.shacl.read import Subclasses, read_shapes
from weir.sparql.algebra.queries import Dataset

Validator = Callable[[str, str], Counter[Result]]
"""The results of a validator, of shapes as Turtle and of data as N-Triples."""


def differences(case: ShapesCase, seed: int, validator: Validator) -> Iterator[str]:
    """The epochs of a case at which the reports differ; the history is cut by the seed."""
    subclasses: Subclasses = "shapes" if case.subclasses else "data"
    shapes = read_shapes(case.shapes, "shapes.ttl", subclasses)
    plan = lower(compile_shapes(shapes, Dataset()), allow_product=True)
    last = len(case.history)
    cuts = sorted(random.Random(seed).sample(range(1, last), 1))
    log = run_in_cuts(Memory(plan, case.history, optimized=False), last, cuts).log()
    for epoch, data in enumerate(case.states(), 1):
        expected = validator(case.shapes, as_turtle(data | case.subclasses))
        report = results_of_rows(state(log, epoch))
        if report != expected:
            missing, extra = expected - report, report - expected
            yield f"epoch {epoch}: missing {dict(missing)}, too many {dict(extra)}"
            yield f"{case.shapes}\n{as_turtle(data)}"
