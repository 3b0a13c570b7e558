"""`weir test` of queries over traversals: links are followed over documents that are given."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.projects.command_line import Weir

EX = "http://example.org/"
WEB = "urn:weir:web:friends"
ALICE = "https://alice.example/card"
BOB = "https://bob.example/card"
TRAVERSALS = f"""\
prefixes: {{ex: "{EX}"}}
traversals:
  - name: friends
    seeds: ["{ALICE}#me"]
    follow: [ex:knows]
    hosts: any
    contact: team@example.org
    connection: secret
    budget: {{requests: 1}}
"""
NAMES = f"""\
PREFIX ex: <{EX}>
SELECT ?person ?name FROM <{WEB}> FROM NAMED <{WEB}> {{
  ?person <urn:weir:describedBy> ?document GRAPH ?document {{ ?person ex:name ?name }}
}}
"""
TEST = f"""\
query: names
tests:
  - name: each speaks for itself
    documents:
      friends:
        {ALICE}: |
          @prefix ex: <{EX}> .
          <#me> ex:name "Alice" ; ex:knows <{BOB}#me>, <https://nobody.example/> .
          <{BOB}#me> ex:name "Bobby" .
        {BOB}: <#me> <{EX}name> "Bob" .
        https://carol.example/card: <#me> <{EX}name> "Carol" .
    expect:
      - {{person: "{ALICE}#me", name: Alice}}
      - {{person: "{BOB}#me", name: Bob}}
"""


def write(text: str) -> None:
    Path("tests/exhibits.yml").unlink(missing_ok=True)
    Path("tests").mkdir(exist_ok=True)
    Path("tests/names.yml").write_text(text)


@pytest.fixture
def over_documents(initialised: None) -> None:
    """A project with a query over a traversal."""
    del initialised
    Path("traversals.yml").write_text(TRAVERSALS)
    Path("queries/names.rq").write_text(NAMES)


@pytest.mark.usefixtures("over_documents")
def test_links_are_followed_over_the_documents_that_are_given(weir: Weir) -> None:
    write(TEST)
    done = weir("test")
    assert (done.code, done.out.splitlines()[-1]) == (0, "1 passed, 0 failed."), done.out + done.err
    # Nothing leads to Bob.
    write(TEST.replace(f"ex:knows <{BOB}#me>,", "ex:likes"))
    failed = weir("test", "--output", "json")
    (mismatch,) = failed.json[0]["mismatches"]
    assert (failed.code, mismatch["unexpected"]) == (1, [])
    assert [row["name"] for row in mismatch["missing"]] == ["Bob"]


@pytest.mark.usefixtures("over_documents")
def test_a_change_of_the_graph_is_beside_the_documents(weir: Weir) -> None:
    Path("queries/names.rq").write_text(
        f"SELECT ?name {{ ?x <{EX}is> ?person GRAPH <{WEB}> {{ ?person <{EX}name> ?name }} }}"
    )
    write(
        f"""\
query: names
tests:
  - name: joined
    documents:
      friends: {{"{ALICE}": '<#me> <{EX}name> "Alice" .'}}
    expect: []
    change: {{add: "<{EX}a> <{EX}is> <{ALICE}#me> ."}}
    expect_after: [{{name: Alice}}]
"""
    )
    done = weir("test")
    assert done.code == 0, done.out + done.err


@pytest.mark.usefixtures("over_documents")
def test_patterns_of_the_query_lead_on_where_the_traversal_follows_matches(weir: Weir) -> None:
    Path("traversals.yml").write_text(TRAVERSALS.replace("[ex:knows]", "match"))
    Path("queries/names.rq").write_text(
        f"SELECT ?name FROM <{WEB}> {{ <{ALICE}#me> <{EX}knows> ?x . ?x <{EX}name> ?name }}"
    )
    write(TEST.partition("    expect:")[0] + "    expect: [{name: Bobby}, {name: Bob}]\n")
    done = weir("test")
    assert done.code == 0, done.out + done.err


@pytest.mark.usefixtures("over_documents")
def test_a_traversal_begins_in_the_answer_of_its_query(weir: Weir) -> None:
    seeds = f'["{ALICE}#me"]'
    text = TRAVERSALS.replace(seeds, "{query: known}").replace("    connection: secret\n", "")
    Path("traversals.yml").write_text(text)
    Path("queries/known.rq").write_text(f"SELECT ?who {{ ?x <{EX}known> ?who }}")
    given = f"    given: <{EX}x> <{EX}known> <{ALICE}> .\n"
    # A seed is the IRI of a document here, so what it describes has another one.
    expected = TEST.replace(f'      - {{person: "{ALICE}#me", name: Alice}}\n', "")
    write(expected.replace("    documents:", f"{given}    documents:"))
    done = weir("test")
    assert done.code == 0, done.out + done.err


@pytest.mark.usefixtures("over_documents")
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("friends:", "friend:", r"yml:5:7\n.*mean friends\? It reads friends"),
        ("query: names", "query: exhibits", r"yml:5:7\n.*It reads none"),
        (f"{BOB}:", f"{BOB}#me:", r"yml:10:9\n.*Write the IRI of the document"),
        (f"{BOB}:", "urn:bob:", r"yml:10:9\n.*Write the IRI of the document"),
        ("<#me> <http://example.org/name>", "<#me> <name", r"it is no Turtle or TriG.*yml:10:9"),
        ("documents:", "document:", "unknown key"),
    ],
)
def test_a_mistake_about_documents_has_its_place(
    weir: Weir, old: str, new: str, message: str
) -> None:
    text = TEST.partition("    expect:")[0] + "    expect: []\n"
    write(text.replace(old, new, 1))
    done = weir("test")
    assert done.code == 2
    assert re.search(message, done.err, re.DOTALL), done.err


@pytest.mark.usefixtures("over_documents")
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: friends", "name: others", r"no traversal is named friends\n.*names\.rq:2:27"),
        ('seeds: ["', "seeds: {query: who} #", r"nothing is declared.*who\n.*traversals\.yml:3:5"),
    ],
)
def test_a_mistake_about_the_traversal_has_its_place(
    weir: Weir, old: str, new: str, message: str
) -> None:
    text = TRAVERSALS.replace("    connection: secret\n", "")
    Path("traversals.yml").write_text(text.replace(old, new, 1))
    write(TEST)
    done = weir("test")
    assert done.code == 2
    assert re.search(message, done.err, re.DOTALL), done.err
