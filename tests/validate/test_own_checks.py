"""Checks that a project writes hold an answer, or warn, by what would be published."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.support.opened import has_pending_work, opened, statuses_of
from tests.support.projects.project import PATCHES, Project
from tests.support.streams.projects import event_project, readings
from weir.answers.held import held_answer
from weir.answers.logs import Printed
from weir.definitions.catalog import Catalog
from weir.errors import ConfigurationError, QualityError
from weir.progress.completion import Completion
from weir.review.differences import differences
from weir.review.edits import edits_of_published
from weir.stage import silent
from weir.validate import own_checks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AGES = "SELECT ?who ?age { ?who <http://x/age> ?age }"
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
BETWEEN = {
    "type": "expect_column_values_to_be_between",
    "kwargs": {"column": "age", "min_value": 0, "max_value": 120},
    "name": "age_is_plausible",
}


def age(who: str, years: int) -> str:
    return f'<http://x/{who}> <http://x/age> "{years}"^^<{INTEGER}>'


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """What `project` copies."""
    project = Project(tmp_path_factory.mktemp("ages")).declare(PATCHES)
    project.query("ages", AGES)
    check(project, BETWEEN)
    project.change(f"A {age('a', 42)}", f"A {age('b', 9)}")
    project.run()
    return project


@pytest.fixture
def project(two: Project, tmp_path: Path) -> Project:
    """A project that has published the ages of two people, and has a check of them."""
    return two.copy(tmp_path / "ages")


def check(project: Project, *expectations: dict[str, Any]) -> None:
    suite = {"answers": "ages", "expectations": [*expectations]}
    project.write("expectations/ages.yml", yaml.safe_dump(suite, sort_keys=False))


def change(project: Project, *lines: str) -> None:
    project.change(*lines)
    project.maintain()


def results(project: Project, name: str) -> list[tuple[bool, int, list[Any]]]:
    """Success, unexpected rows and examples of a check, by run."""
    rows = [row for row in project.table("quality") if row["expectation"] == name]
    rows.sort(key=lambda row: row["recorded_at"])
    return [
        (
            bool(row["success"]),
            int(row["unexpected_rows"]),
            [json.loads(example) for example in json.loads(row["observed"])["examples"]],
        )
        for row in rows
    ]


def published(project: Project) -> int:
    return sum(int(row["weight"]) for row in project.table("answers/ages"))


def test_an_answer_that_fails_a_check_is_held_and_its_rows_are_shown(project: Project) -> None:
    change(project, f"A {age('c', 300)}")
    with pytest.raises(QualityError, match=r"check age_is_plausible: 1 unexpected \(expect"):
        project.validate()
    example = {"who": "http://x/c", "age": "300"}
    assert results(project, "age_is_plausible") == [(True, 0, []), (False, 1, [example])]
    with pytest.raises(QualityError):
        project.publish()
    assert published(project) == 2
    change(project, f"D {age('c', 300)}")
    project.validate()
    project.publish()
    assert published(project) == 2


def test_a_check_that_warns_holds_nothing(project: Project) -> None:
    check(project, BETWEEN | {"severity": "warn"})
    change(project, f"A {age('c', 300)}")
    assert "1 warned" in project.validate().summary
    project.publish()
    assert published(project) == 3
    (status,) = statuses_of(project.settings)
    assert (status.state, status.warning) == (
        "current",
        "check age_is_plausible: 1 unexpected (expectations/ages.yml:3)",
    )


def test_of_an_answer_that_passed_only_the_rows_that_appear_are_read(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_whole(*_: object) -> None:
        raise AssertionError("the whole answer is read")

    with monkeypatch.context() as patched:
        patched.setattr(own_checks, "state_of", read_whole)
        change(project, f"A {age('c', 300)}")
        with pytest.raises(QualityError, match="age_is_plausible"):
            project.validate()
        change(project, f"D {age('c', 300)}", f"A {age('c', 3)}", f"D {age('a', 42)}")
    # The check failed in between, so that not all rows are known to pass it.
    project.validate()
    project.publish()
    with monkeypatch.context() as patched:
        patched.setattr(own_checks, "state_of", read_whole)
        change(project, f"A {age('d', 4)}")
        project.validate()


STRICTER = BETWEEN | {"kwargs": {"column": "age", "min_value": 0, "max_value": 40}}


def test_a_published_answer_is_checked_by_an_edited_check_though_it_did_not_change(
    project: Project,
) -> None:
    assert not has_pending_work(project.settings)
    check(project, STRICTER)
    (status,) = statuses_of(project.settings)
    assert has_pending_work(project.settings)
    assert (status.state, status.reason) == (
        "behind",
        "its checks or limits were edited: the next run checks it by them",
    )
    for _ in range(2):
        # As long as it fails, each run says so.
        with pytest.raises(QualityError, match="ages: check age_is_plausible: 1 unexpected"):
            project.validate()
        (status,) = statuses_of(project.settings)
        assert (status.state, status.reason) == (
            "held",
            "check age_is_plausible: 1 unexpected (expectations/ages.yml:3)",
        )
    assert published(project) == 2
    (_, rows), reason = held_answer(project.settings, "ages", Printed(0))
    assert (len(rows), "age_is_plausible" in reason) == (2, True)
    check(project, BETWEEN)
    assert project.validate().did_something
    assert not has_pending_work(project.settings)
    assert [state.state for state in statuses_of(project.settings)] == ["current"]


def test_nothing_more_is_published_of_an_answer_that_fails_an_edited_check(
    project: Project,
) -> None:
    check(project, STRICTER)
    with pytest.raises(QualityError):
        project.validate()
    # An epoch that does not touch it, and one that does.
    for line in ("A <http://x/a> <http://x/p> <http://x/b>", f"A {age('c', 3)}"):
        change(project, line)
        with pytest.raises(QualityError):
            project.validate()
        with pytest.raises(QualityError, match="held back"):
            project.publish()
        (status,) = statuses_of(project.settings)
        assert (status.state, status.published) == ("held", 1)
    change(project, f"D {age('a', 42)}")
    project.validate()
    project.publish()
    assert published(project) == 2
    assert not has_pending_work(project.settings)


def test_a_severity_that_is_edited_counts_at_once(project: Project) -> None:
    check(project, STRICTER | {"severity": "warn"})
    assert "1 warned" in project.validate().summary
    check(project, STRICTER)
    with pytest.raises(QualityError, match="age_is_plausible"):
        project.validate()
    check(project, STRICTER | {"severity": "warn"})
    assert "1 warned" in project.validate().summary
    assert not has_pending_work(project.settings)


def test_a_published_answer_is_checked_by_a_new_check_in_the_front_matter(project: Project) -> None:
    (project.folder / "expectations/ages.yml").unlink()
    project.validate()
    assert not has_pending_work(project.settings)
    project.query("ages", f"#+ checks:\n#+   - {json.dumps(STRICTER)}\n{AGES}")
    with pytest.raises(QualityError, match=r"1 unexpected \(queries/ages.rq:2\)"):
        project.validate()


def test_an_edit_of_what_describes_a_check_is_no_work(project: Project) -> None:
    text = (project.folder / "expectations/ages.yml").read_text()
    project.write("expectations/ages.yml", f"# Who is that old?\n\n{text}")
    check(project, BETWEEN | {"description": "Nobody is that old."})
    assert not has_pending_work(project.settings)


def test_an_answer_is_not_published_by_a_verdict_of_other_checks(project: Project) -> None:
    change(project, f"A {age('c', 100)}")
    project.validate()
    check(project, STRICTER)
    with pytest.raises(QualityError, match="by the checks that there are now yet"):
        project.publish()
    assert published(project) == 2


def test_an_edited_check_reads_the_whole_answer(project: Project) -> None:
    check(project, STRICTER)
    change(project, f"A {age('c', 3)}")
    with pytest.raises(QualityError, match="age_is_plausible: 1 unexpected"):
        project.validate()
    (_, now) = results(project, "age_is_plausible")
    assert now == (False, 1, [{"who": "http://x/a", "age": "42"}])


def test_an_answer_that_fails_a_check_of_the_project_is_not_computed_again(
    project: Project,
) -> None:
    change(project, f"A {age('c', 300)}")
    with pytest.raises(QualityError):
        project.validate()
    assert project.maintain().modes == {}
    change(project, f"D {age('c', 300)}")
    assert project.ledger("maintain")["ages"]["mode"] == "incremental"


def test_a_limit_of_what_vanishes_can_be_accepted(project: Project) -> None:
    check(project, {"type": "expect_few_rows_to_vanish", "kwargs": {"percent": 10}, "name": "few"})
    change(project, f"D {age('a', 42)}")
    with pytest.raises(QualityError, match="delta check few: 1 row gone in epoch 2"):
        project.validate()
    with pytest.raises(QualityError, match="weir run --accept ages"):
        project.publish()


def test_an_accepted_answer_is_read_whole_by_a_check_that_was_left_out(project: Project) -> None:
    check(project, {"type": "expect_few_rows_to_appear", "kwargs": {"rows": 0}})
    change(project, f"A {age('c', 300)}")
    with pytest.raises(QualityError, match="to_appear"):
        project.validate()
    project.validate(accept=["ages"])
    project.publish()
    assert published(project) == 3
    check(project, BETWEEN)
    change(project, f"A {age('d', 4)}")
    with pytest.raises(QualityError, match="age_is_plausible: 1 unexpected"):
        project.validate()


def test_a_query_over_typed_columns_changes_and_other_answers_is_a_check(project: Project) -> None:
    project.query("names", "SELECT ?who ?name { ?who <http://x/name> ?name }")
    statements = {
        "sum": "SELECT sum(age) AS total FROM {current} HAVING sum(age) > 100",
        "new": "SELECT * FROM {delta} WHERE weight > 0 AND epoch = 2 AND age + 0 = 99",
        "unnamed": "SELECT who FROM {current} WHERE who NOT IN (SELECT who FROM names)",
        "file": "SELECT * FROM read_text('weir.toml')",
        "absent": "SELECT * FROM nothing",
    }
    checks = [
        {
            "type": "UnexpectedRowsExpectation",
            "kwargs": {"unexpected_rows_query": text},
            "name": name,
        }
        for name, text in statements.items()
    ]
    check(project, *checks)
    names = (f'A <http://x/{who}> <http://x/name> "{who}"' for who in ("a", "c"))
    change(project, f"A {age('c', 99)}", *names)
    with pytest.raises(QualityError) as caught:
        project.validate()
    assert results(project, "sum") == [(False, 1, [{"total": 150}])]
    ((is_right, number, (example,)),) = results(project, "new")
    assert (is_right, number, example["age"], example["weight"]) == (False, 1, 99, 1)
    assert results(project, "unnamed") == [(False, 1, [{"who": "http://x/b"}])]
    assert "file: it cannot be computed: Permission Error" in str(caught.value)
    assert "absent: it cannot be computed: Catalog Error" in str(caught.value)


def test_a_check_that_names_what_is_not_there_holds_the_answer_though_it_only_warns(
    project: Project,
) -> None:
    entry: dict[str, Any] = {"type": "UnexpectedRowsExpectation", "severity": "warn", "name": "own"}
    for query, is_held in (("SELECT agee FROM {current}", True), ("SELECT 1", False)):
        check(project, entry | {"kwargs": {"unexpected_rows_query": query}})
        if is_held:
            with pytest.raises(QualityError, match="check own: it cannot be computed: Binder"):
                project.validate()
        else:
            assert "1 warned" in project.validate().summary


def test_without_checks_nothing_of_them_is_read(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project.folder / "expectations/ages.yml").unlink()
    monkeypatch.setattr(own_checks, "OwnChecks", None)
    change(project, f"A {age('c', 300)}")
    project.validate()
    project.publish()
    assert published(project) == 3


def test_checks_in_the_front_matter_are_checks(project: Project) -> None:
    (project.folder / "expectations/ages.yml").unlink()
    head = f"#+ checks:\n#+   - {json.dumps(BETWEEN)}\n"
    project.query("ages", head + AGES)
    change(project, f"A {age('c', 300)}")
    with pytest.raises(QualityError, match=r"age_is_plausible: 1 unexpected \(queries/ages.rq:2\)"):
        project.validate()


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            {"type": "expect_column_values_to_be_betwen"},
            "ages.yml:3:3: there is no expectation .* mean",
        ),
        (
            {"kwargs": {"column": "agee", "min_value": 0}},
            "ages.yml:5:5: .* no column agee. Did you mean",
        ),
        (
            {"kwargs": {"column": "age", "min_valu": 0}},
            "ages.yml:6:5: unknown argument min_valu. Did you mean min_value",
        ),
        ({"kwargs": {"column": "age"}}, "ages.yml:4:3: kwargs: write min_value, max_value or both"),
        ({"severity": "fatal"}, "severity: 'fatal' is none of error, warn"),
        ({"nmae": "x"}, "nmae: unknown key. Did you mean name"),
    ],
)
def test_a_mistake_has_its_place_and_the_nearest_name(
    project: Project, entry: dict[str, Any], message: str
) -> None:
    check(project, BETWEEN | entry)
    change(project, f"A {age('c', 3)}")
    with pytest.raises(QualityError) as caught:
        project.validate()
    assert re.search(
        rf"ages: checks_can_be_read: {project.folder}/expectations/.*{message}", str(caught.value)
    ), str(caught.value)
    (status,) = statuses_of(project.settings)
    assert (status.state, published(project)) == ("held", 2)


NOT_YAML = "expectations:\n  - {type: expect_column_values_to_not_be_null\n"
WRONG_FILES = {
    "ages.yml": NOT_YAML,
    "others.yml": f"answers: ages\n{NOT_YAML}",
    "more.yml": f"{NOT_YAML}answers:\n- ages\n",
    "list.yml": "answers: [ages, agess]\nexpectations: [{type: expect_few_rows_to_vanish}]\n",
}


@pytest.mark.parametrize("file", WRONG_FILES)
def test_a_wrong_file_of_checks_holds_the_answers_that_it_is_about_and_no_others(
    project: Project, file: str
) -> None:
    project.query("names", AGES)
    project.write(f"expectations/{file}", WRONG_FILES[file])
    change(project, f"A {age('c', 3)}")
    with pytest.raises(QualityError, match=rf"ages: checks_can_be_read: .*{file}:\d+:\d+: "):
        project.validate()
    with pytest.raises(QualityError, match="1 answer held back"):
        project.publish()
    states = {status.query: status.state for status in statuses_of(project.settings)}
    assert states == {"ages": "held", "names": "current"}


def test_a_wrong_file_of_checks_of_an_unknown_answer_fails_each_run_and_holds_nothing(
    project: Project,
) -> None:
    check_of_ages = (project.folder / "expectations/ages.yml").read_text()
    project.write("expectations/typo.yml", check_of_ages.replace("answers: ages", "answers: agess"))
    for _ in range(2):
        assert has_pending_work(project.settings)
        with pytest.raises(ConfigurationError, match=r"typo.yml:1:1: .* agess. Did you mean ages"):
            project.validate()
    change(project, f"A {age('c', 3)}")
    with pytest.raises(ConfigurationError, match="agess"):
        project.validate()
    project.publish()
    assert published(project) == 3


FORMS = {
    "ask": "ASK { ?who <http://x/age> 300 }",
    "construct": "CONSTRUCT { ?who <http://x/years> ?age } { ?who <http://x/age> ?age }",
}


@pytest.mark.parametrize("form", FORMS)
def test_answers_of_every_form_are_checked(project: Project, form: str) -> None:
    project.query("ages", FORMS[form])
    statement = "SELECT * FROM {current} LEFT JOIN {delta} ON true"
    check(
        project,
        {"type": "UnexpectedRowsExpectation", "kwargs": {"unexpected_rows_query": statement}},
        {"type": "expect_table_row_count_to_be_between", "kwargs": {"max_value": 0}},
        {"type": "expect_few_rows_to_appear", "kwargs": {"rows": 0}},
    )
    change(project, f"A {age('c', 300)}")
    with pytest.raises(QualityError) as caught:
        project.validate()
    number = 1 if form == "ask" else 3
    assert f"UnexpectedRowsExpectation: {number} unexpected row" in str(caught.value)
    assert f"to_be_between: {number} row" in str(caught.value)
    assert "to_appear" not in str(caught.value)


PROGRAM = """\
%+ stream: readings
%+ unit: PT5S
%+ prefixes: {"": "http://example.org/"}
%+ atoms: {"of(S)": "?R :of ?S"}
%+ checks: [{type: expect_column_values_to_match_regex, kwargs: {column: a1, regex: a$}}]
@T seen(S) <- win^3 @T of(S).
"""
WINDOW = """\
#+ checks: [{type: expect_column_values_to_match_regex, kwargs: {column: s, regex: a$}}]
PREFIX : <http://example.org/>
SELECT ?s FROM NAMED WINDOW :w ON readings [RANGE PT10S STEP PT10S]
WHERE { WINDOW :w { ?r :of ?s } }
"""


def test_programs_and_queries_over_streams_are_checked(tmp_path: Path) -> None:
    project = event_project(tmp_path, WINDOW)
    project.program("steady", PROGRAM)
    project.write("events/1.ttl", readings(("a", 1), ("b", 2), ("b", 31), ("a", 4000)))
    project.ingest()
    project.maintain()
    with pytest.raises(QualityError) as caught:
        project.validate()
    for name, place in (("s", "queries/q.rq:1"), ("a1", "programs/steady.lars:5")):
        said = rf"to_match_regex_{name}: [1-9] unexpected \({place}\)"
        assert re.search(said, str(caught.value)), str(caught.value)


def test_the_difference_of_an_edit_says_that_a_check_fails(project: Project) -> None:
    edited = "SELECT ?who (?years * 10 AS ?age) { ?who <http://x/age> ?years }"
    project.query("ages", edited)
    with opened(project.settings) as own:
        catalog, completion = Catalog.of(own.settings), Completion.read(own.open_lake())
        edits = [*edits_of_published(own.settings, catalog, completion)]
        (difference,) = differences(own, edits, 0, silent)
    assert difference.note == (
        "a run would hold it back: check age_is_plausible: 1 unexpected (expectations/ages.yml:3)"
    )


def test_rows_that_spark_reads_are_checked(spark: SparkSession, project: Project) -> None:
    project.configure(driver_rows=0, driver_scan_rows=0)
    unique = {"type": "expect_column_values_to_be_unique", "kwargs": {"column": "age"}}
    check(project, BETWEEN, unique)
    project.change_set(f"A {age('c', 300)}", f"A {age('d', 9)}")
    project.ingest(spark)
    project.maintain(spark)
    with pytest.raises(QualityError) as caught:
        project.validate(spark)
    assert "age_is_plausible: 1 unexpected" in str(caught.value)
    assert "to_be_unique_age: 2 unexpected" in str(caught.value)
