"""Official vocabularies through runs of Weir; the answers are pyoxigraph's over rdflib's reading.

    python -m tests.torture.vocabularies FOLDER

FOLDER has a folder for each vocabulary, and in it its versions: files, or folders of files, that
are in the order of their names (`v1.2.1.rdf`, `v2.1.1.rdf`; v9 comes before v10). Files that are
not read by Weir's rules are not looked at. Optional are `_contexts/contexts.yml`, which has by the
IRI of a remote context of JSON-LD the name of a file beside it, and in the folder of a vocabulary
`_source.yml`, which has further keys of its source (`base_iri`). Nothing is fetched.

All first versions are ingested, one in a run, then all second ones. After each run, what Weir has
of the vocabulary is isomorphic (RDFC-1.0) to what rdflib reads, and all answers, over all
vocabularies together, are those of pyoxigraph as bags; its blank nodes are all one there. Then each
newest version comes once more as it is, and with its statements in another order, by which nothing
may change: as a version in N-Quads, which rdflib read, if it is a file, else to the reader.

Prints a line for each version; exits with 1 if anything differs.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyoxigraph as ox
import yaml

from tests.support.oracles.projects import solutions
from tests.support.projects.project import Project, Solution
from tests.support.vocabularies import Vocabulary, shuffled, vocabularies

_PREFIXES = """PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX sh: <http://www.w3.org/ns/shacl#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""
QUERIES = {
    "predicates": """SELECT ?p (COUNT(*) AS ?statements) (COUNT(DISTINCT ?s) AS ?subjects) {
        ?s ?p ?o } GROUP BY ?p""",
    "classes": """SELECT ?class ?label { VALUES ?kind { rdfs:Class owl:Class }
        ?class a ?kind ; rdfs:label ?label FILTER(isIRI(?class)) }""",
    "blank_nodes": """SELECT ?p (COUNT(*) AS ?statements) (COUNT(DISTINCT ?node) AS ?nodes)
        (SUM(STRLEN(STR(?value))) AS ?characters) {
        ?node ?p ?value
        # Of others, pyoxigraph does not keep the lexical form.
        FILTER(isBlank(?node) && (isIRI(?value) || datatype(?value) = xsd:string)) } GROUP BY ?p""",
    "cardinalities": """SELECT ?kind (COUNT(*) AS ?nodes) (SUM(?number) AS ?sum) {
        VALUES ?kind { owl:cardinality owl:minCardinality owl:maxCardinality sh:minCount sh:maxCount
            owl:qualifiedCardinality owl:minQualifiedCardinality owl:maxQualifiedCardinality }
        ?node ?kind ?number FILTER(isBlank(?node)) } GROUP BY ?kind""",
    "restrictions": """SELECT ?property (COUNT(?of) AS ?used) (COUNT(DISTINCT ?node) AS ?nodes) {
        ?of ?link ?node . ?node owl:onProperty|sh:path ?property
        FILTER(isBlank(?node) && isIRI(?property)) } GROUP BY ?property""",
    "above": "SELECT ?class ?above { ?class rdfs:subClassOf+ ?above FILTER(isIRI(?class)) }",
    "members": """SELECT ?p ?member (COUNT(*) AS ?lists) {
        VALUES ?p { owl:unionOf owl:intersectionOf owl:oneOf owl:propertyChainAxiom sh:in sh:or }
        ?s ?p ?list . ?list rdf:rest*/rdf:first ?member } GROUP BY ?p ?member""",
    "types_in_graphs": """SELECT ?g ?type (COUNT(DISTINCT ?s) AS ?nodes) (COUNT(*) AS ?statements) {
        GRAPH ?g { ?s a ?type ; ?p ?o } } GROUP BY ?g ?type""",
    "graphs_that_are_named": """SELECT ?p ?g ?type {
        ?named ?p ?g . GRAPH ?g { ?s a ?type } }""",
}


@dataclass
class Check:
    """A project with vocabularies, and what must be in it.

    stored, expected: the quads of each vocabulary, of Weir and of rdflib. failures: how many things
    differed.
    """

    project: Project
    vocabularies: list[Vocabulary]
    stored: dict[str, set[tuple[object, ...]]] = field(default_factory=dict)
    expected: dict[str, list[ox.Quad]] = field(default_factory=dict)
    failures: int = 0

    def run(self, chance: random.Random) -> None:
        """All versions, one after the other, and the newest ones again."""
        for name, text in QUERIES.items():
            self.project.query(name, _PREFIXES + text)
        print(f"{'':32}format        bytes   quads  ingest  answers  different")
        for number in range(max(len(one.versions) for one in self.vocabularies)):
            for vocabulary in self.vocabularies:
                if number < len(vocabulary.versions):
                    self._version(vocabulary, number)
        for vocabulary in self.vocabularies:
            self._again(vocabulary, chance)

    def _version(self, vocabulary: Vocabulary, number: int) -> None:
        version = vocabulary.versions[number]
        seconds, differences = self._ingest(vocabulary, version, number)
        self.expected[vocabulary.name] = vocabulary.content(version)
        epoch = max(row["epoch"] for row in self.project.table("transactions"))
        others = (quads for name, quads in self.stored.items() if name != vocabulary.name)
        stored = self.project.state(epoch).difference(*others)
        self.stored[vocabulary.name] = stored
        if _canonical(_quads(stored)) != _canonical(self.expected[vocabulary.name]):
            differences.append("its quads are not isomorphic to rdflib's")
        self.project.maintain()
        self.project.stages("validate", "publish")
        rows, wrong = self._answers()
        differences += wrong
        documents = [*vocabulary.documents(version)]
        formats = "+".join(sorted({format_ for _, format_ in documents}))
        size = sum(path.stat().st_size for path, _ in documents)
        print(
            f"{vocabulary.name:17}{version.stem if version.is_file() else version.name:15}"
            f"{formats:8}{size:11,}{len(stored):8,}{seconds:7.2f}s{rows:9,}{len(differences):11}",
            flush=True,
        )
        self._report(differences)

    def _again(self, vocabulary: Vocabulary, chance: random.Random) -> None:
        version = vocabulary.versions[-1]
        _, differences = self._ingest(vocabulary, version, len(vocabulary.versions), same=True)
        if version.is_dir():
            if not vocabulary.is_unchanged_in_another_order(version, chance):
                differences.append("in another order it is read differently")
        else:
            ((path, format_),) = vocabulary.documents(version)
            file = self.project.folder / f"{vocabulary.name}.nq"
            shuffled(vocabulary.read(path, format_), file, chance)
            _, more = self._ingest(vocabulary, file, len(vocabulary.versions) + 1, same=True)
            differences += more
        print(f"{vocabulary.name:17}again, and in another order {len(differences):47}", flush=True)
        self._report(differences)

    def _ingest(
        self, vocabulary: Vocabulary, version: Path, number: int, same: bool = False
    ) -> tuple[float, list[str]]:
        """Ingest a version: for how many seconds, and what is wrong."""
        place = self.project.folder / "versions" / vocabulary.name / f"{number:03}-{version.name}"
        place.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if version.is_dir() else shutil.copy)(version, place)
        sources = [
            {"name": one.name, "kind": "snapshots", "location": f"versions/{one.name}"}
            | {"max_deleted_share": 1.0}
            | one.options
            for one in self.vocabularies
            if (self.project.folder / "versions" / one.name).exists()
        ]
        contexts = {iri: str(file) for iri, file in vocabulary.contexts.items()}
        declared = {"sources": sources, "contexts": contexts}
        self.project.write("sources.yml", yaml.safe_dump(declared))
        started = time.perf_counter()
        result = self.project.ingest()
        seconds = time.perf_counter() - started
        (source,) = (one for one in result.sources if one.name == vocabulary.name)
        wrong = [f"stopped: {one.name}: {one.error}" for one in result.sources if one.error]
        wrong += [f"{source.rejected} rejected"] if source.rejected else []
        if same and (source.inserted or source.deleted):
            wrong.append(f"{version.name}: {source.inserted} inserted, {source.deleted} deleted")
        return seconds, wrong

    def _answers(self) -> tuple[int, list[str]]:
        """How many rows pyoxigraph's answers have, and which differ."""
        store = ox.Store()
        for quads in self.expected.values():
            store.extend(quads)
            # The merge of all graphs is made here: pyoxigraph counts a triple once per graph.
            store.extend(ox.Quad(quad.subject, quad.predicate, quad.object) for quad in quads)
        rows, wrong = 0, []
        for name, text in QUERIES.items():
            expected = _hidden(solutions(store, _PREFIXES + text))
            ours = _hidden(self.project.answer(name))
            rows += expected.total()
            for row in sorted(expected.keys() | ours.keys()):
                if ours[row] != expected[row]:
                    wrong.append(f"{name}: {ours[row]} times instead of {expected[row]}: {row}")
        return rows, wrong

    def _report(self, differences: list[str]) -> None:
        self.failures += len(differences)
        for line in differences[:10]:
            print(f"    {line[:600]}", flush=True)


def _quads(rows: set[tuple[object, ...]]) -> Iterator[ox.Quad]:
    lines = "\n".join(f"{s} {p} {o} {graph} ." for graph, s, p, o in rows)
    yield from ox.parse(lines.encode(), ox.RdfFormat.N_QUADS)


def _canonical(quads: Iterable[ox.Quad]) -> set[str]:
    dataset = ox.Dataset(quads)
    dataset.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
    return {*map(str, dataset)}


def _hidden(rows: Counter[Solution]) -> Counter[Solution]:
    """The rows with all blank nodes as one."""
    hidden: Counter[Solution] = Counter()
    for row, count in rows.items():
        of_row = tuple((name, "_:" if term.startswith("_:") else term) for name, term in row)
        hidden[of_row] += count
    return hidden


def main() -> int:
    """Check the vocabularies of a folder."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.torture.vocabularies",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, help="has a folder for each vocabulary")
    parser.add_argument("--only", nargs="+", help="names of folders (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="of the other order (%(default)s)")
    options = parser.parse_args()
    chosen = [
        vocabulary
        for vocabulary in vocabularies(options.folder)
        if not options.only or vocabulary.folder.name in options.only
    ]
    with tempfile.TemporaryDirectory(prefix="weir-vocabularies-") as name:
        check = Check(Project(Path(name)), chosen)
        check.run(random.Random(options.seed))
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
