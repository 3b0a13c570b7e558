"""The laws of the door: what it refuses, and the report after what it lets in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.laws import Seeds
from tests.support.oracles.reference import rows
from tests.support.projects.project import PATCHES, Project, Solution, solution
from tests.support.shacl.cases import Quad, shapes_case
from weir.shacl.compile import REPORT_COLUMNS, compile_shapes
from weir.shacl.read import read_shapes
from weir.sparql.algebra.queries import Dataset, Query

_VIOLATION = "<http://www.w3.org/ns/shacl#Violation>"


@pytest.mark.law("doors")
def test_a_change_set_is_refused_if_and_only_if_it_opens_a_result(
    seeds: Seeds, tmp_path: Path
) -> None:
    seeds.check(lambda seed: _wrongly_refused(seed, tmp_path / str(seed)))


@pytest.mark.law("reports behind doors")
def test_the_report_after_a_door_is_that_of_the_data(seeds: Seeds, tmp_path: Path) -> None:
    seeds.check(lambda seed: _wrongly_reported(seed, tmp_path / str(seed)))


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
        held: frozenset[Quad] = frozenset()
        for vanish, appear in case.history:
            lines = [f"D {' '.join(quad[1:])}" for quad in sorted(vanish)]
            project.change_set(*lines, *(f"A {' '.join(quad[1:])}" for quad in sorted(appear)))
            held = (held - vanish) | appear
            yield held

    return compile_shapes(read_shapes(case.shapes, "s.ttl"), Dataset()), project, states()


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
