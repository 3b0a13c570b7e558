"""SERVICE in registered queries: keys, bounds and remotes, and mistakes with their places."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.projects.project import Project
from weir.cli.explanation import explain_query
from weir.definitions.catalog import Catalog
from weir.definitions.definition import Definition
from weir.definitions.services import AskedBlock
from weir.errors import ConfigurationError
from weir.ingest.undeclared import undeclared
from weir.sparql.algebra.bounds import Top
from weir.sparql.algebra.filter_distances import Bound

IRI = "http://remote.example/sparql"
BLOCK = f"SERVICE <{IRI}> {{ ?city :population ?n }}"
WHERE = f"PREFIX : <http://x/> SELECT ?user ?n {{ ?user :city ?city {BLOCK} %s }}"
REMOTE = f"remotes:\n  - name: wd\n    iri: {IRI}\n    contact: tests@example.org\n"


def registered(folder: Path, text: str) -> Definition:
    """The query of a text."""
    project = Project(folder).declare()
    project.query("q", text)
    return Catalog.of(project.settings).member("q")


def block(folder: Path, text: str) -> AskedBlock:
    """Its only block."""
    (only,) = registered(folder, text).services.blocks
    return only


@pytest.mark.parametrize(
    ("condition", "bounds"),
    [
        ("?n > 5", [("n", ">", 5.0)]),
        ("5 > ?n", [("n", "<", 5.0)]),
        ("?n >= 5 && ?n < 7.5", [("n", ">=", 5.0), ("n", "<", 7.5)]),
        ("?n = 1e2", [("n", "=", 100.0)]),
        ("?n > 5 || ?n < 2", []),
        ("!(?n > 5)", []),
        ("?n > '5'", []),
        ("?user > 5", []),
        ("?n > ?city", []),
    ],
)
def test_the_bounds_are_comparisons_that_every_solution_meets(
    tmp_path: Path, condition: str, bounds: list[tuple[str, str, float]]
) -> None:
    of_block = block(tmp_path, WHERE % f"FILTER ({condition})").bounds
    assert of_block == tuple(Bound(*bound) for bound in bounds)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("modifiers", "top"),
    [
        ("ORDER BY DESC(?n) LIMIT 3", Top("n", 3, True)),
        ("ORDER BY ?n LIMIT 3 OFFSET 2", Top("n", 5, False)),
        ("ORDER BY ?user LIMIT 3", None),
        ("ORDER BY (?n + 1) LIMIT 3", None),
        ("ORDER BY ?n", None),
    ],
)
def test_a_limit_ordered_by_a_value_of_the_block_is_its_top_k(
    tmp_path: Path, modifiers: str, top: Top | None
) -> None:
    assert block(tmp_path, f"{WHERE % ''} {modifiers}").top == top


def test_the_keys_of_equal_blocks_of_two_groups_are_both_asked_for(tmp_path: Path) -> None:
    text = f"""PREFIX : <http://x/> SELECT ?city ?n {{
      {{ ?user :city ?city {BLOCK} }} UNION {{ ?firm :seat ?city {BLOCK} }} }}"""
    one, two = registered(tmp_path, text).services.blocks
    assert one.pattern == two.pattern
    assert one.node != two.node


def test_explain_shows_key_partner_and_pattern(tmp_path: Path) -> None:
    query = registered(tmp_path, WHERE % "FILTER (?n > 5)")
    (asked,) = query.services.blocks
    text = explain_query(query)
    for line in (
        f"  <{IRI}>, pattern {asked.pattern}:",
        "      block: { ?city <http://x/population> ?n }",
        f"      key: ?city, the rows of {asked.node}, its partner",
        "      filter: ?n > 5",
    ):
        assert line in text.splitlines()
    # The node is printed with the plan.
    assert f"*{asked.node}: distinct" in text


def test_explain_shows_which_filters_the_remote_is_given_and_why_not_the_others(
    tmp_path: Path,
) -> None:
    filters = "FILTER (?n > 5 && ?n != 9) FILTER (?city = :a)"
    query = registered(tmp_path, f"#+ push_filters: true\n{WHERE % filters}")
    lines = explain_query(query).splitlines()
    for line in (
        "      block: { { ?city <http://x/population> ?n } FILTER(?n > 5) }",
        "      given to the remote: FILTER(?n > 5)",
        "      not given to it: FILTER(?n != 9): servers differ in how they compare 9 by !=",
        "      not given to it: FILTER(?city = <http://x/a>): the keys that are asked for meet it",
    ):
        assert line in lines
    without = explain_query(registered(tmp_path, WHERE % filters))
    assert "given to" not in without


def test_filters_that_are_given_to_the_remote_make_another_pattern(tmp_path: Path) -> None:
    text = WHERE % "FILTER (?n > 5)"
    without, given = (
        registered(tmp_path, f"{head}{text}") for head in ("", "#+ push_filters: true\n")
    )
    assert without.services.blocks[0].pattern != given.services.blocks[0].pattern
    assert without.fingerprint != given.fingerprint
    off = registered(tmp_path, f"#+ push_filters: false\n{text}")
    assert off.fingerprint == without.fingerprint


def test_push_filters_is_yes_or_no(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="push_filters") as error:
        registered(tmp_path, f"#+ owner: me\n#+ push_filters: some\n{WHERE % ''}")
    assert error.value.where.endswith("q.rq:2")


def test_an_undeclared_remote_is_an_error_at_its_place(tmp_path: Path) -> None:
    query = registered(tmp_path, (WHERE % "").replace("SERVICE", "\n  SERVICE"))
    settings = Project(tmp_path).settings
    error = undeclared([query], settings)["q"]
    assert error.where == f"{query.file}:2:11"
    assert "no remote is declared" in error.what
    (tmp_path / "remotes.yml").write_text(REMOTE)
    assert not undeclared([query], settings)


def test_max_staleness_is_a_duration(tmp_path: Path) -> None:
    query = registered(tmp_path, f"#+ max_staleness: PT10M\n{WHERE % ''}")
    assert query.services.max_staleness == timedelta(minutes=10)


@pytest.mark.parametrize("line", ["max_staleness: PT10M", "push_filters: true"])
def test_keys_about_remotes_are_for_queries_with_service(tmp_path: Path, line: str) -> None:
    with pytest.raises(ConfigurationError, match="this one has none") as error:
        registered(tmp_path, f"#+ owner: me\n#+ {line}\nASK {{ ?s ?p ?o }}")
    assert error.value.where.endswith("q.rq:2")
