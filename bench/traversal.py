"""Links followed over the pods of 100 people on 8 hosts: requests, bytes, seconds.

Each task is a traversal of its own in a fresh process; then one document changes. Comunica's link
traversal evaluates a query that needs the same documents, if BENCH_COMUNICA names a folder in which
`npm install @comunica/query-sparql-link-traversal` was run.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import yaml

from bench.places import ROOT, WORK, Project, project
from bench.pod_server import PodServer
from bench.pods import DOCUMENTS, PREFIXES
from bench.processes import run_process
from bench.results import Scenario, Target, machine
from bench.traversal_session import Session

FULL_PEOPLE = 100
COMUNICA = "BENCH_COMUNICA"
COMUNICA_SECONDS = 60
"""After so long Comunica is ended."""
_POSTS = "pim:storage/ldp:contains*"
_POST = (
    "pim:storage ?root . ?root ldp:contains ?posts . ?posts ldp:contains ?year ."
    " ?year ldp:contains ?post . ?post sn:content ?content"
)
_UNITS = {"requests": "requests", "kilobytes": "kB", "processor": "s", "milliseconds": "ms"}
_DIGITS = {"requests": 0, "kilobytes": 1, "processor": 1, "milliseconds": 1}
_FIGURES = {
    "requests": "requests",
    "kilobytes": "bytes",
    "processor": "processor",
    "milliseconds": "processor, a document",
}
_QUERIES = {
    "names": "SELECT ?person ?name { ?person sn:name ?name }",
    "posts": "SELECT ?post ?content { ?post sn:content ?content }",
    "posts_by_name": "SELECT ?name ?post { ?post sn:creator ?person . ?person sn:name ?name }",
    "tags": "SELECT ?tag (COUNT(?post) AS ?posts) { ?post sn:tag ?tag } GROUP BY ?tag",
}


@dataclass(frozen=True, slots=True)
class _Task:
    """What is followed from where.

    Attributes:
        name: for the report.
        follow: a path.
        person: from whom.
        change: a command to the servers, between two evaluations; empty: there is one.
        pattern: of a query for Comunica, which the same documents answer; empty: none.
        has_lifetimes: whether posts have one.
        aims: of the first evaluation, by figure, at most.
        later_aims: of the one after the change.
    """

    name: str
    follow: str
    person: int = 0
    change: str = ""
    pattern: str = ""
    has_lifetimes: bool = False
    aims: Mapping[str, float] = field(default_factory=dict)
    later_aims: Mapping[str, float] = field(default_factory=dict)


_TASKS = (
    _Task(
        "all posts of a person",
        _POSTS,
        change="post 0 3 Changed",
        pattern=f"$person {_POST}",
        aims={"requests": 50, "kilobytes": 119, "processor": 0.8},
        later_aims={"requests": 50},
    ),
    _Task(
        "all posts of a person, with lifetimes",
        _POSTS,
        person=2,
        change="card 2 Changed",
        has_lifetimes=True,
        later_aims={"kilobytes": 5},
    ),
    _Task(
        "tags of a person",
        f"{_POSTS}/sn:tag?",
        pattern=f"$person {_POST} ; sn:tag ?tag . ?tag sn:label ?label",
        aims={"requests": 90},
    ),
    _Task(
        "friends of friends",
        "sn:knows?/sn:knows?",
        person=1,
        pattern="$person sn:knows ?a . ?a sn:knows ?b . ?b sn:name ?name",
        aims={"requests": 200},
    ),
    _Task(
        "posts of all friends",
        f"sn:knows/{_POSTS}",
        change="post 7 3 Changed",
        pattern=f"$person sn:knows ?a . ?a {_POST}",
        aims={"processor": 20, "milliseconds": 5},
    ),
    _Task(
        "posts of all friends, with lifetimes",
        f"sn:knows/{_POSTS}",
        change="card 7 Changed",
        has_lifetimes=True,
        later_aims={"kilobytes": 300},
    ),
)
_EVERYONE = _TASKS[-1]


@dataclass(frozen=True, slots=True)
class _Cost:
    """What an evaluation took.

    Attributes:
        what: for the report.
        documents: there are, after it.
        requests: for documents and redirects.
        robots: requests for robots.txt.
        bytes: on the wire.
        processor: seconds, user and system, of the process and its child.
        seconds: of the clock.
        aims: by figure, at most.
        comunica: what it took.
    """

    what: str
    documents: int
    requests: int
    robots: int
    bytes: int
    processor: float
    seconds: float
    aims: Mapping[str, float] = field(default_factory=dict)
    comunica: str = ""

    @property
    def figures(self) -> dict[str, float]:
        """What aims are about."""
        return {
            "requests": self.requests,
            "kilobytes": self.bytes / 1000,
            "processor": self.processor,
            "milliseconds": 1000 * self.processor / self.documents,
        }

    @property
    def targets(self) -> Iterator[Target]:
        """The aims, and what was reached."""
        for name, most in self.aims.items():
            reached, unit = self.figures[name], _UNITS[name]
            is_met = reached <= most
            yield Target(
                f"{self.what}: {_FIGURES[name]}",
                f"<= {most:g} {unit}",
                f"{reached:,.{_DIGITS[name]}f} {unit}",
                is_met,
            )

    @property
    def cells(self) -> tuple[str, ...]:
        """A line of the report."""
        aims = ", ".join(f"{most:g} {_UNITS[name]}" for name, most in self.aims.items())
        return (
            self.what,
            f"{self.documents:,}",
            f"{self.requests:,} + {self.robots}",
            f"{self.bytes / 1000:,.0f}",
            f"{self.processor:.2f}",
            f"{self.seconds:.2f}",
            aims and f"<= {aims}",
            self.comunica,
        )


_HEAD = (
    "evaluation",
    "documents",
    "requests + robots.txt",
    "kB",
    "processor, s",
    "clock, s",
    "goal",
    "Comunica: requests, kB, processor s",
)


@dataclass(slots=True)
class Traversals:
    """The scenario.

    Args:
        people: whose pods there are.
        progress: receives a line per task.
    """

    people: int
    progress: Callable[[str], None]

    def run(self) -> Scenario:
        """All tasks, the last one over fewer people, and from a change to the answer."""
        costs = [cost for task in _TASKS for cost in self._costs(task, self.people)]
        for people in (self.people // 4, self.people // 2):
            fewer = replace(_EVERYONE, name=f"{_EVERYONE.name}, {people} people", later_aims={})
            costs += self._costs(fewer, people)
        costs.append(self._to_answer())
        without = "" if COMUNICA in os.environ else " It was not there, and has no figures."
        return Scenario(
            name="traversal",
            title=f"links followed over {self.people * 50 + 1:,} documents of pods",
            sizes={"people": self.people, "documents": self.people * 50 + 1, "hosts": 8},
            full=self.people == FULL_PEOPLE,
            targets=[target for cost in costs for target in cost.targets],
            notes=[
                "A document has 1.6 kB. Containers and cards are asked for in each evaluation; with"
                " lifetimes, posts are not. A redirect is a request; those for robots.txt, one for"
                " each host, are the second figure. Bytes are those of requests and answers. The"
                " first evaluation is in a fresh process and includes its start and that of its"
                " child; the one after a change is in the same process and a child of its own."
                " Comunica's link traversal is in a fresh process, without robots.txt, for at most"
                f" {COMUNICA_SECONDS} s.{without}",
                "Of the seconds of a first evaluation about 2 are the start of both processes, so"
                " that few documents cannot take less; of those to the published answers, about"
                " half are the library of the checks, which a process loads once.",
            ],
            machine=machine(),
            summary=[_HEAD, *(cost.cells for cost in costs)],
        )

    def _costs(self, task: _Task, people: int) -> Iterator[_Cost]:
        """What the first evaluation takes, and the one after a change."""
        self.progress(f"traversal: {task.name}")
        with PodServer(people) as server:
            if task.has_lifetimes:
                server.command("lifetimes")
            with Session(_project(server, task).config) as session:
                first = session.evaluate(0) | server.command("counts")
                compared = _compared(server, task) if people == self.people else ""
                yield _Cost(task.name, aims=task.aims, comunica=compared, **first)
                if task.change:
                    server.command(task.change)
                    later = session.evaluate(2) | server.command("counts")
                    yield _Cost(f"{task.name}, after a change", aims=task.later_aims, **later)

    def _to_answer(self) -> _Cost:
        """From a document that changed to the published answer, in a fresh process."""
        self.progress("traversal: from a change to the answer")
        with PodServer(self.people) as server:
            server.command("lifetimes")
            made = _project(server, _EVERYONE, _QUERIES)
            _weir(made)
            server.command("counts")
            server.command("card 7 Changed")
            before, began = _children_seconds(), time.monotonic()
            _weir(made)
            seconds, processor = time.monotonic() - began, _children_seconds() - before
            counts = server.command("counts")
            documents = self.people * DOCUMENTS - DOCUMENTS + 1
        return _Cost(
            "from a changed document to the published answers of four queries",
            documents,
            processor=processor,
            seconds=seconds,
            aims={"processor": 6},
            **counts,
        )


def _project(server: PodServer, task: _Task, queries: Mapping[str, str] | None = None) -> Project:
    """A project whose only traversal is that of a task, and queries over it."""
    folder = WORK / "traversal"
    made = project(folder, folder / "queries")
    (folder / "queries").mkdir()
    prefixes = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in PREFIXES.items())
    for name, text in (queries or {}).items():
        over = text.replace("{", "FROM <urn:weir:web:pods> {", 1)
        (folder / "queries" / f"{name}.rq").write_text(prefixes + over)
    traversal = {
        "name": "pods",
        "seeds": [server.pods.iri(task.person)],
        "follow": [task.follow],
        "hosts": "any",
        "contact": "bench@example.org",
        "every": "PT1S",
        "pause": "PT0S",
        "allow": ["127.0.0.0/8"],
        "ports": server.ports,
        "budget": {"requests": 20_000, "bytes": 200_000_000, "seconds": 3_600},
    }
    declared = {"prefixes": PREFIXES, "traversals": [traversal]}
    (folder / "traversals.yml").write_text(yaml.safe_dump(declared))
    return made


def _weir(made: Project) -> None:
    """`weir run --refresh` in a fresh process.

    Raises:
        RunFailed: with what was printed last.
    """
    weir = Path(sys.executable).with_name("weir")
    run_process([weir, "--config", made.config, "run", "--refresh"], made)


def _compared(server: PodServer, task: _Task) -> str:
    """What Comunica takes for the same documents; empty if it is not there."""
    modules = os.environ.get(COMUNICA)
    if modules is None or not task.pattern:
        return ""
    prefixes = "".join(f"PREFIX {name}: <{iri}> " for name, iri in PREFIXES.items())
    seed = server.pods.iri(task.person)
    query = prefixes + f"SELECT * {{ {task.pattern} }}".replace("$person", f"<{seed}>")
    before = _children_seconds()
    script = str(ROOT / "bench" / "comunica.mjs")
    try:
        done = subprocess.run(
            ["node", script, modules, query, seed],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=COMUNICA_SECONDS,
            check=False,
        )
        end = "" if done.returncode == 0 else ", failed"
    except subprocess.TimeoutExpired:
        end = ", no end"
    processor, counts = _children_seconds() - before, server.command("counts")
    return f"{counts['requests']:,}, {counts['bytes'] / 1000:,.0f}, {processor:.2f}{end}"


def _children_seconds() -> float:
    """Seconds of the processor of children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
