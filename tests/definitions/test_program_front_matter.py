"""The front matter of programs: what it declares, and each error with its place."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from weir.definitions.front_matter import Head, read_head
from weir.definitions.program_keys import ProgramFrontMatter, declarations
from weir.errors import ConfigurationError
from weir.lars.program import Declarations, DeclaredAtom, Program, read_program
from weir.lars.syntax import Place

COOLING = """\
% What Weir needs to know of the plant.
%+ description: alerts of the cooling system
%+ owner: plant@example.org
%+ tags: [plant]
%+ stream: readings
%+ unit: PT10S
%+ origin: 2026-01-01T00:00:00Z
%+ starts: 2026-01-01T01:00:05Z
%+ time_terms: dateTime
%+ prefixes: {ex: "http://example.org/", "": "http://plant.example/"}
%+ atoms:
%+   temp(S,V): "?S ex:celsius ?V"
%+   "sensor(S)": {graph: "?S a ex:Sensor"}
%+ output: [alarm]
%+ write_stream: {name: alerts, "alarm(S)": "?S a ex:Alarm"}
%+ corrects_back: PT1H
%+ max_rows: 1000

alarm(S) <- win^2 box hot(S), sensor(S), not off(S).
@T hot(S) <- win^2 @T temp(S,V), V >= 100.
off(old).
"""


def head_of(text: str) -> Head[ProgramFrontMatter]:
    """The front matter of a file."""
    return read_head(text, "p.lars", ProgramFrontMatter, "%")


def read(text: str) -> Program:
    """The program of a file."""
    head = head_of(text)
    return read_program(text, declarations(head), "p.lars")


def test_the_front_matter_declares_streams_points_and_atoms() -> None:
    head = head_of(COOLING)
    assert head.values == ProgramFrontMatter(
        description="alerts of the cooling system",
        owner="plant@example.org",
        tags=("plant",),
        stream=("readings",),
        unit="PT10S",
        origin=datetime(2026, 1, 1, tzinfo=UTC),
        starts=datetime(2026, 1, 1, 1, 0, 5, tzinfo=UTC),
        time_terms="dateTime",
        prefixes={"ex": "http://example.org/", "": "http://plant.example/"},
        atoms={"temp(S,V)": "?S ex:celsius ?V", "sensor(S)": {"graph": "?S a ex:Sensor"}},
        output=("alarm",),
        write_stream={"name": "alerts", "alarm(S)": "?S a ex:Alarm"},
        corrects_back="PT1H",
        max_rows=1000,
    )
    assert declarations(head) == Declarations(
        streams=("readings",),
        prefixes={"ex": "http://example.org/", "": "http://plant.example/"},
        atoms=(
            DeclaredAtom("temp(S,V)", "?S ex:celsius ?V", Place(12, 6), "stream"),
            DeclaredAtom("sensor(S)", "?S a ex:Sensor", Place(13, 6), "graph"),
        ),
        output=(("alarm", Place(14, 13)),),
        written=(DeclaredAtom("alarm(S)", "?S a ex:Alarm", Place(15, 33)),),
        written_stream="alerts",
    )


def test_points_are_counted_from_the_origin_in_units() -> None:
    said = head_of(COOLING).values
    assert said.unit_us == 10_000_000
    assert said.origin_us == 1_767_225_600_000_000
    assert said.corrects_back_us == 3_600_000_000


def test_lines_of_rules_are_those_of_the_file() -> None:
    program = read(COOLING)
    assert [rule.place for rule in program.rules.rules] == [Place(20, 1), Place(19, 1)]


def test_a_front_matter_with_only_a_stream_has_the_defaults() -> None:
    said = head_of("%+ stream: s\na <- b.").values
    assert said == ProgramFrontMatter(stream=("s",))
    assert (said.unit, said.starts, said.output) == ("PT1S", None, None)


def test_a_front_matter_is_read_back_from_json_unchanged() -> None:
    said = head_of(COOLING).values
    assert ProgramFrontMatter.model_validate_json(said.model_dump_json()) == said


def test_a_program_may_read_several_streams() -> None:
    text = "%+ stream: [s, t]\n%+ prefixes: {'': 'http://e/'}\na(X) <- win^1 box p(X), q(X,_)."
    assert read(text).streams == ("s", "t")


@pytest.mark.parametrize(
    ("before", "after", "place", "what"),
    [
        ("unit: PT10S", "units: PT10S", "6", "unknown key units"),
        ("unit: PT10S", "unit: PT0S", "6", "unit: a unit is more than zero"),
        ("unit: PT10S", "unit: P1M", "6", "unit: months and years have no fixed length"),
        ("unit: PT10S", "unit: 10", "6", "unit: write a duration"),
        ("stream: readings\n", "stream: []\n", "5", "stream: write each stream once"),
        ("stream: readings\n", "stream: [a, a]\n", "5", "stream: write each stream once"),
        ("stream: readings\n", "stream: Rd-1\n", "5", "stream: write the name of a stream"),
        ("2026-01-01T00:00:00Z", "2026-01-01", "7", "origin: write a time with its zone"),
        (
            "time_terms: dateTime",
            "time_terms: date",
            "9",
            "time_terms: 'date' is none of integer",
        ),
        ('ex: "http://example.org/"', "ex: example", "10", "prefixes: ex: not an absolute IRI"),
        ('"": "http', '"a:": "http', "10", "is no prefix; write it without its colon"),
        ("{graph:", "{graphs:", "13", "atoms.sensor(S): write"),
        ("{graph:", "{a: b, graph:", "13", "atoms.sensor(S): write"),
        ("%+   temp", '%+   temp(S,V): "x"\n%+   temp', "12", "the front matter has a key twice"),
        ("output: [alarm]", "output: alarm", "14", "output: 'alarm' is not a list"),
        ("name: alerts, ", "", "15", "name is the name of a stream"),
        ("name: alerts", "name: Alerts", "15", "name is the name of a stream"),
        (', "alarm(S)": "?S a ex:Alarm"', "", "15", "write an atom and its triples"),
        ("name: alerts", "name: readings", "15:19", "the program reads the stream readings"),
        ("max_rows: 1000", "max_rows: 0", "17", "max_rows: it must be at least 1"),
        ("max_rows: 1000", "max_rows: [", "18", "the front matter is not YAML"),
        ("output: [alarm]", "output: [alarm, foo]", "14:20", "foo: no rule derives it"),
        ("temp(S,V):", "temp(S):", "20:23", "temp: 2 arguments here, and 1 at 12:6"),
        ("?S a ex:Sensor", "?S a zz:Sensor", "13:6", "the prefix zz: is not declared"),
        ('"alarm(S)": "?S', '"alarm": "?S', "15:33", "the rules derive it with 1 arguments"),
        ("off(old)", "sensor(old)", "21:1", "it has facts here, and is read from the graph"),
    ],
)
def test_a_wrong_front_matter_is_an_error_with_its_place(
    before: str, after: str, place: str, what: str
) -> None:
    assert COOLING.count(before) == 1
    with pytest.raises(ConfigurationError) as raised:
        read(COOLING.replace(before, after))
    assert raised.value.where == f"p.lars:{place}"
    assert what in str(raised.value)
