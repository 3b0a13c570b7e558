"""The output of `weir explain`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.catalogs import catalog_of
from weir.cli.explanation import explain_query
from weir.definitions.definition import Definition

QUERY = """#+ description: names of the friends of a
PREFIX : <http://example.org/>
SELECT DISTINCT ?name { :a :knows ?x . ?x :name ?name . ?c :kind :city FILTER(LANG(?name) = "en") }
"""
EXPECTED = """friends: names of the friends of a
answer: a set of name

plan (* = stored in embeddings/friends, ~ = looked up in the graph):
  *answer: distinct
    *n1: project ?name
       n2: product of 2 parts (they share no variable) [looks at all rows below]
        *n3: connected-variable, 2 patterns
        *n4: simple var-centric star, 1 pattern

parts:
  n3: connected-variable, over the union of all graphs
      <http://example.org/a> <http://example.org/knows> ?x
      ?x <http://example.org/name> ?name
      FILTER =(LANG(?name), "en")
  n4: simple var-centric star, over the union of all graphs
      ?c <http://example.org/kind> <http://example.org/city>"""


def written(folder: Path, text: str) -> Definition:
    """The only query of a folder."""
    (folder / "friends.rq").write_text(text)
    return catalog_of(folder).member("friends")


def test_the_explanation_lists_the_plan_the_stored_nodes_and_the_classes(tmp_path: Path) -> None:
    assert explain_query(written(tmp_path, QUERY)) == EXPECTED


@pytest.mark.parametrize(
    ("pattern", "scope"),
    [
        ("GRAPH ?g { ?s ?p ?o }", "each named graph"),
        ("GRAPH :g { ?s ?p ?o }", "<http://example.org/g>"),
    ],
)
def test_the_explanation_names_the_graphs_that_a_part_reads(
    tmp_path: Path, pattern: str, scope: str
) -> None:
    query = written(tmp_path, f"PREFIX : <http://example.org/> SELECT ?s {{ {pattern} }}")
    assert f": connected-variable, over {scope}\n" in explain_query(query)


def test_the_sql_has_the_lookups_and_every_stored_node(tmp_path: Path) -> None:
    explained = explain_query(written(tmp_path, QUERY), sql=True)
    for relation in ("g0_keys1", "g0_rows1", "g0_graph", "q_n1", "q_n3", "q_answer", "q_new"):
        assert f"-- {relation} (" in explained


def test_a_node_in_two_places_is_explained_once(tmp_path: Path) -> None:
    sides = "{ ?a :q ?b FILTER(?b != ?y) } UNION { ?a :r ?c FILTER(?c != ?y) }"
    text = f"PREFIX : <http://example.org/> SELECT * {{ ?x :p ?y FILTER NOT EXISTS {{ {sides} }} }}"
    explained = explain_query(written(tmp_path, text))
    assert explained.count(": distinct") == 2, "the outer variables of EXISTS, for both sides"
    assert explained.count(": project ?y\n") == 1
    assert explained.count("(as above)") == 1


def test_the_explanation_names_the_graph_that_a_query_gives_and_those_that_it_reads(
    tmp_path: Path,
) -> None:
    (tmp_path / "up.rq").write_text("#+ graph: urn:d:up\nCONSTRUCT WHERE { ?s <urn:p> ?o }")
    reader = written(tmp_path, "#+ reads: [up]\nSELECT * { ?s <urn:p> ?o . ?o <urn:q> ?x }")
    given = explain_query(catalog_of(tmp_path).member("up"))
    assert "gives the graph <urn:d:up>, in derived/up\n" in given
    read = explain_query(reader, sql=True)
    assert "reads the graph <urn:d:up> of up, and is maintained after it\n" in read
    assert "over the merge of the union of all graphs, the graph of up\n" in read
