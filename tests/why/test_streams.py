"""Why rows of answers over streams changed: queries and a program through all stages."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.support.projects.project import Project
from tests.support.streams.projects import OFTEN, SECOND, SEEN, START, readings
from tests.support.streams.sensors import arrive, sensors
from weir.answers.instants import instant_of
from weir.definitions.catalog import Catalog
from weir.errors import ConfigurationError
from weir.lake.instants import microseconds
from weir.project import Project as Opened
from weir.why.explain import explain_epoch
from weir.why.explanation import Change, Derivation, Event, Explanation, MovedEvent
from weir.why.rows import Value

EX = "<http://example.org/{}>"
WINDOW = "PREFIX ex: <http://example.org/> SELECT {} FROM NAMED WINDOW ex:w ON readings {} WHERE {}"
SEEN_OUTSIDE = "{ WINDOW ex:w { ?r ex:of ?s } FILTER NOT EXISTS { ?s ex:in ex:hall } }"
QUERIES = {
    "outside": WINDOW.format("?s", "[RANGE PT10S]", SEEN_OUTSIDE),
    "last": WINDOW.format(
        "?s (COUNT(*) AS ?n)", "[ELEMENTS 2]", "{ WINDOW ex:w { ?r ex:of ?s } } GROUP BY ?s"
    ),
    "places": "SELECT ?s ?room { ?s <http://example.org/in> ?room }",
    "seen": SEEN,
    "often": OFTEN,
}
PROGRAM = """%+ stream: readings
%+ unit: PT1S
%+ prefixes: {"": "http://example.org/"}
%+ atoms: {"read(R,S)": "?R :of ?S", "in(S,X)": {graph: "?S :in ?X"}}
@T at(S)   <- win^20 @T read(R,S).
twice(S,X) <- win^20 @T at(S), win^20 @U at(S), T < U, in(S,X).
alone(S)   <- read(R,S), not twice(S,hall).
"""


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Four files of readings, the third with a late one; then s1 moves to the hall."""
    project = sensors(tmp_path_factory.mktemp("why") / "project")
    for name, text in QUERIES.items():
        project.query(name, text)
    project.write("programs/rules.lars", PROGRAM)
    for number in range(4):
        arrive(project, number)
        project.run()
    return project


def explained(
    project: Project, name: str, epoch: int, second: int | None = None, **values: str
) -> list[Explanation]:
    """The explanations of the rows of an epoch, and an instant."""
    with Opened(project.settings) as own:
        definition = Catalog.of(own.settings).member(name)
        chosen = {column: [Value([value])] for column, value in values.items()}
        instant = None if second is None else microseconds(START) + second * SECOND
        return [*explain_epoch(own, definition, epoch, chosen, 50, instant).rows]


def only(project: Project, name: str, epoch: int, second: int, **values: str) -> Explanation:
    (explanation,) = explained(project, name, epoch, second, **values)
    return explanation


def causes(explanation: Explanation) -> list[str]:
    """The readings that came or went, and the changes of the graph, with their signs."""
    shown = []
    for cause in explanation.changes:
        match cause:
            case MovedEvent(event=event, weight=weight):
                shown.append(f"{weight:+} {local(event)}")
            case Change(triple=triple, weight=weight):
                shown.append(f"{weight:+} {' '.join(map(short, triple))}")
    return shown


def local(event: Event) -> str:
    """What was read, and when; or the element of the output of a query."""
    second = (event.instant - microseconds(START)) // SECOND
    return f"{short(event.triple[0])} at {second} in {event.stream}"


def short(term: str) -> str:
    return term.removeprefix("<http://example.org/").removesuffix(">")


def n(number: int) -> str:
    return f'"{number}"^^<http://www.w3.org/2001/XMLSchema#integer>'


def test_an_event_that_enters_a_window_makes_a_row_appear(lived: Project) -> None:
    came = only(lived, "hot", 3, 20, n=n(2))
    assert came.weight == 1
    assert causes(came) in ([f"+1 s1/{second} at {second} in readings"] for second in (12, 14))


def test_an_event_that_leaves_a_window_makes_a_row_vanish(lived: Project) -> None:
    gone = only(lived, "outside", 4, 24, s=EX.format("s1"))
    assert (gone.weight, causes(gone)) == (-1, ["-1 s1/14 at 14 in readings"])


@pytest.mark.parametrize("name", ["hot", "outside", "rules"])
def test_the_newest_epoch_that_changed_such_a_row_is_the_default(lived: Project, name: str) -> None:
    with Opened(lived.settings) as project:
        definition = Catalog.of(project.settings).member(name)
        columns = [column for column, _ in definition.columns]
        newest = dict[tuple[str, ...], int]()
        for row in sorted(lived.table(f"answers/{name}"), key=lambda row: row["epoch"]):
            instant = row["event_time"].isoformat()
            newest[instant, *(row[column] for column in columns)] = row["epoch"]
        assert len({*newest.values()}) > 1
        for (instant, *cells), epoch in sorted(newest.items())[:: max(1, len(newest) // 6)]:
            chosen = {c: [Value([v])] for c, v in zip(columns, cells, strict=True) if v}
            at = instant_of(instant, "at")
            assert explain_epoch(project, definition, None, chosen, 1, at).epoch == epoch


def test_a_late_event_corrects_the_rows_of_its_window(lived: Project) -> None:
    rows = explained(lived, "hot", 4, 10)
    assert {(row.weight, row.row[1], row.is_correction) for row in rows} == {
        (-1, n(1), True),
        (1, n(2), True),
    }
    assert {tuple(causes(row)) for row in rows} == {("+1 s2/7 at 7 in readings",)}


def test_an_element_pushes_another_one_out_of_a_window(lived: Project) -> None:
    # A reading is two elements: what it is of, and its time.
    gone = only(lived, "last", 5, 41, s=EX.format("s1"), n=n(1))
    assert (gone.weight, causes(gone)) == (-1, ["-1 s1/31 at 31 in readings"])
    came = only(lived, "last", 5, 41, s=EX.format("s2"), n=n(1))
    assert causes(came) == ["+1 s2/41 at 41 in readings"]


def test_an_element_of_the_output_of_a_query_is_named_by_the_query(lived: Project) -> None:
    rows = explained(lived, "often", 3, 20)
    assert {tuple(causes(row)) for row in rows} == {
        ("+1 s1 at 10 in seen",),
        ("+1 s2 at 10 in seen",),
    }


def test_a_corrected_output_of_a_query_is_named_where_it_is_read(
    lived: Project, tmp_path: Path
) -> None:
    own = lived.copy(tmp_path / "copy")
    own.write("events/4.nt", readings(("s3", 27)))
    own.run()
    rows = [row for row in explained(own, "often", 6) if row.is_correction]
    assert {row.row for row in rows} == {(EX.format("s3"),)}
    assert {row.weight for row in rows} == {1}
    assert {tuple(causes(row)) for row in rows} == {("+1 s3 at 30 in seen",)}


def test_a_match_has_the_events_of_a_window_and_triples_of_the_graph(lived: Project) -> None:
    came = only(lived, "hot", 4, 10, n=n(2))
    assert came.match is not None
    events = {local(part) for part in came.match.parts if isinstance(part, Event)}
    triples = {" ".join(map(short, part)) for part in came.match.parts if isinstance(part, tuple)}
    assert events == {"s2/3 at 3 in readings", "s2/7 at 7 in readings"}
    assert triples == {"s2 in hall"}


def test_a_derivation_leads_from_an_atom_to_what_rules_read(lived: Project) -> None:
    came = only(lived, "rules", 3, 12, predicate='"twice"')
    assert came.match is not None
    derivation = came.match.derivation
    assert derivation is not None
    assert (derivation.predicate, derivation.rule) == ("twice", "rules.lars:6:1")
    inner = [of for of in derivation.of if isinstance(of, Derivation)]
    assert {(of.predicate, of.rule) for of in inner} == {("at", "rules.lars:5:1")}
    events = {local(part) for part in came.match.parts if isinstance(part, Event)}
    assert events == {"s1/1 at 1 in readings", "s1/12 at 12 in readings"}
    assert causes(came) == ["+1 s1/12 at 12 in readings"]


def test_a_change_of_the_graph_is_named_beside_windows(lived: Project, tmp_path: Path) -> None:
    own = lived.copy(tmp_path / "copy")
    place = "<http://example.org/s2> <http://example.org/in> <http://example.org/{}>"
    own.change_set(f"D {place.format('hall')}", f"A {place.format('attic')}")
    own.run()
    own.write("events/4.nt", readings(("s2", 57), ("s1", 75)))
    own.run()
    # From the first microsecond that was not final; the window still has s2/41.
    with Opened(own.settings) as opened:
        definition = Catalog.of(opened.settings).member("hot")
        rows = explain_epoch(opened, definition, 7, {}, 2).rows
    assert {(row.weight, *causes(row)) for row in rows} == {
        (-1, "-1 s2 in hall"),
        (1, "+1 s2 in attic"),
    }


def test_a_time_is_refused_of_an_answer_over_the_graph(lived: Project) -> None:
    with pytest.raises(ConfigurationError, match="places reads no stream"):
        explained(lived, "places", 2, 10)


def test_an_instant_is_read_with_its_zone() -> None:
    assert instant_of("2026-01-01T00:00:10Z", "--at") == microseconds(START) + 10 * SECOND


def test_spark_alone_names_the_same_events(
    lived: Project, tmp_path: Path, quick_spark: SparkSession
) -> None:
    own = lived.copy(tmp_path / "spark")
    own.configure(driver_rows=0)
    chosen = (("last", 5, 41, {"n": n(1)}), ("rules", 3, 12, {"predicate": '"twice"'}))
    for name, epoch, second, values in chosen:
        expected = [*map(causes, explained(lived, name, epoch, second, **values))][:1]
        with Opened(own.settings, quick_spark) as project:
            definition = Catalog.of(project.settings).member(name)
            columns = {column: [Value([value])] for column, value in values.items()}
            instant = microseconds(START) + second * SECOND
            rows = explain_epoch(project, definition, epoch, columns, 1, instant).rows
        assert [*map(causes, rows)] == expected
