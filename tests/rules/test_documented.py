"""The example of docs/rules.md gives what it says."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from tests.support.projects.project import Project
from tests.support.streams.projects import SECOND, answer_log, local

TEXT = (Path(__file__).parents[2] / "docs" / "rules.md").read_text()


def block(language: str) -> str:
    """The first block of a language."""
    fenced = re.search(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)
    assert fenced is not None
    return fenced[1]


def test_the_example_of_the_document_derives_the_atoms_that_it_shows(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.declare(*yaml.safe_load(block("yaml"))["sources"])
    project.program("heat", block("prolog"))
    project.write("data/sensors/1.ttl", "@prefix : <http://example.org/> .\n:s1 a :Sensor .\n")
    project.write("data/readings/1.ttl", block("turtle"))
    project.run()
    held: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for _, instant, weight, (predicate, sensor) in answer_log(project, "heat"):
        assert predicate is not None
        held.setdefault((predicate, local(sensor)), []).append((instant // SECOND, weight))
    assert held['"alarm"', "s1"] == [(12, 1), (13, -1)]
    assert held['"hot"', "s1"] == [(10, 1), (13, -1)]
