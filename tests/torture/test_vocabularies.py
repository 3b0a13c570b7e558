"""The check of official vocabularies, on small ones that are written here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2]
_CONTEXT = {
    "@version": 1.1,
    "@vocab": "http://example.org/",
    "proof": {"@id": "http://example.org/proof", "@type": "@id", "@container": "@graph"},
    "signer": {"@id": "http://example.org/signer", "@context": {"@language": None}},
}
_OWL = """<!DOCTYPE rdf:RDF [<!ENTITY owl "http://www.w3.org/2002/07/owl#">]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" xmlns:owl="&owl;">
<owl:Class rdf:about="http://example.org/Wheel"><rdfs:label xml:lang="en">wheel</rdfs:label>
%s</owl:Class></rdf:RDF>"""
_RESTRICTION = """<rdfs:subClassOf><owl:Restriction>
<owl:onProperty rdf:resource="http://example.org/partOf"/>
<owl:minCardinality rdf:datatype="http://www.w3.org/2001/XMLSchema#integer">1</owl:minCardinality>
</owl:Restriction></rdfs:subClassOf>"""
_TRIG = """@prefix : <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:g { :a a owl:Class ; owl:unionOf ( :b [ :c %d ] [ :c %d ] ) }
_:drawn { :a a :Sketch } :b :drawnIn _:drawn ."""


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def _signed(name: str) -> str:
    return json.dumps(
        {
            "@context": "https://example.org/context",
            "@id": f"http://example.org/{name}",
            "@type": "Credential",
            "proof": [{"@type": "Proof", "signer": {"name": n}} for n in (name, "Ada")],
        }
    )


def _check(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.torture.vocabularies", str(folder), *options],
        cwd=PROJECT,
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_vocabularies_are_read_as_rdflib_reads_them(tmp_path: Path) -> None:
    """And the check finds nodes that are merged, of which some are counted no more."""
    _write(tmp_path / "_contexts/contexts.yml", "https://example.org/context: context.jsonld")
    _write(tmp_path / "_contexts/context.jsonld", json.dumps({"@context": _CONTEXT}))
    for version, count in (("v9", 2), ("v10", 3)):
        _write(tmp_path / f"wheels/{version}.owl", _OWL % (_RESTRICTION * count))
        _write(tmp_path / f"graphs/{version}.trig", _TRIG % (1, count))
        for name in ("one", "two"):
            _write(tmp_path / f"signed/{version}/{name}.jsonld", _signed(f"{name}{count}"))
    checked = _check(tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    _write(tmp_path / "wheels/_source.yml", "blank_nodes: merge")
    checked = _check(tmp_path, "--only", "wheels")
    assert checked.returncode == 1
    assert "its quads are not isomorphic to rdflib's" in checked.stdout, checked.stderr
    assert "blank_nodes: 0 times instead of 1" in checked.stdout
