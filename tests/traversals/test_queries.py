"""Queries over the documents of traversals: at every epoch the answer is that over the dataset of
paper 001, whose named graphs are the documents under their own IRIs.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import pyoxigraph as ox
import pytest
from pyspark.sql import SparkSession

from tests.support.harness import LOOKED_UP, WHOLE, History, Memory, run_in_cuts, state
from tests.support.spark_harness import SparkMemory
from weir.definitions.fingerprint import plan_fingerprint
from weir.definitions.plan_json import decoded, encoded
from weir.plan.lower import lower
from weir.plan.plan import Plan
from weir.rdf.reserved_graphs import about_graph, document_graph, web_graph
from weir.sparql.frontend.errors import UnsupportedQuery
from weir.sparql.frontend.translate import translate
from weir.traversals.reading import DESCRIBED_BY

Triple = tuple[str, str, str]
WEBS = ("one", "two")
DOCUMENTS = tuple(f"http://h{number % 2}/d{number}" for number in range(4))
PREDICATES = ("<http://v/p>", "<http://v/q>")
OWN = ("", f"<{DOCUMENTS[0]}>", "<http://own/g>")
"""The graphs of sources; one has the name of a document."""


@dataclass(frozen=True, slots=True)
class Case:
    """A query: its dataset clauses, and its text without them.

    Attributes:
        text: with `{}` where dataset clauses stand.
        default: traversals and graphs of sources whose merge is the default graph; None: the union
            of the sources.
        named: traversals whose documents are the named graphs, and graphs of sources; None: all
            graphs of the sources.
        merges: traversals whose merge the text names in GRAPH.
    """

    text: str
    default: tuple[str, ...] | None = None
    named: tuple[str, ...] | None = None
    merges: tuple[str, ...] = ()

    @property
    def clauses(self) -> str:
        """The dataset clauses."""
        froms = [f"FROM {iri_of(graph)}" for graph in self.default or ()]
        return " ".join([*froms, *(f"FROM NAMED {iri_of(graph)}" for graph in self.named or ())])

    @property
    def plan(self) -> Plan:
        """Of the query with its dataset clauses."""
        return lower(translate(self.text.replace("{}", self.clauses, 1)), allow_product=True)


def iri_of(graph: str) -> str:
    """What a query calls a traversal or a graph of a source."""
    return web_graph(graph) if graph in WEBS else graph


ONE, TWO, BOTH = ("one",), ("two",), WEBS
P, Q, ABOUT = (*PREDICATES, DESCRIBED_BY)
D0, D1 = (f"<{iri}>" for iri in DOCUMENTS[:2])
G = OWN[2]
CASES = (
    Case(f"SELECT ?s ?o {{}} {{ ?s {P} ?o }}", ONE),
    Case(f"SELECT ?s ?o {{}} {{ ?s {P} ?o }}", BOTH),
    Case(f"SELECT ?s ?y {{}} {{ ?s {P} ?x . ?x {ABOUT} ?y }}", ONE),
    Case(f"SELECT ?x ?o {{}} {{ ?x {ABOUT} ?y GRAPH ?y {{ ?x {P} ?o }} }}", ONE, ONE),
    Case("SELECT ?g ?s ?o {} { GRAPH ?g { ?s ?p ?o } }", ONE, ONE),
    Case("SELECT ?g ?s ?p ?o {} { GRAPH ?g { ?s ?p ?o } }", ONE, BOTH),
    Case(f"SELECT ?s ?o {{}} {{ GRAPH {D0} {{ ?s {P} ?o }} }}", ONE, ONE),
    Case(f"SELECT ?s ?o {{}} {{ GRAPH {D1} {{ ?s {P} ?o }} }}", TWO, BOTH),
    Case(f"SELECT ?s ?o {{}} {{ ?s {P} ?x GRAPH <urn:weir:web:two> {{ ?x {Q} ?o }} }}", merges=TWO),
    Case(f"SELECT ?s ?o {{}} {{ {D0} ({P}|{Q})+ ?s . OPTIONAL {{ ?s {Q} ?o }} }}", ONE),
    Case(f"SELECT ?g ?x {{}} {{ GRAPH ?g {{ {D0} {P}+ ?x }} }}", ONE, BOTH),
    Case(
        f"SELECT ?s {{}} {{ ?s {P} ?o FILTER NOT EXISTS {{ GRAPH ?g {{ ?o {Q} ?z }} }} }}", ONE, TWO
    ),
    Case("SELECT ?g (COUNT(*) AS ?n) {} { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g", TWO, TWO),
    Case(f"SELECT ?s ?g {{}} {{ ?s {P} ?o MINUS {{ GRAPH ?g {{ ?s {Q} ?z }} }} }}", BOTH, ONE),
    # Documents and graphs of sources, one of which has the name of a document.
    Case("SELECT ?g ?s ?p ?o {} { GRAPH ?g { ?s ?p ?o } }", named=(*BOTH, D0, G)),
    Case(f"SELECT ?s ?o {{}} {{ GRAPH {D0} {{ ?s {P} ?o }} }}", named=(*BOTH, D0)),
    Case(f"SELECT ?s ?o {{}} {{ ?s {P} ?o }}", ("one", G)),
    Case(
        f"SELECT ?g ?s ?z {{}} {{ GRAPH ?g {{ ?s {P} ?o OPTIONAL {{ ?o {Q} ?z }} }} }}",
        named=("one", G),
    ),
    Case(
        f"SELECT ?g ?s {{}} {{ VALUES ?g {{ {D0} {D1} {G} }} GRAPH ?g {{ ?s {P} ?o"
        f" MINUS {{ ?s {Q} ?o }} }} }}",
        named=("one", D0),
    ),
    Case("SELECT ?g {} { GRAPH ?g { } }", named=("two", G)),
    # What a document was found for is not in a graph that has a name.
    Case(f"SELECT ?s ?o {{}} {{ GRAPH <about:{DOCUMENTS[0]}> {{ ?s ?p ?o }} }}", named=BOTH),
    Case(f"SELECT ?g ?s {{}} {{ GRAPH ?g {{ ?s {ABOUT} ?o }} }}", ONE, BOTH),
    # Nothing of a traversal is seen where none is named.
    Case("SELECT ?s ?p ?o {} { ?s ?p ?o }"),
    Case("SELECT ?g ?s ?o {} { GRAPH ?g { ?s ?p ?o } }"),
    Case(f"SELECT ?s ?o {{}} {{ GRAPH {D0} {{ ?s {P} ?o }} }}"),
    Case("SELECT ?g ?s ?o {} { GRAPH ?g { ?s ?p ?o } }", (D0,), (D0,)),
)


@dataclass(frozen=True, slots=True)
class Dataset:
    """What holds at an epoch: triples by graph of a source, and by document of a traversal."""

    own: dict[str, frozenset[Triple]]
    documents: dict[tuple[str, str], frozenset[Triple]]

    def about(self, web: str, iri: str) -> frozenset[Triple]:
        """What says for which resource a document was found; nothing if it does not exist."""
        alias = f"<{iri}#me>" if len(iri) % 2 else f"<{iri}>"
        is_there = bool(self.documents[web, iri])
        return frozenset({(alias, DESCRIBED_BY, f"<{iri}>")} if is_there else ())

    def merge(self, web: str) -> frozenset[Triple]:
        parts = (self.documents[web, iri] | self.about(web, iri) for iri in DOCUMENTS)
        return frozenset().union(*parts)

    def graph(self, name: str) -> frozenset[Triple]:
        """The merge of a traversal, or a graph of a source."""
        return self.merge(name) if name in WEBS else self.own[name]

    def named(self, names: Iterable[str]) -> dict[str, frozenset[Triple]]:
        """The named graphs: what has one IRI is one graph."""
        named: dict[str, frozenset[Triple]] = {}
        for name in names:
            graphs = {name: self.own.get(name, frozenset[Triple]())}
            if name in WEBS:
                graphs = {f"<{iri}>": self.documents[name, iri] for iri in DOCUMENTS}
            for iri, triples in graphs.items():
                named[iri] = named.get(iri, frozenset()) | triples
        return named

    def quads(self) -> frozenset[tuple[str, str, str, str]]:
        """As they are stored."""
        quads = [(graph, *triple) for graph, triples in self.own.items() for triple in triples]
        for (web, iri), triples in self.documents.items():
            quads += [(document_graph(web, iri), *triple) for triple in triples]
            quads += [(about_graph(web, iri), *triple) for triple in self.about(web, iri)]
        for web in WEBS:
            quads += [(web_graph(web), *triple) for triple in self.merge(web)]
        return frozenset(quads)

    def answer(self, case: Case) -> Counter[tuple[str | None, ...]]:
        """The answer by pyoxigraph over the dataset of the case."""
        if case.default is None and case.named is None:
            default = frozenset[Triple]().union(*self.own.values())
            named = {graph: triples for graph, triples in self.own.items() if graph}
        else:
            default = frozenset[Triple]().union(*map(self.graph, case.default or ()))
            named = self.named(case.named or ())
        named |= {web_graph(web): self.merge(web) for web in case.merges}
        lines = [f"{s} {p} {o} ." for s, p, o in default]
        lines += [f"{s} {p} {o} {graph} ." for graph, ts in named.items() for s, p, o in ts]
        store = ox.Store()
        store.load("\n".join(lines).encode(), format=ox.RdfFormat.N_QUADS)
        solutions = store.query(case.text.replace("{}", "", 1))
        assert isinstance(solutions, ox.QuerySolutions)
        names = solutions.variables
        rows = (tuple(None if s[n] is None else str(s[n]) for n in names) for s in solutions)
        return Counter(rows)


def random_triples(rng: random.Random) -> frozenset[Triple]:
    def term() -> str:
        iri = rng.choice(DOCUMENTS)
        return f"<{iri}{rng.choice(('', '#me'))}>"

    size = rng.randrange(4)
    return frozenset((term(), rng.choice(PREDICATES), term()) for _ in range(size))


def random_datasets(rng: random.Random, size: int) -> list[Dataset]:
    """Datasets of which each is the one before with some changes."""
    datasets = [
        Dataset(
            {graph: random_triples(rng) for graph in OWN},
            {(web, iri): random_triples(rng) for web in WEBS for iri in DOCUMENTS},
        )
    ]
    while len(datasets) < size:
        last = datasets[-1]
        own, documents = dict(last.own), dict(last.documents)
        for _ in range(rng.randint(1, 3)):
            if rng.random() < 0.3:
                own[rng.choice(OWN)] = random_triples(rng)
            else:
                documents[rng.choice(WEBS), rng.choice(DOCUMENTS)] = random_triples(rng)
        datasets.append(Dataset(own, documents))
    return datasets


def history_of(datasets: list[Dataset]) -> History:
    states = [frozenset[tuple[str, str, str, str]](), *(dataset.quads() for dataset in datasets)]
    return [(a - b, b - a) for a, b in pairwise(states)]


@pytest.mark.law("webs as graphs")
def test_the_answer_is_that_over_the_dataset_of_the_documents(seeds: Iterable[int]) -> None:
    for seed in seeds:
        rng = random.Random(seed)
        datasets = random_datasets(rng, 6)
        history = history_of(datasets)
        for case in CASES:
            memory = Memory(case.plan, history, optimized=False)
            cuts = sorted(rng.sample(range(1, len(datasets)), rng.randrange(len(datasets))))
            thresholds = rng.choice((LOOKED_UP, WHOLE))
            run_in_cuts(memory, len(datasets), cuts, thresholds=thresholds)
            log = memory.log()
            for epoch, dataset in enumerate(datasets, 1):
                assert state(log, epoch) == dataset.answer(case), (seed, epoch, case)


@pytest.mark.law("webs as graphs on Spark")
def test_spark_stores_the_rows_that_duckdb_stores_of_documents(
    quick_spark: SparkSession, seeds: Iterable[int]
) -> None:
    for seed in seeds:
        rng = random.Random(seed)
        history = history_of(random_datasets(rng, 4))
        plan, cut = CASES[seed % len(CASES)].plan, rng.randint(1, 3)
        by_duckdb = run_in_cuts(Memory(plan, history), len(history), (cut,))
        by_spark = run_in_cuts(SparkMemory(quick_spark, plan, history), len(history), (cut,))
        assert by_spark.stored() == by_duckdb.stored(), (seed, CASES[seed % len(CASES)])


@pytest.mark.parametrize("case", CASES)
def test_a_plan_over_documents_is_the_same_after_it_was_stored(case: Case) -> None:
    again = decoded(encoded(case.plan))
    assert again == case.plan
    assert plan_fingerprint(again) == plan_fingerprint(case.plan)


@pytest.mark.parametrize(
    "graph",
    ["urn:weir:web:one:http://h/d", "urn:weir:web:one:about:http://h/d", "urn:weir:replica:x"],
)
def test_the_graph_of_a_single_document_cannot_be_named_as_it_is_stored(graph: str) -> None:
    with pytest.raises(UnsupportedQuery, match=r"FROM NAMED|SERVICE"):
        translate(f"SELECT * {{ GRAPH <{graph}> {{ ?s ?p ?o }} }}")
