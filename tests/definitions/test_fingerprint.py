"""The fingerprint changes with what stored rows mean, and with nothing else."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest

from weir.definitions.fingerprint import plan_fingerprint
from weir.plan.lower import lower
from weir.sparql.frontend.translate import translate

_TEXT = "PREFIX e: <u:e#> SELECT ?s { ?s e:p ?x . ?x e:q [ e:r 1 ] FILTER(?s > 1) FILTER(?s < ?x) }"


def made(text: str) -> str:
    return plan_fingerprint(lower(translate(text)))


@pytest.mark.parametrize(
    "text",
    [
        _TEXT + " # comment",
        _TEXT.replace(" ", "\n  "),
        _TEXT.replace("e:", "other:"),
        _TEXT.replace("e:p", "<u:e#p>"),
        _TEXT.replace("?x", "?y"),
        _TEXT.replace("[ e:r 1 ]", "_:b . _:b e:r 1 "),
        _TEXT + " ORDER BY ?s",
        _TEXT.replace("SELECT", "SELECT REDUCED"),
        _TEXT.replace("?s", "$s"),
    ],
)
def test_edits_that_do_not_change_the_plan_do_not_change_the_fingerprint(text: str) -> None:
    assert made(text) == made(_TEXT)


def test_what_changes_a_column_a_node_or_the_answer_changes_the_fingerprint() -> None:
    texts = [
        _TEXT,
        _TEXT.replace("SELECT", "SELECT DISTINCT"),
        _TEXT.replace("SELECT ?s", "ASK"),
        _TEXT.replace("SELECT ?s", "SELECT ?s ?t"),
        _TEXT.replace("?s", "?t"),
        _TEXT.replace("SELECT ?s", "CONSTRUCT { ?s e:p 1 }"),
        _TEXT.replace("SELECT ?s", "CONSTRUCT { ?s e:p [] }"),
        _TEXT.replace("SELECT ?s", "SELECT ?s FROM <u:g>"),
        _TEXT.replace("1 ]", "01 ]"),
        _TEXT.replace("e:q", "e:p"),
        _TEXT.replace("FILTER(?s < ?x)", ""),
        _TEXT.replace("?s < ?x", "?s <= ?x"),
    ]
    prints = [made(text) for text in texts]
    prints.append(plan_fingerprint(lower(translate(_TEXT, "default"))))
    assert all(one != two for one, two in combinations(prints, 2))


def test_the_same_answer_from_other_columns_has_another_fingerprint() -> None:
    one, two = "?s <u:p> ?x .", "?s <u:q> ?y ."
    assert made(f"SELECT ?s {{ {one} {two} }}") != made(f"SELECT ?s {{ {two} {one} }}")


def test_allowing_a_product_does_not_change_the_fingerprint() -> None:
    query = translate("SELECT * { ?a <u:p> ?b . ?c <u:p> ?d }")
    assert plan_fingerprint(lower(query)) == plan_fingerprint(lower(query, allow_product=True))


def test_from_makes_the_default_graph_of_the_front_matter_irrelevant() -> None:
    text = "ASK FROM <u:h> FROM <u:g> { ?s ?p ?o }"
    other = "ASK FROM <u:g> FROM <u:h> { ?s ?p ?o }"
    one, two = lower(translate(text, "default")), lower(translate(other, "union"))
    assert plan_fingerprint(one) == plan_fingerprint(two)


@pytest.mark.parametrize(
    "text",
    [
        "CONSTRUCT { _:a <u:p> _:b . _:b <u:p> _:c . _:d <u:p> ?x } { ?x <u:p> ?y }",
        "SELECT ?x { ?x <u:p> ?z FILTER NOT EXISTS { ?x <u:q> ?a . ?a <u:p> ?b . ?b <u:q> ?c } }",
        "SELECT ?x { ?x <u:p> ?z"
        " FILTER EXISTS { ?x <u:q> ?a OPTIONAL { ?c <u:q> ?d . ?d <u:p> ?e } } }",
        "SELECT ?x { ?x <u:p> ?z OPTIONAL {"
        " ?x <u:q> ?y FILTER EXISTS { ?y <u:q> ?a . ?a <u:p> ?b . ?b <u:q> ?d } } }",
    ],
    ids=["template", "exists", "optional-in-exists", "exists-in-optional"],
)
def test_every_process_gives_the_same_fingerprint(text: str) -> None:
    program = (
        "from weir.plan.lower import lower; "
        "from weir.definitions.fingerprint import plan_fingerprint; "
        "from weir.sparql.frontend.translate import translate; "
        f"print(plan_fingerprint(lower(translate({text!r}))))"
    )
    prints = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[2])},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(prints) == 1
