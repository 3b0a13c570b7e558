"""Programs that give a graph: their keys, their triples, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.definitions.definition import Definition
from weir.definitions.graph_program import GraphProgramBody
from weir.definitions.kinds import PROGRAM
from weir.definitions.names import Declaration
from weir.definitions.program import read
from weir.errors import ConfigurationError
from weir.plan.lookups import Shape
from weir.plan.scope import Scope

HEAD = '%+ graph: urn:d:g\n%+ prefixes: {"": "http://x/"}\n'
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def declared(text: str) -> Definition:
    return read(Declaration("g", PROGRAM, Path("programs/g.lars")), text.encode())


def test_its_answer_is_a_set_of_triples() -> None:
    program = declared(HEAD + "%+ reads: [up]\nlink(X,Y) <- p(X,Y), not q(Y,X).")
    assert program.graph == "<urn:d:g>"
    assert program.columns == (("subject", "v0"), ("predicate", "v1"), ("object", "v2"))
    assert (program.is_set, program.output.form, program.axis.has_states) == (
        True,
        "construct",
        True,
    )


@pytest.mark.parametrize(
    ("rule", "shapes"),
    [
        ("link(X,Y) <- p(X,Y).", {Shape(None, "<http://x/p>", None)}),
        ("u(X) <- c(X).", {Shape(None, TYPE, "<http://x/c>")}),
        ("d(X,P,Y) <- t(X,P,Y), t(P,q,a).", {Shape(None, None, None)}),
    ],
)
def test_atoms_that_nothing_declares_are_triples_of_the_graph(
    rule: str, shapes: set[Shape]
) -> None:
    body = declared(HEAD + rule).body
    assert {seed.shape for seed in body.seeds} == shapes
    assert {seed.scope for seed in body.seeds} == {Scope()}


def test_it_reads_the_derived_graphs_that_it_names() -> None:
    body = declared(HEAD + "%+ reads: [up]\n%+ default_graph: default\nl(X,Y) <- p(X,Y).").body
    assert isinstance(body, GraphProgramBody)
    assert body.scope == Scope(("",), derived=("up",))


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("p(X,Y) <- q(X,Y).", "1", "it says neither which stream it reads nor which graph"),
        (HEAD + "%+ unit: PT1M\nl(X,Y) <- q(X,Y).", "3", "unit is for programs with streams"),
        ("%+ stream: s\n" + HEAD + "l(X) <- q(X).", "2", "graph is for programs without streams"),
        (HEAD + "l(X,Y) <- win^3 diamond q(X,Y).", "3:11", "and has no points"),
        (HEAD + "l(X,Y) <- @T q(X,Y).", "3:11", "and has no points"),
        (HEAD + "@T l(X,Y) <- q(X,Y), r(T).", "3", "and has no points"),
        (HEAD + "alarm <- q(X,Y).", "3:1", "an atom without arguments is no triple"),
        (HEAD + 'd("x",p,Y) <- t(Y,p,Z).', "3", "a literal is no subject"),
        (HEAD + '%+ atoms: {"q(X,Y)": "?X <u:q> ?Y"}\nl(X,Y) <- q(X,Y).', "3", "of a stream"),
        (HEAD + "a(X) <- c(X), not b(X).\nb(X) <- c(X), not a(X).", "3:", "negation in a cycle"),
    ],
)
def test_what_has_no_meaning_at_epochs_is_refused_with_its_line(
    text: str, line: str, what: str
) -> None:
    with pytest.raises(ConfigurationError, match=what) as raised:
        declared(text)
    assert f"g.lars:{line}" in raised.value.where


def test_an_edit_of_a_rule_is_one_and_one_of_its_places_is_none() -> None:
    text = HEAD + "l(X,Y) <- p(X,Y).\n"
    same = declared(text).fingerprint
    assert declared(text.replace("l(X", "\n% a comment\nl(X")).fingerprint == same
    assert declared(text.replace("p(X", "q(X")).fingerprint != same
    assert declared(text.replace("%+ pre", "%+ reads: [u]\n%+ pre")).fingerprint != same
