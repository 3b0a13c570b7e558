"""The laws of the door: what it refuses, and the report after what it lets in."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.support.laws import Seeds
from tests.support.oracles.reference import rows
from tests.support.projects.project import LOOKED_UP, PATCHES, Project, Solution, solution
from tests.support.shacl.cases import Change, Quad, shapes_case
from tests.support.shacl.derived import derived_shapes_case
from weir.shacl.compile import REPORT_COLUMNS, compile_shapes
from weir.shacl.read import read_shapes
from weir.sparql.algebra.queries import Dataset, Query

_WHOLE = {"bulk_quads": 1_000_000}
"""Limits by which a graph is read whole."""
_VIOLATION = "<http://www.w3.org/ns/shacl#Violation>"


@pytest.mark.law("doors")
def test_a_change_set_is_refused_if_and_only_if_it_opens_a_result(
    seeds: Seeds, tmp_path: Path
) -> None:
    seeds.check(lambda seed: _wrongly_refused(seed, tmp_path / str(seed)))


@pytest.mark.law("reports behind doors")
def test_the_report_after_a_door_is_that_of_the_data(seeds: Seeds, tmp_path: Path) -> None:
    seeds.check(lambda seed: _wrongly_reported(seed, tmp_path / str(seed)))


@pytest.mark.law("doors over derived graphs")
def test_a_door_over_a_derived_graph_refuses_what_opens_a_result_over_it(
    seeds: Seeds, tmp_path: Path
) -> None:
    seeds.check(lambda seed: _wrong_over_derived(seed, tmp_path / str(seed)))


def _wrong_over_derived(seed: int, folder: Path) -> Iterator[str]:
    rng, case = random.Random(f"door {seed}"), derived_shapes_case(seed)
    project = Project(folder).declare(PATCHES, **rng.choice((LOOKED_UP, _WHOLE)))
    for path, text in case.files.items():
        project.write(path, text)
    project.write("shapes/s.ttl", f"#+ door: {{}}\n#+ {case.key}\n{case.case.shapes}")
    query = compile_shapes(read_shapes(case.case.shapes, "s.ttl"), Dataset())
    # What holds without any data is opened by no change set.
    seen = [frozenset[Quad](), *map(case.seen, case.case.states())]
    violations = [_violations(query, state) for state in seen]
    changes, taken = [*_change_sets(case.case.history)], 0
    accept: tuple[str, ...] = ()
    while taken < len(changes):
        if len(project.change_sets) == taken:
            for lines in changes[taken : taken + rng.randint(1, 2)]:
                project.change_set(*lines)
        known = len(project.change_sets)
        run = rng.choice((project.deliver, project.deliver_and_run))
        errors = run(accept).errors
        opening = (
            epoch
            for epoch in range(taken + 1, known + 1)
            if violations[epoch] - violations[epoch - 1] and not (accept and epoch == taken + 1)
        )
        before, taken = taken, next(opening, known + 1) - 1
        if len(project.table("transactions")) != taken or bool(errors) != (taken < known):
            yield f"after {before}, of {known}: {taken} are to be taken, and the door says {errors}"
            return
        accept = ("p",) if errors else ()
        if taken and run == project.deliver_and_run:
            report, expected = _unlabelled(project.answer("s")), _report(query, seen[taken])
            if report != _unlabelled(expected):
                yield f"epoch {taken}: the report has {report}, and not {expected}"
                return


def _wrongly_refused(seed: int, folder: Path) -> Iterator[str]:
    query, project, states = _case(seed, folder)
    held: frozenset[Quad] = frozenset()
    for epoch, state in enumerate(states, 1):
        opened = _violations(query, state) - _violations(query, held)
        errors = project.deliver().errors
        if bool(errors) != bool(opened):
            yield f"epoch {epoch}: opens {opened}, and the door says {errors}"
            return
        if errors and project.deliver(("p",)).errors:
            yield f"epoch {epoch}: an accepted change set is not taken"
            return
        held = state


def _wrongly_reported(seed: int, folder: Path) -> Iterator[str]:
    query, project, states = _case(seed, folder)
    for epoch, state in enumerate(states, 1):
        if project.deliver_and_run().errors:
            project.deliver_and_run(("p",))
        report, expected = _unlabelled(project.answer("s")), _unlabelled(_report(query, state))
        if report != expected:
            yield f"epoch {epoch}: more {report - expected}, less {expected - report}"
            return


def _case(seed: int, folder: Path) -> tuple[Query, Project, Iterator[frozenset[Quad]]]:
    """The query of shapes, their project, and the states; each comes with its change set."""
    case = shapes_case(seed)
    project = Project(folder).declare(PATCHES)
    project.write("shapes/s.ttl", f"#+ door: {{}}\n{case.shapes}")

    def states() -> Iterator[frozenset[Quad]]:
        for lines, state in zip(_change_sets(case.history), case.states(), strict=True):
            project.change_set(*lines)
            yield state

    return compile_shapes(read_shapes(case.shapes, "s.ttl"), Dataset()), project, states()


def _change_sets(history: Iterable[Change]) -> Iterator[list[str]]:
    for vanish, appear in history:
        lines = [f"D {' '.join(quad[1:])}" for quad in sorted(vanish)]
        yield [*lines, *(f"A {' '.join(quad[1:])}" for quad in sorted(appear))]


def _violations(query: Query, state: frozenset[Quad]) -> Counter[tuple[str | None, ...]]:
    severity = REPORT_COLUMNS.index("severity")
    report = rows(query, state, REPORT_COLUMNS)
    return Counter({row: n for row, n in report.items() if row[severity] == _VIOLATION})


def _report(query: Query, state: frozenset[Quad]) -> Counter[Solution]:
    report: Counter[Solution] = Counter()
    for row, n in rows(query, state, REPORT_COLUMNS).items():
        report[solution(dict(zip(REPORT_COLUMNS, row, strict=True)))] += n
    return report


def _unlabelled(report: Counter[Solution]) -> Counter[Solution]:
    """A report without labels of blank nodes."""
    plain: Counter[Solution] = Counter()
    for row, n in report.items():
        plain[tuple((name, re.sub(r"^_:.*", "_:", term)) for name, term in row)] += n
    return plain
