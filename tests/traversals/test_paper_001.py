"""The examples of paper 001 that have graphs, as documents of a traversal.

The paper's f(u) is the document that describes u: `u weir:describedBy f(u)`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.engine.test_papers import deltas_of, fixture
from tests.support.counting_server import answer_of
from tests.support.generators.basic_cases import Quad
from tests.support.harness import Memory, run_in_cuts
from tests.support.keeping_server import KeepingServer, Request, Sent
from tests.support.opened import call
from tests.support.projects.project import Project, Solution
from weir.plan.lower import lower
from weir.project import open_lake
from weir.rdf.reserved_graphs import about_graph, document_graph, web_graph
from weir.refresh.stage import Surroundings, refresh_remotes
from weir.remotes.evaluation import Clock
from weir.sparql.frontend.translate import translate
from weir.traversals.reading import DESCRIBED_BY

WEB = "nose"
F = "<http://example.org/f>"
WITH_GRAPHS = (1, 2, 3, 15, 16, 17, 18, 19)
EXAMPLE = "http://example.org/"
DECLARATION = """
traversals:
  - name: nose
    seeds: {seeds}
    follow: none
    contact: tests@example.org
    allow: [127.0.0.1/32]
    ports: [{port}]
    pause: PT0S
    gone_after: 1
    recheck_after: PT1M
    redirect_ttl: PT1M
"""
DATASET = f"FROM {web_graph(WEB)} FROM NAMED {web_graph(WEB)} WHERE"


def as_stored(quads: Iterable[Quad]) -> frozenset[Quad]:
    """A dataset of the paper as the graphs of a traversal: its default graph is the merge."""
    stored: set[Quad] = set()
    for graph, s, p, o in quads:
        if graph:
            stored.add((document_graph(WEB, graph[1:-1]), s, p, o))
        elif p == F:
            stored.add((about_graph(WEB, o[1:-1]), s, DESCRIBED_BY, o))
            stored.add((web_graph(WEB), s, DESCRIBED_BY, o))
        else:
            stored.add((web_graph(WEB), s, p, o))
    return frozenset(stored)


@pytest.mark.parametrize("one_by_one", [True, False])
@pytest.mark.parametrize("number", WITH_GRAPHS)
def test_a_traversal_gives_the_deltas_of_the_paper(
    shared: Path, number: int, *, one_by_one: bool
) -> None:
    golden = fixture(shared, f"001-{number}")
    text = golden.query.replace("ex:f ", f"{DESCRIBED_BY} ").replace("WHERE", DATASET, 1)
    history = [(as_stored(gone), as_stored(new)) for gone, new in golden.history]
    memory = Memory(lower(translate(text), allow_product=True), history)
    last = len(history)
    run_in_cuts(memory, last, range(1, last) if one_by_one else ())
    assert deltas_of(memory, last) == golden.deltas


@dataclass
class PaperServer:
    """Documents at their IRIs, and resources that redirect to the document that describes them."""

    quads: set[Quad] = field(default_factory=set)
    origin: str = ""

    def __call__(self, request: Request) -> Sent:
        iri = f"<{EXAMPLE}{request.path.lstrip('/')}>"
        document = next((o for g, s, p, o in self.quads if not g and s == iri and p == F), None)
        if document is not None:
            return Sent(answer_of(b"", f"Location: {self.here(document)[1:-1]}", status="303 See"))
        lines = [f"{s} {p} {o} .\n" for graph, s, p, o in sorted(self.quads) if graph == iri]
        if not lines:
            return Sent(answer_of(b"", status="404 Not Found"))
        body = self.here("".join(lines)).encode()
        return Sent(answer_of(body, "Content-Type: text/turtle", "Cache-Control: no-cache"))

    def here(self, text: str) -> str:
        """A text of the paper, with the IRIs of this server."""
        return text.replace(EXAMPLE, f"{self.origin}/")


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("number", WITH_GRAPHS)
def test_the_states_of_the_paper_over_http(shared: Path, tmp_path: Path, number: int) -> None:
    golden = fixture(shared, f"001-{number}")
    # 001-1 is 001-2 without the documents.
    documents = fixture(shared, "001-2") if number == 1 else golden
    served, expected = PaperServer(), Counter[Solution]()
    everything = {quad for _, new in documents.history for quad in new}
    places = {graph for graph, *_ in everything if graph} | {
        s for graph, s, p, _ in everything if not graph and p == F
    }
    with KeepingServer(served) as server:
        served.origin = server.origin
        project = Project(tmp_path).declare()
        seeds = [served.here(place[1:-1]) for place in sorted(places)]
        project.write("traversals.yml", DECLARATION.format(seeds=seeds, port=server.port))
        text = golden.query.replace("ex:f ", f"{DESCRIBED_BY} ").replace("WHERE", DATASET, 1)
        project.query("paper", served.here(text))
        for hour, (gone, new) in enumerate(documents.history):
            served.quads = (served.quads - gone) | new
            refresh_at(project, datetime.now(UTC) + timedelta(hours=hour))
            project.stages("ingest", "maintain", "validate", "publish")
            for row, weight in golden.deltas[hour].items():
                expected[tuple((name, served.here(term)) for name, term in row)] += weight
            is_published = open_lake(project.settings).exists("answers/paper")
            answer = project.answer("paper") if is_published else Counter()
            assert answer == +expected, hour


def refresh_at(project: Project, now: datetime) -> None:
    """Evaluate the traversal, at a time as the clock says it."""
    around = Surroundings(clock=Clock(lambda: now, lambda _: None))
    result = call(refresh_remotes, project.settings, f"{now:%H%M%S}", surroundings=around)
    assert (result.did_something, result.errors) == (True, ())
