"""RSP-QL queries: what they mean, and every refusal at its place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.sparql.algebra.queries import Construct
from weir.sparql.algebra.windows import CountWindow, Registration, TimeWindow, WindowClause
from weir.sparql.frontend.errors import QueryError, QuerySyntaxError, UnsupportedQuery
from weir.sparql.frontend.lexer import tokenize
from weir.sparql.frontend.rspql.stream_syntax import read_stream_syntax
from weir.sparql.frontend.translate import translate

_MINUTE = 60_000_000
_W = "FROM NAMED WINDOW W ON S [RANGE 10m]"
_READ = "{ WINDOW W { ?s ?p ?o } }"


def test_a_query_without_windows_keeps_its_tokens() -> None:
    tokens = tokenize("SELECT ?window { GRAPH <u:WINDOW> { ?window <u:register> 'RSTREAM' } }")
    assert read_stream_syntax(tokens, "q").tokens is tokens


def test_a_query_without_windows_has_neither_windows_nor_a_stream() -> None:
    query = translate("ASK { ?s ?p ?o }")
    assert (query.windows, query.registration) == ((), None)


def test_the_listing_of_paper_003_is_read(shared: Path) -> None:
    """As it is printed, but for a prefix, 100,000, and SERVICE, for which it has the replica."""
    folder = shared / "papers" / "examples" / "003-1-listing1-influencers"
    printed = (folder / "listing1.rspql").read_text(encoding="utf-8")
    corrected = printed.replace("100,000", "100000").replace("SERVICE BKG", "GRAPH :R")
    query = translate(f"PREFIX : <http://example.org/>\n{corrected}")
    window = WindowClause(
        "<urn:weir:window:W>", "<urn:weir:stream:S>", TimeWindow(10 * _MINUTE, _MINUTE)
    )
    assert query.windows == (window,)
    assert query.registration == Registration(None, "<http://example.org/InfluencersToContact>")
    assert isinstance(query.form, Construct)
    as_graph = (
        "PREFIX : <http://example.org/> CONSTRUCT { ?user a :influentialUser } WHERE {"
        " GRAPH <urn:weir:window:W> { ?user :hasMentions ?mentionsNum }"
        " GRAPH :R { ?user :hasFollowers ?fCount } FILTER(?fCount > 100000) }"
    )
    assert query.form == translate(as_graph).form


@pytest.mark.parametrize(
    ("head", "operator", "stream"),
    [
        ("REGISTER STREAM <u:o> AS SELECT RSTREAM *", "rstream", "<u:o>"),
        ("REGISTER RSTREAM <u:o> AS SELECT *", "rstream", "<u:o>"),
        ("register istream e:o as\nselect distinct *", "istream", "<u:e#o>"),
        ("REGISTER STREAM <e:o> AS CONSTRUCT DSTREAM { ?s ?p ?o }", "dstream", "<e:o>"),
        ("REGISTER STREAM out AS SELECT ISTREAM ?s", "istream", "<urn:weir:stream:out>"),
        ("REGISTER DSTREAM STREAM AS SELECT dstream ?s", "dstream", "<urn:weir:stream:STREAM>"),
        ("REGISTER STREAM <:o> AS SELECT *", None, "<u:d#o>"),
        ("REGISTER STREAM :o AS PREFIX : <u:later#> SELECT *", None, "<u:later#o>"),
        ("REGISTER STREAM :o AS ASK", None, "<u:d#o>"),
        ("SELECT RSTREAM DISTINCT ?s", "rstream", None),
    ],
)
def test_the_stream_that_a_query_publishes_has_its_operator_and_iri(
    head: str, operator: str | None, stream: str | None
) -> None:
    query = translate(f"PREFIX e: <u:e#> PREFIX : <u:d#> {head} {_W} WHERE {_READ}")
    assert query.registration is not None
    assert (query.registration.operator, query.registration.stream) == (operator, stream)


def test_windows_do_not_need_a_stream_to_publish() -> None:
    assert translate(f"SELECT * {_W} {_READ}").registration is None


@pytest.mark.parametrize(
    ("clause", "window", "stream"),
    [
        ("W ON S", "<urn:weir:window:W>", "<urn:weir:stream:S>"),
        ("W ON STREAM S", "<urn:weir:window:W>", "<urn:weir:stream:S>"),
        ("W ON STREAM", "<urn:weir:window:W>", "<urn:weir:stream:STREAM>"),
        (":W ON stream e:S", "<u:d#W>", "<u:e#S>"),
        ("<:W> ON <S>", "<u:d#W>", "<http://b/S>"),
        ("<u:W> ON <:S>", "<u:W>", "<u:d#S>"),
    ],
)
def test_names_of_windows_and_streams_become_iris(clause: str, window: str, stream: str) -> None:
    name = clause.split()[0]
    prologue = "BASE <http://b/> PREFIX e: <u:e#> PREFIX : <u:d#>"
    query = translate(
        f"{prologue} ASK FROM NAMED WINDOW {clause} [ELEMENTS 5] {{ WINDOW {name} {{ ?s ?p ?o }} }}"
    )
    assert query.windows == (WindowClause(window, stream, CountWindow(5)),)
    assert query.form == translate(f"ASK {{ GRAPH {window} {{ ?s ?p ?o }} }}").form


def test_the_dataset_is_that_of_the_other_clauses() -> None:
    query = translate(f"SELECT * FROM <u:g> {_W} FROM NAMED <u:h> WHERE {_READ}")
    assert (query.dataset.from_graphs, query.dataset.named_graphs) == (("<u:g>",), ("<u:h>",))
    assert translate(f"SELECT * {_W} {_READ}").dataset.named_graphs is None


def test_windows_may_stand_wherever_graph_may() -> None:
    text = (
        "SELECT * FROM NAMED WINDOW V ON S [ELEMENTS 1 STEP 2]"
        f" {_W} {{ {{ SELECT ?s {{ WINDOW W {{ ?s ?p ?o WINDOW V {{ ?a ?p ?b }} }} }} }}"
        " FILTER NOT EXISTS { GRAPH ?g { ?s ?p ?o WINDOW V { ?s ?p ?o } } } }"
    )
    as_graph = re.sub(r"FROM NAMED WINDOW \w ON S \[.*?\]", "", text)
    as_graph = re.sub(r"WINDOW (\w)", r"GRAPH <urn:weir:window:\1>", as_graph)
    query = translate(text)
    assert query.form == translate(as_graph).form
    assert [window.content for window in query.windows] == [
        CountWindow(1, 2),
        TimeWindow(10 * _MINUTE),
    ]


def test_a_block_in_a_window_may_name_graphs_of_the_remote() -> None:
    query = translate(
        f"SELECT * {_W} {{ WINDOW W {{ ?s ?p ?o SERVICE <u:r> {{ GRAPH ?g {{ ?o ?q ?z }} }} }} }}"
    )
    assert [node.service.block for node in query.asked] == ["GRAPH ?g { ?o ?q ?z }"]


def test_what_only_presents_the_answer_is_shown_as_it_is_written() -> None:
    query = translate(f"SELECT * {_W} {_READ} ORDER BY EXISTS {{ WINDOW  W {{ ?s ?p 1 }} }}")
    assert query.presentation == ("ORDER BY EXISTS { WINDOW W { ?s ?p 1 } }",)


_UNSUPPORTED = [
    (f"SELECT * {_W}\n{{ WINDOW ?w {{ ?s ?p ?o }} }}", 2, 3, "WINDOW ?w"),
    (f"SELECT *\n{_W}\n{{ ?s ?p ?o }}", 2, 19, "W"),
    (
        f"SELECT * {_W} {{ WINDOW W {{ ?s ?p ?o }}\nGRAPH <urn:weir:window:W> {{ }} }}",
        2,
        1,
        "GRAPH",
    ),
    (f"SELECT * {_W} {{ WINDOW W {{\n{{ GRAPH ?g {{ ?s ?p ?o }} }} }} }}", 2, 3, "GRAPH"),
    (f"ASK RSTREAM {_W} {_READ}", 1, 5, "RSTREAM"),
    (f"REGISTER ISTREAM o AS ASK {_W} {_READ}", 1, 10, "ISTREAM"),
    (f"REGISTER RSTREAM o AS\nSELECT Istream * {_W} {_READ}", 2, 8, "Istream"),
    (f"REGISTER STREAM o AS DESCRIBE <u:x> {_W} {_READ}", 1, 22, "DESCRIBE"),
    (f"DESCRIBE RSTREAM <u:x> {_W} {_READ}", 1, 1, "DESCRIBE"),
    ("SELECT RSTREAM * { ?s ?p ?o }", 1, 8, "RSTREAM"),
    ("PREFIX : <u:>\nREGISTER STREAM o AS SELECT * { ?s ?p ?o }", 2, 1, "REGISTER"),
    ("ASK FROM NAMED WINDOW W ON S\n[RANGE P1M] {}", 2, 8, "P1M"),
    ("ASK FROM NAMED WINDOW W ON S [RANGE P30D\nSTEP P1Y2M] {}", 2, 6, "P1Y2M"),
    ("ASK FROM NAMED WINDOW <W> ON S [RANGE 1d] {}", 1, 23, "<W>"),
    (f"SELECT * {_W} {_READ[:-1]}\nFILTER(?o < NOW()) }}", 2, 13, "NOW()"),
    (f"SELECT * {_W} {_READ[:-1]}\nSERVICE ?x {{ }} }}", 2, 1, "SERVICE"),
    (
        f"SELECT * {_W} {_READ[:-1]}\nSERVICE SILENT <u:r> {{ {{ WINDOW W {{}} }} }} }}",
        2,
        26,
        "WINDOW W",
    ),
]


@pytest.mark.parametrize(("text", "line", "column", "construct"), _UNSUPPORTED)
def test_what_means_nothing_to_weir_is_refused_at_its_place(
    text: str, line: int, column: int, construct: str
) -> None:
    error = _error(text)
    assert isinstance(error, UnsupportedQuery)
    assert (error.line, error.column) == (line, column)
    assert error.construct.startswith(construct)
    assert error.hint


_MALFORMED = [
    ("SELECT * FROM NAMED WINDOW W ON S [RANGE 1x] {}", 1, 42, "1x"),
    ("SELECT * FROM NAMED WINDOW W ON S [RANGE PT10] {}", 1, 42, "PT10"),
    ("SELECT * FROM NAMED WINDOW W ON S [RANGE -PT1S] {}", 1, 42, "-PT1S"),
    ("SELECT * FROM NAMED WINDOW W ON S [RANGE 10 m] {}", 1, 42, "10"),
    ("SELECT * FROM NAMED WINDOW W ON S [RANGE 0s] {}", 1, 42, "0s"),
    ("SELECT * FROM NAMED WINDOW W ON S [RANGE PT0S] {}", 1, 42, "PT0S"),
    ("SELECT * FROM NAMED WINDOW W ON S [RANGE 0] {}", 1, 42, "0"),
    ("SELECT * FROM NAMED WINDOW W ON S [RANGE 1s STEP 0ms] {}", 1, 50, "0ms"),
    ("SELECT * FROM NAMED WINDOW W ON S [RANGE 1s STEP 0] {}", 1, 50, "0"),
    ("SELECT * FROM NAMED WINDOW W ON S [RANGE] {}", 1, 41, "]"),
    ("SELECT * FROM NAMED WINDOW W ON S [RANGE 1s SLIDE 1s] {}", 1, 45, "SLIDE"),
    ("SELECT * FROM NAMED WINDOW W ON S [ELEMENTS 0] {}", 1, 45, "0"),
    ("SELECT * FROM NAMED WINDOW W ON S [ELEMENTS 1.5] {}", 1, 45, "1.5"),
    ("SELECT * FROM NAMED WINDOW W ON S [ELEMENTS 9999999999] {}", 1, 45, "9999999999"),
    ("SELECT * FROM NAMED WINDOW W ON S [ELEMENTS 5 STEP 0] {}", 1, 52, "0"),
    ("SELECT * FROM NAMED WINDOW W ON S [ELEMENTS 5s] {}", 1, 46, "s"),
    ("SELECT * FROM NAMED WINDOW W ON S [TRIPLES 5] {}", 1, 36, "TRIPLES"),
    ("SELECT * FROM NAMED WINDOW W ON S {}", 1, 35, "{"),
    ("SELECT * FROM NAMED WINDOW W [RANGE 1s] {}", 1, 30, "["),
    ("SELECT * FROM NAMED WINDOW ?w ON S [RANGE 1s] {}", 1, 28, "?w"),
    ("SELECT * FROM NAMED WINDOW W ON ?s [RANGE 1s] {}", 1, 33, "?s"),
    ("SELECT * FROM NAMED WINDOW", 1, 21, "WINDOW"),
    ("SELECT * FROM NAMED WINDOW e:W ON S [RANGE 1s] {}", 1, 28, "e:W"),
    (f"SELECT * {_W}\nFROM NAMED WINDOW <urn:weir:window:W> ON S [ELEMENTS 1] {_READ}", 2, 19, "<"),
    (f"SELECT * {{ {{ SELECT *\n{_W} {_READ} }} }}", 2, 1, "FROM NAMED WINDOW"),
    (f"SELECT * {_READ}\n{_W}", 2, 1, "FROM NAMED WINDOW"),
    (f"SELECT * {_READ}\n{_W} LIMIT 1", 2, 1, "FROM NAMED WINDOW"),
    (f"SELECT * {_W} {{ WINDOW W {{ ?s ?p ?o }}\nWINDOW V {{ ?s ?p ?o }} }}", 2, 8, "V"),
    (f"SELECT * {_W} {{ WINDOW w {{ ?s ?p ?o }} }}", 1, 56, "w"),
    ("SELECT * { WINDOW <u:w> { ?s ?p ?o } }", 1, 19, "<u:w>"),
    (f"SELECT * {_W} {{ WINDOW {{ ?s ?p ?o }} }}", 1, 49, "WINDOW"),
    (f"SELECT * {_W} {{ WINDOW W\n?s ?p ?o }}", 1, 49, "WINDOW"),
    (f"SELECT * {_W} WINDOW W {{ ?s ?p ?o }}", 1, 10, "FROM NAMED WINDOW"),
    (f"SELECT * {_W} {_READ}\nWINDOW W {{ ?s ?p ?o }}", 2, 1, "WINDOW"),
    (f"SELECT * FROM WINDOW W ON S [RANGE 10m] {_READ}", 1, 15, "WINDOW"),
    (f"CONSTRUCT {{ WINDOW W {{ ?s ?p ?o }} }} {_W} {_READ}", 1, 13, "WINDOW"),
    (f"SELECT * {_W} {{ WINDOW W {{ ?s ?p }} }}", 1, 49, "WINDOW"),
    (f"SELECT * {_W} {_READ[:-1]}\nWINDOW W {{ ?s ?p ?o }} ?x }}", 2, 23, "?x"),
    (f"SELECT * {_W} {_READ[:-1]}\n?s e:p 1 }}", 2, 4, "e:p"),
    (f"REGISTER QUERY q AS SELECT * {_W} {_READ}", 1, 1, "REGISTER"),
    (f"REGISTER STREAM AS SELECT * {_W} {_READ}", 1, 1, "REGISTER"),
    (f"REGISTER STREAM o SELECT * {_W} {_READ}", 1, 1, "REGISTER"),
    ("REGISTER", 1, 1, "REGISTER"),
    ("REGISTER STREAM o AS", 1, 1, "query"),
    (f"SELECT * {_W} {_READ} REGISTER STREAM o AS", 1, 73, "REGISTER"),
    (f"SELECT DISTINCT RSTREAM * {_W} {_READ}", 1, 17, "RSTREAM"),
    (f"SELECT RSTREAM * {_W} {{ WINDOW W {{ SELECT RSTREAM * {{ }} }} }}", 1, 75, "RSTREAM"),
    (f"REGISTER STREAM e:o AS SELECT * {_W} {_READ}", 1, 17, "e:o"),
]


@pytest.mark.parametrize(("text", "line", "column", "construct"), _MALFORMED)
def test_malformed_stream_syntax_is_an_error_at_its_place(
    text: str, line: int, column: int, construct: str
) -> None:
    error = _error(text)
    assert (error.line, error.column) == (line, column)
    assert error.construct.startswith(construct)
    assert isinstance(error, QuerySyntaxError)


@st.composite
def _spelled_durations(draw: st.DrawFn) -> tuple[str, int]:
    """A duration as it may be written, and its microseconds."""
    units = {"ms": 1_000, "s": 1_000_000, "m": _MINUTE, "h": 60 * _MINUTE, "d": 1_440 * _MINUTE}
    number, unit = draw(st.integers(1, 500)), draw(st.sampled_from(sorted(units)))
    spellings = [f"{number}{unit}"]
    if unit != "ms":
        date, time = ("", "T") if unit != "d" else ("", "")
        spellings.append(f"P{date}{time}{number}{unit.upper()}")
    else:
        spellings.append(f"PT{number // 1_000}.{number % 1_000:03d}S")
    return draw(st.sampled_from(spellings)), number * units[unit]


@st.composite
def _spelled_windows(draw: st.DrawFn) -> tuple[str, TimeWindow | CountWindow]:
    """The brackets of a window as they may be written, and what they mean."""
    has_step = draw(st.booleans())
    if draw(st.booleans()):
        size, step = draw(st.integers(1, 10**9)), draw(st.integers(1, 10**9))
        words = ["ELEMENTS", f"{size:0{draw(st.integers(1, 12))}d}"]
        words += ["STEP", str(step)] if has_step else []
        content: TimeWindow | CountWindow = CountWindow(size, step if has_step else None)
    else:
        (size_text, size), (step_text, step) = (
            draw(_spelled_durations()),
            draw(_spelled_durations()),
        )
        words = ["RANGE", size_text] + (["STEP", step_text] if has_step else [])
        content = TimeWindow(size, step if has_step else None)
    # Keywords in any case; durations keep theirs.
    words[::2] = [draw(st.sampled_from([w, w.lower(), w.title()])) for w in words[::2]]
    gaps = [draw(st.sampled_from([" ", "\n", "\t ", " # ]\n"])) for _ in words]
    inside = "".join(word + gap for word, gap in zip(words, gaps, strict=True))
    return f"[{draw(st.sampled_from(['', ' ', chr(10)]))}{inside}]", content


@given(windows=st.lists(_spelled_windows(), min_size=1, max_size=4))
def test_random_clauses_of_windows_are_read_as_they_are_written(
    windows: list[tuple[str, TimeWindow | CountWindow]],
) -> None:
    clauses = "".join(
        f" FROM NAMED WINDOW w{i} ON s{i} {text}\n" for i, (text, _) in enumerate(windows)
    )
    groups = "".join(f"WINDOW w{i} {{ ?s ?p {i} }} " for i in range(len(windows)))
    query = translate(f"SELECT *{clauses}WHERE {{ {groups}}}")
    assert query.windows == tuple(
        WindowClause(f"<urn:weir:window:w{i}>", f"<urn:weir:stream:s{i}>", content)
        for i, (_, content) in enumerate(windows)
    )


def _error(text: str) -> QueryError:
    with pytest.raises(QueryError) as caught:
        translate(text)
    return caught.value
