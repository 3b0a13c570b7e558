"""The names of SHACL, RDF and RDF Schema, as terms in N-Triples form."""

from __future__ import annotations

from weir.rdf.terms import iri

NAMESPACE = "http://www.w3.org/ns/shacl#"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
XSD = "http://www.w3.org/2001/XMLSchema#"

TYPE, FIRST, REST, NIL, LANG_STRING = (
    iri(_RDF + name) for name in ("type", "first", "rest", "nil", "langString")
)
SUBCLASS, CLASS = iri(f"{_RDFS}subClassOf"), iri(f"{_RDFS}Class")
OWL_CLASS, IMPORTS = (iri(f"http://www.w3.org/2002/07/owl#{name}") for name in ("Class", "imports"))


def sh(name: str) -> str:
    """A name of SHACL."""
    return iri(NAMESPACE + name)


def local_name(term: str) -> str:
    """What follows the namespace in a name of SHACL; any other IRI as it is."""
    text = term.removeprefix("<").removesuffix(">")
    return text.removeprefix(NAMESPACE)
