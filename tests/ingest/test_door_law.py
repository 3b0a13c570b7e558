"""The law of the door: a change set is refused if and only if it would open a result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.laws import Seeds
from tests.support.oracles.reference import rows
from tests.support.projects.project import PATCHES, Project
from tests.support.shacl.cases import Quad, shapes_case
from weir.shacl.compile import REPORT_COLUMNS, compile_shapes
from weir.shacl.read import read_shapes
from weir.sparql.algebra.queries import Dataset, Query

_VIOLATION = "<http://www.w3.org/ns/shacl#Violation>"


@pytest.mark.law("doors")
def test_a_change_set_is_refused_if_and_only_if_it_opens_a_result(
    seeds: Seeds, tmp_path: Path
) -> None:
    seeds.check(lambda seed: _broken(seed, tmp_path / str(seed)))


def _broken(seed: int, folder: Path) -> Iterator[str]:
    case = shapes_case(seed)
    query = compile_shapes(read_shapes(case.shapes, "s.ttl"), Dataset())
    project = Project(folder).declare(PATCHES)
    project.write("shapes/s.ttl", f"#+ door: {{}}\n{case.shapes}")
    held: frozenset[Quad] = frozenset()
    for epoch, (vanish, appear) in enumerate(case.history, 1):
        state = (held - vanish) | appear
        opened = _violations(query, state) - _violations(query, held)
        lines = [f"D {' '.join(quad[1:])}" for quad in sorted(vanish)]
        project.change_set(*lines, *(f"A {' '.join(quad[1:])}" for quad in sorted(appear)))
        errors = project.deliver().errors
        if bool(errors) != bool(opened):
            yield f"epoch {epoch}: opens {opened}, and the door says {errors}"
            return
        if errors and project.deliver(("p",)).errors:
            yield f"epoch {epoch}: an accepted change set is not taken"
            return
        held = state


def _violations(query: Query, state: frozenset[Quad]) -> Counter[tuple[str | None, ...]]:
    severity = REPORT_COLUMNS.index("severity")
    report = rows(query, state, REPORT_COLUMNS)
    return Counter({row: n for row, n in report.items() if row[severity] == _VIOLATION})
