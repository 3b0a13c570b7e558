"""Why rows of the answers of a lake changed: by each operator, and on Spark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.support.projects.project import PATCHES, Project
from weir.definitions.catalog import Catalog
from weir.errors import ConfigurationError, WeirError
from weir.project import Project as Opened
from weir.why.explain import explain_epoch
from weir.why.explanation import MOST_NAMED, Change, ExplainedEpoch, Explanation
from weir.why.rows import Value

TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
PREFIX = "PREFIX : <http://e/>\n"
QUERIES = {
    "rooms": "SELECT ?x ?r { ?x :room ?r ; a :Vase }",
    "stored_away": "SELECT ?x { ?x a :Vase FILTER NOT EXISTS { ?x :room ?r } }",
    "other": "SELECT ?x { ?x a :Vase MINUS { ?x :room :hall } }",
    "labels": "SELECT ?x ?l { ?x a :Vase OPTIONAL { ?x :label ?l } }",
    "counts": "SELECT (COUNT(*) AS ?n) { ?x :number ?v }",
    "reach": "SELECT ?y { :a :next+ ?y }",
    "named": "SELECT ?n { :v1 :name ?n }",
    "first": "SELECT ?x { ?x :number ?n } ORDER BY ?n LIMIT 1",
}
CHANGES = (
    (
        *(f"A <http://e/v1> {TYPE} <http://e/Vase>", f"A <http://e/v2> {TYPE} <http://e/Vase>"),
        *(
            "A <http://e/v1> <http://e/room> <http://e/hall>",
            'A <http://e/v1> <http://e/label> "x"',
        ),
        *(
            "A <http://e/v1> <http://e/name> <http://e/n>",
            "A <http://e/a> <http://e/next> <http://e/b>",
            "A <http://e/c> <http://e/next> <http://e/d>",
        ),
        *('A <http://e/v1> <http://e/number> "2"', 'A <http://e/v2> <http://e/number> "5"'),
    ),
    (
        *(
            "D <http://e/v1> <http://e/room> <http://e/hall>",
            'D <http://e/v1> <http://e/label> "x"',
        ),
        *(
            "A <http://e/v2> <http://e/room> <http://e/hall>",
            "A <http://e/b> <http://e/next> <http://e/c>",
        ),
        *(
            'A <http://e/v3> <http://e/number> "1"',
            "A <http://e/v9> <http://e/unread> <http://e/v1>",
        ),
    ),
)
EXPECTED = {
    "rooms": {"+v2 hall": ["+v2 room hall"], "-v1 hall": ["-v1 room hall"]},
    "stored_away": {"+v1": ["-v1 room hall"], "-v2": ["+v2 room hall"]},
    "other": {"+v1": ["-v1 room hall"], "-v2": ["+v2 room hall"]},
    "labels": {"+v1": ['-v1 label "x"'], '-v1 "x"': ['-v1 label "x"']},
    "counts": {'+"3"': ['+v3 number "1"'], '-"2"': ['+v3 number "1"']},
    "reach": {"+c": ["+b next c"], "+d": ["+b next c"]},
    "named": {},
    "first": {"+v3": ['+v3 number "1"'], "-v1": ['+v3 number "1"']},
}
"""By query, what made each row of epoch 2 change."""


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("why") / "project").declare(PATCHES)
    for name, text in QUERIES.items():
        project.query(name, PREFIX + text)
    for lines in CHANGES:
        project.change_set(*lines)
        project.run()
    return project


def explained(
    project: Opened, name: str, epoch: int | None = 2, most: int = 10, **values: Value
) -> ExplainedEpoch:
    definition = Catalog.of(project.settings).member(name)
    chosen = {column: [value] for column, value in values.items()}
    return explain_epoch(project, definition, epoch, chosen, most)


def of_life(folder: Path, text: str, *change_sets: Sequence[str]) -> Project:
    """A project with one query, `q`, after a run for each change set."""
    project = Project(folder / "project").declare(PATCHES)
    project.query("q", PREFIX + text)
    for lines in change_sets:
        project.change_set(*lines)
        project.run()
    return project


def only(project: Project, epoch: int | None = 2) -> Explanation:
    """The explanation of the only row that changed."""
    with Opened(project.settings) as own:
        (explanation,) = explained(own, "q", epoch).rows
    return explanation


def match_of(explanation: Explanation) -> set[str]:
    assert explanation.match is not None
    return {short(*triple) for triple in explanation.match.triples}


def short(*terms: str | None) -> str:
    plain = (term.partition("^^")[0] if '"^^' in term else term for term in terms if term)
    return " ".join(t.replace(TYPE, "a").replace("<http://e/", "").rstrip(">") for t in plain)


def sign(weight: int) -> str:
    return "+" if weight > 0 else "-"


def shown(explanation: Explanation) -> tuple[str, list[str]]:
    row = sign(explanation.weight) + short(*explanation.row)
    return row, [sign(c.weight) + short(*c.triple) for c in explanation.changes]


@pytest.mark.parametrize("name", QUERIES)
def test_the_changes_that_made_a_row_change_are_named(lived: Project, name: str) -> None:
    with Opened(lived.settings) as project:
        assert dict(map(shown, explained(project, name).rows)) == EXPECTED[name]


def test_a_match_has_what_the_row_needs_beside_the_changes(lived: Project) -> None:
    with Opened(lived.settings) as project:
        gone, came = explained(project, "rooms").rows
        assert match_of(gone) == {"v1 a Vase", "v1 room hall"}
        assert match_of(came) == {"v2 a Vase", "v2 room hall"}


def test_a_match_says_that_parts_of_the_query_have_stored_rows_that_are_not_looked_up(
    lived: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weir.why.graph.MOST_SCANNED", 0)
    with Opened(lived.settings) as project:
        stored = {
            name: {one.match.is_beside_stored for one in explained(project, name).rows if one.match}
            for name in ("rooms", "stored_away", "first")
        }
    assert stored == {"rooms": {False}, "stored_away": {False}, "first": {True}}


@pytest.mark.parametrize(
    ("name", "row", "match"),
    [
        ("reach", "+d", {"a next b", "b next c", "c next d"}),
        ("stored_away", "+v1", {"v1 a Vase"}),
        ("labels", '-v1 "x"', {"v1 a Vase", 'v1 label "x"'}),
        ("counts", '+"3"', {'v1 number "2"', 'v2 number "5"', 'v3 number "1"'}),
        ("first", "+v3", {'v3 number "1"'}),
    ],
)
def test_a_match_is_whole_also_beside_stored_rows(
    lived: Project, name: str, row: str, match: set[str]
) -> None:
    with Opened(lived.settings) as project:
        (one,) = (one for one in explained(project, name).rows if shown(one)[0] == row)
    assert match_of(one) == match
    assert one.match is not None
    assert not one.match.is_beside_stored


def test_the_newest_epoch_that_changed_an_answer_is_the_default(lived: Project) -> None:
    with Opened(lived.settings) as project:
        assert explained(project, "rooms", None).epoch == 2
        with pytest.raises(ConfigurationError, match="no epoch has changed the answer of named"):
            explained(project, "named", None)


def test_a_log_is_not_searched_for_an_epoch_that_is_given(
    lived: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched = []
    monkeypatch.setattr(
        "weir.why.explain.newest_change", lambda *arguments: searched.append(arguments)
    )
    with Opened(lived.settings) as project:
        assert explained(project, "rooms", 2, x=Value(["<http://e/v1>"])).rows
        assert not searched


@pytest.mark.parametrize(
    ("value", "rows"),
    [
        (Value(["<http://e/v1>"]), 1),
        (Value(["<http://e/v1>", "<http://e/v2>"]), 2),
        (Value(["<http://e/v7>"]), 0),
    ],
)
def test_rows_are_chosen_by_a_value(lived: Project, value: Value, rows: int) -> None:
    with Opened(lived.settings) as project:
        assert len(explained(project, "rooms", x=value).rows) == rows


@pytest.mark.parametrize(
    ("value", "rows"),
    [(Value(['"3"']), 0), (Value(['"3"'], '"3"'), 1), (Value(['"'], '"'), 0)],
)
def test_a_plain_value_is_that_of_a_literal_of_any_type(
    lived: Project, value: Value, rows: int
) -> None:
    with Opened(lived.settings) as project:
        assert len(explained(project, "counts", n=value).rows) == rows


def test_it_is_said_whether_there_are_more_rows(lived: Project) -> None:
    with Opened(lived.settings) as project:
        assert explained(project, "rooms", most=1).is_more
        assert not explained(project, "rooms", most=2).is_more


@pytest.mark.parametrize(
    ("epoch", "message"),
    [(1, "computed as a whole at epoch 1"), (3, "is computed up to epoch 2")],
)
def test_an_epoch_that_cannot_be_explained_is_refused(
    lived: Project, epoch: int, message: str
) -> None:
    with Opened(lived.settings) as project, pytest.raises(ConfigurationError, match=message):
        explained(project, "rooms", epoch)


def test_another_copy_of_a_row_has_a_match_of_its_own(tmp_path: Path) -> None:
    project = of_life(
        tmp_path,
        "SELECT ?t { ?x :title ?t ; :room ?r }",
        ['A <http://e/a> <http://e/title> "T"', "A <http://e/a> <http://e/room> <http://e/1>"],
        ["A <http://e/a> <http://e/room> <http://e/2>"],
    )
    explanation = only(project)
    assert shown(explanation) == ("+" + '"T"', ["+a room 2"])
    assert match_of(explanation) == {'a title "T"', "a room 2"}


def test_a_row_that_needs_no_triple_says_so(tmp_path: Path) -> None:
    text = "#+ history: full\nPREFIX : <http://e/>\nSELECT (COUNT(*) AS ?n) { ?x :unknown ?r }"
    project = Project(tmp_path / "project").declare(PATCHES)
    project.query("q", text)
    project.change_set("A <http://e/a> <http://e/room> <http://e/1>")
    project.run()
    explanation = only(project, None)
    assert (explanation.changes, explanation.is_all) == ((), True)


def test_only_quads_of_graphs_that_are_read_are_named(tmp_path: Path) -> None:
    quads = [f"A <http://e/a> <http://e/room> <http://e/1> <http://e/g{i}>" for i in (1, 2)]
    project = of_life(
        tmp_path,
        "SELECT ?r { GRAPH :g1 { ?x :room ?r } }",
        ["A <http://e/b> <http://e/room> <http://e/0> <http://e/g1>"],
        quads,
    )
    named = [one.graph for one in only(project).changes if isinstance(one, Change)]
    assert named == ["<http://e/g1>"]


@pytest.mark.usefixtures("slow")
def test_of_many_changes_that_count_some_are_named(tmp_path: Path) -> None:
    project = of_life(
        tmp_path,
        "SELECT (COUNT(*) AS ?n) { ?x :room ?r }",
        ["A <http://e/a> <http://e/room> <http://e/1>"],
        [f"A <http://e/a{i}> <http://e/room> <http://e/1>" for i in range(30)],
    )
    with Opened(project.settings) as own:
        (gone,) = explained(own, "q", n=Value(['"1"'], '"1"')).rows
        (came,) = explained(own, "q", n=Value(['"31"'], '"31"')).rows
    # One change less, and there were 30 rooms; for there to be 1 again, all have to go.
    assert (len(came.changes), came.is_all) == (1, True)
    assert (len(gone.changes), gone.is_all) == (MOST_NAMED, False)


def test_an_epoch_with_too_many_changes_is_refused_with_a_next_step(
    lived: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weir.why.graph.MOST_CHANGES", 1)
    with Opened(lived.settings) as project, pytest.raises(WeirError, match="more than 1 changes"):
        explained(project, "rooms")


def test_in_too_many_triples_no_match_is_looked_for(
    lived: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weir.why.plan_surroundings.MOST_TRIPLES", 1)
    with Opened(lived.settings) as project:
        assert [one.match for one in explained(project, "rooms").rows] == [None, None]


def test_spark_alone_names_the_same_changes(
    lived: Project, tmp_path: Path, quick_spark: SparkSession
) -> None:
    own = lived.copy(tmp_path / "copy")
    own.configure(driver_rows=0)
    with Opened(own.settings, quick_spark) as project:
        for name in ("rooms", "stored_away", "first"):
            assert dict(map(shown, explained(project, name).rows)) == EXPECTED[name]
