"""`weir check`: all mistakes of a project at once, and hints about what may not be meant."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.support.projects.command_line import Weir

HEAD = "PREFIX : <http://example.org/>\n"


def query(name: str, text: str) -> None:
    Path(f"queries/{name}.rq").write_text(text)


def hints(weir: Weir) -> list[tuple[str, str]]:
    """The places and sentences of the hints about the query `q`; there is no mistake."""
    called = weir("check")
    assert called.code == 0
    lines = [line for line in called.out.splitlines() if line.startswith("queries/q.rq")]
    places = (line.split(": hint: ") for line in lines)
    return [(place.removeprefix("queries/q.rq:"), what) for place, what in places]


@pytest.mark.usefixtures("initialised")
def test_a_project_without_a_mistake_passes_without_a_lake(weir: Weir) -> None:
    called = weir("check")
    assert (called.code, called.out) == (0, "0 mistakes, 0 hints.\n")
    assert not Path("lake").exists()
    query("q", HEAD + "SELECT ?x { ?x :noSuch ?y }")
    assert hints(weir) == []


@pytest.mark.usefixtures("initialised")
def test_a_source_whose_folder_does_not_exist_is_hinted_at(weir: Weir) -> None:
    Path("data").rename("moved")
    called = weir("check")
    assert called.code == 0
    assert "sources.yml: hint: source museum: " in called.out
    assert called.out.endswith("0 mistakes, 1 hint.\n")
    assert weir("check", "--select", "exhibits").out == "0 mistakes, 0 hints.\n"


@pytest.mark.usefixtures("initialised")
@pytest.mark.parametrize("name", ["rooms.sparql", "rooms.SPARQL", "rooms.sq"])
def test_a_file_of_queries_with_another_ending_is_hinted_at(weir: Weir, name: str) -> None:
    Path("queries", name).write_text(HEAD + "SELECT ?r { ?e :room ?r }")
    Path("queries/notes.txt").write_text("None of ours.")
    Path("queries/.old.sparql").write_text("Of an editor.")
    called = weir("check")
    assert called.code == 0
    assert f"queries/{name}: hint: it is ignored" in called.out
    assert "    Rename it: rooms.rq.\n" in called.out
    assert called.out.endswith("0 mistakes, 1 hint.\n")


@pytest.mark.usefixtures("initialised")
def test_the_mistakes_of_all_files_are_printed_at_once_with_their_places(weir: Weir) -> None:
    Path("weir.toml").write_text('lakes = "lake"\n[limits]\nquery_seconds = "x"\n')
    Path("sources.yml").write_text("sources:\n  - name: m\n    kind: snapshot\n    location: x\n")
    Path("remotes.yml").write_text("remotes:\n  - nmae: r\n    irri: x\n")
    Path("traversals.yml").write_text("traversals: 5\n")
    query("head", f"#+ onwer: x\n#+ tag: y\n{HEAD}SELECT * {{ ?s ?p ")
    query("unnamed", HEAD + "SELECT ?s (COUNT(?o) AS ?n) (MAX(?o)) { ?s :p ?o }")
    query("undeclared", "SELECT * { SERVICE <http://x.org/> { ?s ?p ?o } }")
    Path("programs").mkdir()
    Path("programs/p.lars").write_text("p(X) :- .\n")
    called = weir("check")
    assert called.code == 1
    wrong = [line.split(": error: ") for line in called.out.splitlines() if "error: " in line]
    assert {place for place, _ in wrong} >= {
        "weir.toml:1:1",
        "weir.toml:3:1",
        "sources.yml:3:5",
        "remotes.yml:2:5",
        "remotes.yml:3:5",
        "traversals.yml:1:1",
        "queries/head.rq:1:4",
        "queries/head.rq:2:4",
        "queries/head.rq:4:10",
        "queries/unnamed.rq:2:29",
        "programs/p.lars:1:1",
    }
    as_json = weir("check", "--output", "json")
    assert as_json.code == 1
    assert len(as_json.json) == len(wrong)
    (unnamed,) = (row for row in as_json.json if row["file"].endswith("unnamed.rq"))
    assert (unnamed["level"], unnamed["line"], unnamed["column"]) == ("error", 2, 29)
    assert unnamed["next"] == "Write (... AS ?name)."


@pytest.mark.usefixtures("initialised")
def test_a_configuration_that_is_not_toml_hides_no_other_file(weir: Weir) -> None:
    Path("weir.toml").write_text("lake = \n")
    query("q", "SELECT")
    called = weir("check")
    assert "weir.toml:1:8: error: not TOML" in called.out
    assert "queries/q.rq:1:1: error: " in called.out


@pytest.mark.usefixtures("initialised")
def test_a_wrong_value_of_the_environment_is_a_mistake(
    weir: Weir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEIR_LIMITS__QUERY_SECONDS", "x")
    called = weir("check")
    assert called.code == 1
    assert "WEIR_* variables: error: limits.query_seconds" in called.out


@pytest.mark.usefixtures("initialised")
@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("PREFIX x: <urn:x>\nSELECT ?t { ?e :title ?t }", ("2:8", "the prefix x: is not used")),
        (
            "SELECT ?tilte { ?e :title ?t }",
            ("2:8", "?tilte is a column, and no pattern binds it: it is empty in every row"),
        ),
        (
            "CONSTRUCT { ?e :is ?tilte } { ?e :title ?t }",
            ("2:20", "?tilte is a column, and no pattern binds it: it is empty in every row"),
        ),
        (
            "SELECT ?t { ?e :title ?t . ?f :room ?r }",
            (
                "2:28",
                "?e, ?t and ?f, ?r share no variable: each solution of one part is combined with"
                " each of the others",
            ),
        ),
    ],
)
def test_what_the_text_alone_says_is_hinted_at(
    weir: Weir, text: str, hint: tuple[str, str]
) -> None:
    query("q", HEAD + text)
    assert hints(weir) == [hint]


@pytest.mark.usefixtures("initialised")
@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?t (COUNT(*) AS ?n) { ?e :title ?t BIND (1 AS ?one) } GROUP BY ?t",
        "#+ allow_product: true\nSELECT ?t { ?e :title ?t . ?f :room ?r }",
        "SELECT ?t ?n { ?e :title ?t { SELECT (COUNT(*) AS ?n) { ?x :room ?r } } }",
        "SELECT ?t ?v { ?e :title ?t VALUES ?v { 1 2 } }",
        "SELECT * { ?e :title ?t OPTIONAL { ?e :room ?r } }",
        "SELECT DISTINCT ?t { ?e :title ?t } ORDER BY ?t LIMIT 2",
        "ASK { ?e :title ?t }",
    ],
)
def test_what_is_meant_is_not_hinted_at(weir: Weir, text: str) -> None:
    query("q", text if text.startswith("#+") else HEAD + text)
    if text.startswith("#+"):
        query("q", text.replace("\n", "\n" + HEAD, 1))
    assert hints(weir) == []


@pytest.mark.usefixtures("has_run")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT ?t { ?e :titel ?t }", [("2:16", "no triple has the predicate :titel")]),
        ('SELECT ?e { ?e :room "9" }', [("2:22", 'no triple matches ? :room "9"')]),
        ("SELECT ?r { :vase :room ?r ; :title ?t }", []),
        ("SELECT ?r { :mask :room ?r }", [("2:13", "no triple matches :mask :room ?")]),
    ],
)
def test_terms_and_patterns_that_the_graph_does_not_have_are_hinted_at(
    weir: Weir, text: str, said: list[tuple[str, str]]
) -> None:
    query("q", HEAD + text)
    assert hints(weir) == said


@pytest.mark.usefixtures("has_run")
def test_what_may_be_meant_is_written_as_the_query_would(weir: Weir) -> None:
    query("q", HEAD + "SELECT ?t { ?e :titel ?t }")
    assert "    Did you mean :title?\n" in weir("check").out


@pytest.mark.usefixtures("has_run")
def test_terms_that_may_be_entailed_are_not_hinted_at(weir: Weir) -> None:
    query("q", f"#+ entailment: rdfs\n{HEAD}SELECT ?x {{ ?x a :Asset ; :connectedTo ?y }}")
    assert hints(weir) == []
    called = weir("run")
    assert "no triple has" not in called.out + called.err


@pytest.mark.usefixtures("has_run")
def test_a_derived_graph_that_no_run_made_yet_is_not_looked_at(weir: Weir) -> None:
    Path("queries/gives.rq").write_text(
        "#+ graph: urn:d:g\nCONSTRUCT { ?s <urn:d:made> ?o } WHERE { ?s ?p ?o }"
    )
    query("q", "#+ reads: [gives]\nSELECT ?s { ?s <urn:d:made> ?o }")
    assert hints(weir) == []
    Path("queries/q.rq").write_text("SELECT ?s { GRAPH <urn:d:g> { ?s <urn:d:made> ?o } }")
    assert hints(weir) == []


@pytest.mark.usefixtures("has_run")
def test_only_what_is_said_of_a_selection_is_printed(weir: Weir) -> None:
    query("broken", "SELECT")
    query("q", "#+ tags: [a]\n" + HEAD + "SELECT ?t { ?e :titel ?t }")
    called = weir("check", "--select", "tag:a")
    assert (called.code, called.out.count("hint: "), "broken" in called.out) == (0, 1, False)
    called = weir("check", "--exclude", "tag:a", "--output", "json")
    assert (called.code, [row["level"] for row in called.json]) == (1, ["error"])
    assert weir("check", "--select", "brken").code == 2
    assert "broken.rq" not in weir("check", "--exclude", "state:broken").out


CHECKS = """\
answers: [exhibits, exhibit]
expectations:
  - type: UnexpectedRowsExpectation
    kwargs:
      unexpected_rows_query: %s
  - {type: expect_compound_columns_to_be_unique, kwargs: {column_list: [titel, rom]}}
  - {type: expect_column_values_to_not_be_nul, kwargs: {column: room}}
  - {type: expect_few_rows_to_appear, kwargs: {row: 1}}
  - {tipe: x}
"""


def checks(file: str, text: str) -> None:
    Path("expectations").mkdir(exist_ok=True)
    Path(f"expectations/{file}.yml").write_text(text)


@pytest.mark.usefixtures("initialised")
def test_all_mistakes_of_all_files_of_checks_are_reported(weir: Weir) -> None:
    checks("a", CHECKS % "SELECT rom FROM {current}")
    checks("b", CHECKS.replace("  - {tipe: x}\n", "") % "SELECT rom FROM {current}")
    checks("c", "".join((CHECKS % "SELECT rom FROM {current}").splitlines(True)[:6]))
    checks("d", "answers: [exhibit, exhibitz]\nexpectations: [{type: x}]\n")
    Path("expectations/c.yml").write_text(
        Path("expectations/c.yml").read_text().replace("exhibits, exhibit", "exhibits")
    )
    out = weir("check").out
    for place in ("a.yml:7:", "a.yml:8:", "a.yml:9:", "b.yml:7:", "b.yml:8:", "c.yml:5:"):
        assert out.count(f"expectations/{place}") == 1, out
    assert out.count("expectations/c.yml:6:") == 2


@pytest.mark.usefixtures("initialised")
@pytest.mark.parametrize(
    ("query", "unknown"),
    [
        ("SELECT rom FROM {current}", "rom"),
        ("SELECT d.rom FROM {delta} AS d", "rom"),
        ("SELECT room FROM {current} WHERE count > 1 AND room IN (SELECT rom FROM rooms)", "rom"),
        ("SELECT room FROM roomz", "roomz"),
        ("SELECT no_such(room) FROM {current}", "no_such"),
        ("SELECT epoch FROM {current}", "epoch"),
    ],
)
def test_a_name_that_the_query_of_a_check_does_not_find_is_a_mistake(
    weir: Weir, query: str, unknown: str
) -> None:
    Path("queries/rooms.rq").write_text(HEAD + "SELECT DISTINCT ?room { ?e :room ?room }")
    checks(
        "a",
        f"""answers: exhibits
expectations:
  - type: UnexpectedRowsExpectation
    kwargs:
      unexpected_rows_query: {query}
""",
    )
    called = weir("check", "--output", "json")
    (finding,) = called.json
    assert (called.code, finding["line"]) == (1, 5)
    assert finding["file"].endswith("expectations/a.yml")
    assert unknown in finding["what"]
    assert "{current} has title, room, count" in finding["next"]


@pytest.mark.usefixtures("initialised")
@pytest.mark.parametrize(
    "query",
    [
        "SELECT room, count(*) AS n FROM {current} WHERE count > 1 GROUP BY room HAVING n > 1",
        "SELECT year(title), sum(room), date_diff('day', room, title), title_lang FROM {batch}",
        "SELECT epoch, weight, room_term FROM {delta} d JOIN rooms USING (room)",
        "SELECT * FROM {current} QUALIFY row_number() OVER (PARTITION BY room) > 1",
    ],
)
def test_a_query_of_a_check_whose_names_are_there_is_no_mistake(weir: Weir, query: str) -> None:
    Path("queries/rooms.rq").write_text(HEAD + "SELECT DISTINCT ?room { ?e :room ?room }")
    entry = {"type": "UnexpectedRowsExpectation", "kwargs": {"unexpected_rows_query": query}}
    checks("a", yaml.safe_dump({"answers": "exhibits", "expectations": [entry]}))
    assert weir("check").out == "0 mistakes, 0 hints.\n"


@pytest.mark.usefixtures("initialised")
@pytest.mark.parametrize(
    ("query", "question"),
    [
        ("SELECT room FROM roms", "Did you mean rooms? "),
        ("SELECT room FROM exhibit", "Did you mean exhibits? "),
        ("SELECT room FROM curent", "Did you mean {current}? "),
        ("SELECT rom FROM {current}", "Did you mean room? "),
        ("SELECT d.titel FROM {delta} AS d", "Did you mean title? "),
        ("SELECT room FROM zzz", "{current} has"),
        ("SELECT zzz FROM rooms", "{current} has"),
    ],
)
def test_what_the_query_of_a_check_may_mean_is_named(weir: Weir, query: str, question: str) -> None:
    Path("queries/rooms.rq").write_text(HEAD + "SELECT DISTINCT ?room { ?e :room ?room }")
    entry = {"type": "UnexpectedRowsExpectation", "kwargs": {"unexpected_rows_query": query}}
    checks("a", yaml.safe_dump({"answers": "exhibits", "expectations": [entry]}))
    (mistake,) = weir("check", "--output", "json").json
    assert mistake["next"].startswith(question)


BETWEEN, IN_SET = "expect_column_values_to_be_between", "expect_column_values_to_be_in_set"


def mistakes_with_pin(weir: Weir, pin: str, expectation: str, arguments: str) -> list[str]:
    """What is wrong with a check of the column x, that of a front matter and that of a file."""
    entry = f"{{type: {expectation}, kwargs: {{column: x, {arguments}}}}}"
    query("q", f"#+ types: {{x: {pin}}}\n{HEAD}SELECT ?x {{ ?e :room ?x }}")
    checks("q", f"answers: q\nexpectations:\n  - {entry}\n")
    of_file = [row["what"] for row in weir("check", "--output", "json").json]
    checks(
        "q",
        "answers: exhibits\nexpectations: [{type: expect_table_row_count_to_be_between,"
        " kwargs: {min_value: 0}}]\n",
    )
    query("q", f"#+ types: {{x: {pin}}}\n#+ checks: [{entry}]\n{HEAD}SELECT ?x {{ ?e :room ?x }}")
    assert [row["what"] for row in weir("check", "--output", "json").json] == of_file
    return of_file


@pytest.mark.usefixtures("initialised")
@pytest.mark.parametrize(
    ("pin", "expectation", "arguments", "wrong"),
    [
        ("integer", BETWEEN, "min_value: zero, max_value: 3", ["min_value: 'zero'"]),
        ("integer", BETWEEN, "min_value: zero, max_value: ten", ["min_value: ", "max_value: "]),
        ("decimal(2)", BETWEEN, 'max_value: "3"', ["max_value: '3'"]),
        ("double", BETWEEN, "min_value: true", ["min_value: true"]),
        ("boolean", IN_SET, "value_set: [true, 1]", ["value_set.1: 1"]),
        ("date", BETWEEN, "min_value: 3", ["min_value: 3"]),
        ("timestamp", IN_SET, "value_set: [2001-01-01, soon]", ["value_set.1: 'soon'"]),
        ("integer", IN_SET, "value_set: [1, 2.5], mostly: 0.5", []),
        ("date", BETWEEN, 'min_value: "2001-01-01", max_value: 2002-01-01', []),
        ("timestamp", BETWEEN, 'min_value: "2001-01-01T00:00:00Z"', []),
        ("text", BETWEEN, "min_value: 3", []),
    ],
)
def test_an_argument_that_no_value_of_a_pinned_type_is_compared_with_is_a_mistake(
    weir: Weir, pin: str, expectation: str, arguments: str, wrong: list[str]
) -> None:
    mistakes = mistakes_with_pin(weir, pin, expectation, arguments)
    assert len(mistakes) == len(wrong)
    assert all(what.startswith(begin) for what, begin in zip(mistakes, wrong, strict=True))


@pytest.mark.usefixtures("initialised")
def test_all_mistakes_of_an_entry_are_reported(weir: Weir) -> None:
    checks(
        "a",
        """answers: exhibits
expectations:
  - type: expect_column_values_to_be_between
    kwargs:
      column: rom
      min: 3
    sevrity: warn
  - tipe: x
  - {1: 2, type: expect_column_values_to_be_unique, kwargs: {column: titel}}
  - {type: expect_compound_columns_to_be_unique, kwargs: {column_list: [titel, 3], x: 1}}
""",
    )
    places = [(row["line"], row["what"]) for row in weir("check", "--output", "json").json]
    assert {*places} >= {
        (5, "the answer has no column rom"),
        (6, "unknown argument min"),
        (7, "expectations.0.sevrity: unknown key"),
        (8, "expectations.1.tipe: unknown key"),
        (9, "the answer has no column titel"),
        (10, "the answer has no column titel"),
        (10, "unknown argument x"),
    }


@pytest.mark.usefixtures("initialised")
def test_the_query_of_a_check_in_a_front_matter_is_looked_at(weir: Weir) -> None:
    entry = "{type: UnexpectedRowsExpectation, kwargs: {unexpected_rows_query: SELECT rom FROM"
    query("q", f"#+ tags: [a]\n#+ checks:\n#+ - {entry} '{{current}}'}}}}\n{HEAD}ASK {{ ?s ?p 1 }}")
    assert "queries/q.rq:3" in weir("check").out


@pytest.mark.usefixtures("initialised")
def test_a_new_query_has_no_mistake_and_no_hint(weir: Weir) -> None:
    assert weir("new", "things").code == 0
    assert weir("check").out == "0 mistakes, 0 hints.\n"
    assert weir("new", "things").code == 2
    assert weir("new", "quads").code == 2
    assert weir("new", "Not-a-name").code == 2
    assert {file.name for file in Path("queries").iterdir()} == {"exhibits.rq", "things.rq"}


@pytest.mark.usefixtures("initialised")
def test_a_channel_whose_criterion_nothing_is_like_is_a_mistake_with_its_place(weir: Weir) -> None:
    with Path("weir.toml").open("a") as config:
        config.write('\n[notify.desk]\nfolder = "outbox"\nselect = ["exhibit"]\n')
    checked = weir("check")
    assert checked.code == 1
    assert "notify.desk.select" in checked.out
    assert "Did you mean exhibits?" in checked.out


TYPED = "#+ owner: x\n#+ types: {t: text}\n#+ materialize: current\n"
NO_TABLE = "there is no table current/q, as limits.current_rows is 0"


@pytest.fixture
def without_tables(initialised: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder is a project as before there were typed tables."""
    del initialised
    monkeypatch.setenv("WEIR_LIMITS__CURRENT_ROWS", "0")


@pytest.mark.usefixtures("without_tables")
def test_keys_of_a_typed_table_are_hinted_at_where_there_are_none(
    weir: Weir, monkeypatch: pytest.MonkeyPatch
) -> None:
    query("q", f"{TYPED}{HEAD}SELECT ?t {{ ?e :title ?t }}")
    assert hints(weir) == [("2:4", f"types: {NO_TABLE}"), ("3:4", f"materialize: {NO_TABLE}")]
    assert "    Set `current_rows` under [limits] in weir.toml" in weir("check").out
    monkeypatch.delenv("WEIR_LIMITS__CURRENT_ROWS")
    assert hints(weir) == []


@pytest.mark.usefixtures("without_tables")
@pytest.mark.parametrize(
    "head",
    [
        "#+ materialize: none\n#+ types: {t: text}\n",
        "#+ types: {t: text}\n#+ key: [t]\n",
        "#+ columns: {t: a title}\n",
    ],
    ids=["no table is wanted", "a check uses the types", "no key of the table alone"],
)
def test_keys_that_need_no_typed_table_are_not_hinted_at(weir: Weir, head: str) -> None:
    query("q", f"{head}{HEAD}SELECT ?t {{ ?e :title ?t }}")
    assert hints(weir) == []


@pytest.mark.usefixtures("without_tables")
def test_keys_of_a_typed_table_are_hinted_at_in_a_program(weir: Weir) -> None:
    Path("programs").mkdir()
    Path("programs/p.lars").write_text(
        '%+ graph: urn:reach\n%+ types: {object: text}\n%+ prefixes: {"": "http://example.org/"}\n'
        "near(X,Y) <- room(X,Y).\n"
    )
    called = weir("check")
    assert called.code == 0, called.out
    assert "programs/p.lars:2:4: hint: types: there is no table current/p" in called.out
