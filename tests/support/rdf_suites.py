"""The W3C suites of RDF 1.1 and JSON-LD: their tests as values, their expected graphs by rdflib."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import rdflib
from rdflib.namespace import RDF

from tests.support.oracles.rdf_lib_documents import lexical_forms
from weir.rdf.records import Format

Quad = tuple[str, str, str, str]
"""Subject, predicate, object, graph; blank nodes begin with `_:`, graph '' for none."""

_MANIFEST = rdflib.Namespace("http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#")
_FORMATS: dict[str, Format] = {
    "rdf-turtle": "turtle",
    "rdf-n-triples": "n-triples",
    "rdf-trig": "trig",
    "rdf-n-quads": "n-quads",
    "rdf-xml": "rdf-xml",
}
_JSON_LD = "https://w3c.github.io/json-ld-api/tests/"


@dataclass(frozen=True, slots=True)
class SuiteCase:
    """A test of a suite.

    Attributes:
        name: format and name, unique.
        is_positive: whether the document is to be read.
        expected: the file of its statements, None if only that it is read counts.
        options: of a test of JSON-LD, beside the base.
        contexts: by IRI, the files of remote contexts.
    """

    name: str
    format: Format
    file: Path
    base: str
    is_positive: bool
    expected: Path | None
    options: dict[str, str] = field(default_factory=dict, hash=False)
    contexts: dict[str, str] = field(default_factory=dict, hash=False)


def suite_cases(folder: Path) -> Iterator[SuiteCase]:
    """All tests of the six suites below the folder `w3c`."""
    for name, format_ in _FORMATS.items():
        yield from _by_manifest(folder / "rdf11" / name, format_)
    yield from _json_ld(folder / "json-ld")


def _by_manifest(folder: Path, format_: Format) -> Iterator[SuiteCase]:
    base = f"https://w3c.github.io/rdf-tests/rdf/rdf11/{folder.name}/"
    manifest = rdflib.Graph().parse(folder / "manifest.ttl", publicID=f"{base}manifest.ttl")
    entries = next(manifest.objects(None, _MANIFEST.entries))
    for test in manifest.items(entries):
        kind = str(manifest.value(test, RDF.type))
        action = str(manifest.value(test, _MANIFEST.action))
        result = manifest.value(test, _MANIFEST.result)
        yield SuiteCase(
            f"{format_} {str(test).rpartition('#')[2]}",
            format_,
            folder / action.removeprefix(base),
            action,
            "Negative" not in kind,
            None if result is None else folder / str(result).removeprefix(base),
        )


def _json_ld(folder: Path) -> Iterator[SuiteCase]:
    manifest = json.loads((folder / "toRdf-manifest.jsonld").read_text())
    contexts = {
        f"{_JSON_LD}{file.relative_to(folder)}": str(file)
        for file in sorted(folder.rglob("*.jsonld"))
    }
    for test in manifest["sequence"]:
        options = dict(test.get("option", {}))
        # The suite says so: eleven are of JSON-LD 1.0 alone. One has its document in another suite.
        if options.pop("specVersion", "") == "json-ld-1.0" or not test["input"].startswith("toRdf"):
            continue
        expected = test.get("expect")
        yield SuiteCase(
            f"json-ld {test['@id'].removeprefix('#')}",
            "json-ld",
            folder / test["input"],
            options.pop("base", f"{_JSON_LD}{test['input']}"),
            "jld:NegativeEvaluationTest" not in test["@type"],
            folder / expected if expected else None,
            options,
            contexts,
        )


def quads_of(text: str) -> set[Quad]:
    """Statements in N-Quads, read by rdflib; literals keep their lexical forms."""
    dataset = rdflib.Dataset()
    with lexical_forms():
        dataset.parse(data=text, format="nquads")
    return {
        (_text(s), _text(p), _text(o), "" if g is None else _text(g))
        for s, p, o, g in dataset.quads()
    }


def _text(term: object) -> str:
    match term:
        case rdflib.BNode():
            return f"_:{term}"
        case rdflib.Literal():
            language = str(term.language).lower() if term.language else ""
            datatype = str(term.datatype or "").removesuffix("XMLSchema#string")
            return repr((str(term), language, datatype.removesuffix("http://www.w3.org/2001/")))
        case _:
            return f"<{term}>"


def isomorphic(ours: Iterable[Quad], theirs: Iterable[Quad]) -> bool:
    """Whether the datasets are equal but for the names of blank nodes: colours, then trying."""
    one, two = {*ours}, {*theirs}
    return len(one) == len(two) and _matches(one, two, {}, {})


def _matches(one: set[Quad], two: set[Quad], mine: dict[str, int], yours: dict[str, int]) -> bool:
    mine, yours = _colours(one, mine), _colours(two, yours)
    if Counter(mine.values()) != Counter(yours.values()):
        return False
    shared = sorted(colour for colour, nodes in Counter(mine.values()).items() if nodes > 1)
    if not shared:
        return _coloured(one, mine) == _coloured(two, yours)
    chosen = next(node for node, colour in mine.items() if colour == shared[0])
    return any(
        _matches(one, two, mine | {chosen: -1}, yours | {other: -1})
        for other, colour in yours.items()
        if colour == shared[0]
    )


def _colours(quads: set[Quad], colours: dict[str, int]) -> dict[str, int]:
    """A number for each blank node, which depends on what is around it and not on its name."""
    nodes = {term for quad in quads for term in quad if term.startswith("_:")}
    colours = {node: colours.get(node, 0) for node in sorted(nodes)}
    while True:
        around: dict[str, list[object]] = {node: [] for node in nodes}
        for quad in quads:
            seen = tuple(str(colours.get(term, term)) for term in quad)
            for place, term in enumerate(quad):
                if term in around:
                    around[term].append((place, seen))
        refined = {node: hash((colours[node], *sorted(map(repr, around[node])))) for node in nodes}
        if len({*refined.values()}) == len({*colours.values()}):
            return refined
        colours = refined


def _coloured(quads: set[Quad], colours: dict[str, int]) -> set[tuple[str, ...]]:
    return {tuple(str(colours.get(term, term)) for term in quad) for quad in quads}
