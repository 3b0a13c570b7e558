"""A pull request of a repository of queries: what its check in continuous integration takes.

The graph is the demo's, five versions of the Brick ontology. Five queries are written about each of
ten classes, with a test each. The branch edits three of them, adds one and removes one. Then the
script of docs/review.md runs, and after it each of its commands by itself.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pyoxigraph as ox

from bench.histories import BrickHistory
from bench.places import ROOT, WORK, Project, project
from bench.processes import RunFailed, measured
from bench.results import Scenario, Target, Timing, machine, seconds_text
from bench.session import measure

FULL_REPEATS = 3
AIM = 20.0
PAGE = ROOT / "docs" / "review.md"
_CLASSES = 10
_PREFIXES = """\
PREFIX brick: <https://brickschema.org/schema/Brick#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
"""
_SUBCLASS = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
QUERIES = {
    "names": ("?class ?label", "?class rdfs:subClassOf {0} ; rdfs:label ?label", ""),
    "below": ("?class", "?class rdfs:subClassOf+ {0}", ""),
    "definitions": (
        "?class ?text",
        '?class rdfs:subClassOf {0} ; skos:definition ?text FILTER(LANGMATCHES(LANG(?text), "en"))',
        "",
    ),
    "tags": (
        "?tag (COUNT(?class) AS ?n)",
        "?class rdfs:subClassOf {0} ; brick:hasAssociatedTag ?tag",
        " GROUP BY ?tag",
    ),
    "undefined": (
        "?class",
        "?class rdfs:subClassOf {0} FILTER NOT EXISTS {{ ?class skos:definition ?text }}",
        "",
    ),
}
"""Columns, pattern and the rest of the five queries about a class."""
_TEST = """\
query: {name}
tests:
  - name: one class
    given: |
      <urn:c> <http://www.w3.org/2000/01/rdf-schema#subClassOf> {about} ;
        <http://www.w3.org/2000/01/rdf-schema#label> "c" ;
        <https://brickschema.org/schema/Brick#hasAssociatedTag> <urn:t> .
      <urn:d> <http://www.w3.org/2000/01/rdf-schema#subClassOf> {about} ;
        <http://www.w3.org/2004/02/skos/core#definition> "d"@en .
    expect: [{rows}]
"""
_ROWS = {
    "names": "{class: urn:c, label: c}",
    "below": "{class: urn:c}, {class: urn:d}",
    "definitions": "{class: urn:d, text: d}",
    "tags": "{tag: urn:t, n: 1}",
    "undefined": "{class: urn:c}",
}


@dataclass(slots=True)
class Review:
    """The scenario.

    Args:
        repeats: of the script, and of each of its commands.
        progress: receives a line per step.
    """

    repeats: int
    progress: Callable[[str], None]

    def run(self) -> Scenario:
        """Publish the queries, change them on a branch, and review that."""
        made = self._published()
        _change(made.folder)
        script = PAGE.read_text(encoding="utf-8").partition("```sh\n")[2].partition("```")[0]
        (made.folder.parent / "review.sh").write_text(script)
        commands = {
            "the script": (["sh", "../review.sh", "main"], 1),
            "weir check": (["weir", "check"], 0),
            "weir test": (["weir", "test"], 0),
            "weir diff": (["weir", "diff", "--base", "main", "--output", "markdown"], 0),
        }
        timings, lines = [], []
        for what, (command, code) in commands.items():
            self.progress(f"{what}, {self.repeats} times")
            took = [
                measured(command, folder=made.folder, settings=_variables(), code=code)
                for _ in range(self.repeats)
            ]
            if what == "the script":
                _verify(took[0].printed)
            seconds = tuple(one.seconds for one in took)
            processor = median(one.processor for one in took)
            timings.append(Timing(what, "cold", seconds))
            lines.append((what, seconds_text(median(seconds)), seconds_text(processor)))
        reached = timings[0].median
        return Scenario(
            name="review",
            title="the review of a pull request: 50 queries, five of them edited, added or removed",
            sizes={"queries": len(QUERIES) * _CLASSES, "repeats": self.repeats},
            full=self.repeats >= FULL_REPEATS,
            timings=timings,
            targets=[
                Target(
                    "check, test and diff of 50 queries in a script",
                    f"<= {AIM:.0f} s",
                    f"{reached:.1f} s",
                    reached <= AIM,
                )
            ],
            notes=[
                "Each command is a process of its own. Processor: of all its processes. The script"
                " is that of docs/review.md, over the graph of the demo."
            ],
            machine=machine(),
            summary=[("command", "seconds", "processor, s"), *lines],
        )

    def _published(self) -> Project:
        """A repository whose queries have answers, five versions of Brick in the lake."""
        history = BrickHistory()
        folder = WORK / "review" / "project"
        for version in history.changes():
            to = WORK / "review" / "versions" / version.name
            shutil.copytree(version, to, dirs_exist_ok=True)
        source = history.source(WORK / "review" / "versions")
        made = project(folder, folder / "queries", source)
        (folder / "queries").mkdir()
        (folder / "tests").mkdir()
        for number, about in enumerate(_largest(history.changes()[-1] / "Brick.ttl")):
            for kind in QUERIES:
                name = f"{kind}_{number}"
                (folder / f"queries/{name}.rq").write_text(_text(kind, about))
                test = _TEST.format(name=name, about=about, rows=_ROWS[kind])
                (folder / f"tests/{name}.yml").write_text(test)
        self.progress("the first answers")
        measure([made])
        (folder / ".gitignore").write_text(
            "/lake/\n/.weir_cache/\n/job.json\n/result.json\n/review.md\n"
        )
        _git(folder, "init", "-q", "-b", "main", ".")
        _git(folder, "add", ".")
        _git(folder, "commit", "-qm", "Queries")
        return made


def _largest(file: Path) -> Sequence[str]:
    """The classes with most subclasses, largest first."""
    counts: dict[str, int] = {}
    for quad in ox.parse(path=str(file), format=ox.RdfFormat.TURTLE, base_iri="urn:base"):
        if str(quad.predicate) == _SUBCLASS and isinstance(quad.object, ox.NamedNode):
            counts[str(quad.object)] = counts.get(str(quad.object), 0) + 1
    return sorted(counts, key=lambda name: (-counts[name], name))[:_CLASSES]


def _text(kind: str, about: str) -> str:
    columns, pattern, rest = QUERIES[kind]
    head = f"#+ description: Of the classes below {about}.\n#+ owner: bench\n{_PREFIXES}"
    return f"{head}SELECT {columns} WHERE {{ {pattern.format(about)} }}{rest}\n"


def _change(folder: Path) -> None:
    """The branch: three edits that change the answers, a new query, and one less."""
    _git(folder, "checkout", "-q", "-b", "branch")
    queries = folder / "queries"
    edits = (
        ("names_0", "; rdfs:label ?label", "OPTIONAL { ?class rdfs:label ?label }"),
        ("below_1", "subClassOf+", "subClassOf*"),
        ("undefined_2", "FILTER NOT EXISTS", "FILTER EXISTS"),
    )
    for name, before, after in edits:
        text = (queries / f"{name}.rq").read_text()
        assert before in text
        (queries / f"{name}.rq").write_text(text.replace(before, after))
    # An edit of a query is an edit of its test.
    for name, rows in (
        ("names_0", "{class: urn:c, label: c}, {class: urn:d, label: null}"),
        ("undefined_2", "{class: urn:d}"),
    ):
        test = folder / f"tests/{name}.yml"
        kind = name.partition("_")[0]
        test.write_text(test.read_text().replace(_ROWS[kind], rows))
    below = folder / "tests/below_1.yml"
    about = below.read_text().partition("subClassOf> ")[2].partition(" ")[0]
    below.write_text(below.read_text().replace("[{", f'[{{class: "{about[1:-1]}"}}, {{', 1))
    (queries / "added.rq").write_text((queries / "definitions_3.rq").read_text())
    (queries / "tags_4.rq").unlink()
    (folder / "tests/tags_4.yml").unlink()


def _verify(printed: str) -> None:
    """That the script read, tested and compared everything."""
    rows = [line.split(" | ") for line in printed.splitlines() if line.startswith("| ")]
    changes = {row[0].strip("| "): row[1] for row in rows if len(row) > 1}
    wanted = {
        **dict.fromkeys(("names_0", "below_1", "undefined_2"), "edited"),
        "added": "added",
        "tags_4": "removed",
    }
    if not wanted.items() <= changes.items() or "49 passed, 0 failed." not in printed:
        raise RunFailed(f"the review prints something else:\n{printed}")


def _git(folder: Path, *arguments: str) -> None:
    measured(["git", *arguments], folder=folder, settings=_variables())


def _variables() -> dict[str, str]:
    roles = {f"GIT_{r}_{k}": "bench" for r in ("AUTHOR", "COMMITTER") for k in ("NAME", "EMAIL")}
    return roles | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
