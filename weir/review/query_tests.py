"""Tests that a project writes: given triples, perhaps a change of them, the rows of an answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import pyoxigraph
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

from weir.checks.arguments import PlainArgument
from weir.checks.declared import no_column
from weir.checks.values import key_of, lexical_of, value_of
from weir.definitions.catalog import Catalog
from weir.definitions.checks import require_declared
from weir.definitions.definition import Definition
from weir.definitions.upstreams import all_upstreams_of, in_order_of_upstreams
from weir.errors import ConfigurationError
from weir.files.text import read_text
from weir.files.yaml_file import YamlFile, place_of_entry, yaml_files
from weir.ingest.undeclared import undeclared_traversal
from weir.lake.instants import microseconds
from weir.project import Project
from weir.review.given_data import Given, answer_over
from weir.review.given_epochs import NOTHING, Together, together
from weir.settings import Settings
from weir.text.near import meant
from weir.timeline.stream_names import all_streams_of
from weir.traversals.declarations import Traversal, load_traversals


def _triples(text: str) -> str:
    try:
        _quads(text)
    except SyntaxError as error:
        raise ValueError(f"it is no Turtle or TriG: {error.msg}") from None
    return text


_TERMS = dict.fromkeys(("subject", "predicate", "object"), pa.string())
_EVENTS = pa.schema(dict[str, pa.DataType](**_TERMS, time=pa.int64()))
Triples = Annotated[str, AfterValidator(_triples)]
Cells = dict[str, Annotated[PlainArgument | None, Field()]]


class _Change(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    add: Triples = ""
    remove: Triples = ""


class _Event(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    time: AwareDatetime
    triples: Triples


class _Test(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    given: Triples = ""
    events: dict[str, tuple[_Event, ...]] = {}
    at: AwareDatetime | None = None
    remotes: dict[str, Triples] = {}
    documents: dict[str, dict[str, str]] = {}
    expect: tuple[Cells, ...] | None = None
    change: _Change | None = None
    expect_after: tuple[Cells, ...] | None = None


class _TestFile(BaseModel):
    """A file of tests of a query."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    query: str
    tests: tuple[_Test, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Expected:
    """The rows that an answer is to have of a graph.

    Attributes:
        when: empty, or `after the change`.
        given: what is read.
        rows: values by column; columns that none of them names are not compared.
    """

    when: str
    given: Given
    rows: tuple[Mapping[str, Any], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are compared."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row))


@dataclass(frozen=True, slots=True)
class QueryTest:
    """A test of a query.

    place: file, line and column.
    """

    query: str
    name: str
    place: str
    expected: tuple[Expected, ...]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """How an answer differs from what was expected.

    Attributes:
        when: as of `Expected`.
        columns: that were compared.
        missing: rows that were expected, and are not there.
        unexpected: rows that are there, and were not expected.
    """

    when: str
    columns: tuple[str, ...]
    missing: tuple[tuple[Any, ...], ...]
    unexpected: tuple[tuple[Any, ...], ...]


def query_tests(settings: Settings, catalog: Catalog) -> list[QueryTest]:
    """The tests of a project, in the order of its files `tests/*.yml`.

    Raises:
        ConfigurationError: the first mistake in the first file that has one.
    """
    files = yaml_files(settings.tests)
    return [test for file in files for test in _read(file, settings, catalog)]


def _read(file: Path, settings: Settings, catalog: Catalog) -> Iterator[QueryTest]:
    yaml = YamlFile.of(file, read_text(file))
    said = yaml.validated(_TestFile)
    require_declared(said.query, catalog, yaml.place(["query"]))
    columns = [name for name, _ in catalog.member(said.query).columns]
    read = _computed(settings, catalog, said.query)
    streams, remotes = sorted(all_streams_of(read[-1].axis)), _remotes(read)
    traversals = _traversals(read)
    for i, test in enumerate(said.tests):
        for key, rows in (("expect", test.expect), ("expect_after", test.expect_after)):
            for j, row in enumerate(rows or ()):
                for name in row.keys() - {*columns}:
                    raise no_column(name, columns, yaml.place(["tests", i, key, j, name]))
        place = yaml.place(["tests", i])
        if (test.change is None) != (test.expect_after is None):
            what = "write both change and expect_after, or none of them"
            raise ConfigurationError(what, place)
        if test.expect is None and test.expect_after is None:
            raise ConfigurationError("nothing is expected: write expect", place)
        _check_events(test, streams, lambda *path, i=i: yaml.place(["tests", i, *path]))
        for iri in test.remotes.keys() - {*remotes}:
            what = f"no remote {iri} is read"
            hint = f"{meant(iri, remotes)}It reads {', '.join(remotes) or 'none'}."
            raise ConfigurationError(what, yaml.place(["tests", i, "remotes", iri]), hint)
        _check_documents(test, traversals, lambda *path, i=i: yaml.place(["tests", i, *path]))
        given = tuple(_expected(test, streams, remotes, traversals))
        yield QueryTest(said.query, test.name, place, given)


def _computed(settings: Settings, catalog: Catalog, name: str) -> list[Definition]:
    """A definition after all that has to be computed for it: those whose streams and graphs it
    reads, also through others, and those in whose answers its traversals begin.

    Raises:
        ConfigurationError: it names a traversal that is not declared, or one that names a query
            that is not.
    """
    declared = load_traversals(settings.traversals)
    computed: dict[str, Definition] = {}

    def add(name: str, *path: str) -> None:
        definition = catalog.member(name)
        upstreams = in_order_of_upstreams(map(catalog.member, all_upstreams_of(definition)))
        for one in (*upstreams, definition):
            if error := undeclared_traversal(one, declared):
                raise error
            for traversal in _traversals([one]):
                add_seeds(declared[traversal].traversal, (*path, name))
            computed.setdefault(one.name, one)

    def add_seeds(traversal: Traversal, path: tuple[str, ...]) -> None:
        query = traversal.seed_query
        if query is None or query in path:
            # What begins in an answer that depends on it is refused where links are followed.
            return
        require_declared(
            query, catalog, place_of_entry(settings.traversals, "traversals", traversal.name)
        )
        add(query, *path)

    add(name)
    asked = computed.pop(name)
    return [*computed.values(), asked]


def _traversals(definitions: Sequence[Definition]) -> tuple[str, ...]:
    """The traversals whose documents definitions read."""
    return tuple(sorted({named.name for one in definitions for named in one.traversals}))


def _remotes(definitions: Sequence[Definition]) -> tuple[str, ...]:
    """The IRIs of the remotes that definitions read."""
    blocks = (block for one in definitions for block in one.services.blocks)
    return tuple(sorted({block.remote.removeprefix("<").removesuffix(">") for block in blocks}))


def _check_events(test: _Test, streams: Collection[str], place: Callable[..., str]) -> None:
    """Check that a test has events of streams that are read, and an instant if there are such."""
    for name in test.events.keys() - {*streams}:
        what = f"no stream {name} is read"
        hint = f"{meant(name, streams)}It reads {', '.join(streams) or 'none'}."
        raise ConfigurationError(what, place("events", name), hint)
    if streams and test.at is None:
        hint = "Write at: 2026-01-01T00:00:00Z."
        raise ConfigurationError("it reads streams: write at which time", place(), hint)
    if not streams and test.at is not None:
        raise ConfigurationError("it reads no stream, and at is for those", place("at"))
    if streams and test.change is not None:
        hint = "Write another test with other events."
        raise ConfigurationError("change is for what reads a graph alone", place("change"), hint)


def _check_documents(test: _Test, traversals: Collection[str], place: Callable[..., str]) -> None:
    """Check that a test has documents of traversals that are read, and that these can be read."""
    for name, documents in test.documents.items():
        if name not in traversals:
            what = f"no traversal {name} is read"
            hint = f"{meant(name, traversals)}It reads {', '.join(traversals) or 'none'}."
            raise ConfigurationError(what, place("documents", name), hint)
        for iri, text in documents.items():
            if not iri.startswith(("http://", "https://")) or "#" in iri:
                hint = "Write the IRI of the document, such as https://alice.example/card."
                what = f"{iri} is no IRI of a document: http or https, without a fragment"
                raise ConfigurationError(what, place("documents", name, iri), hint)
            try:
                _quads(text, iri)
            except SyntaxError as error:
                what = f"{iri}: it is no Turtle or TriG: {error.msg}"
                raise ConfigurationError(what, place("documents", name, iri)) from None


def _expected(
    test: _Test, streams: Collection[str], remotes: Collection[str], traversals: Collection[str]
) -> Iterator[Expected]:
    quads = _quads(test.given)
    answering = {iri: _text(_quads(test.remotes.get(iri, ""))) for iri in remotes}
    documents = {name: test.documents.get(name, {}) for name in traversals}
    if test.expect is not None:
        events = {name: _rows_of(test.events.get(name, ())) for name in streams}
        at = None if test.at is None else microseconds(test.at)
        yield Expected("", Given(_text(quads), events, at, answering, documents), test.expect)
    if test.change is not None and test.expect_after is not None:
        after = (quads - _quads(test.change.remove)) | _quads(test.change.add)
        given = Given(_text(after), remotes=answering, documents=documents)
        yield Expected("after the change", given, test.expect_after)


def _rows_of(events: Sequence[_Event]) -> pa.Table:
    rows = [
        {
            "subject": str(quad.subject),
            "predicate": str(quad.predicate),
            "object": str(quad.object),
            "time": microseconds(event.time),
        }
        for event in events
        for quad in _quads(event.triples)
    ]
    return pa.Table.from_pylist(rows, _EVENTS)


def _quads(text: str, base: str | None = None) -> set[pyoxigraph.Quad]:
    return {*pyoxigraph.parse(text, pyoxigraph.RdfFormat.TRIG, base_iri=base)}


def _text(quads: Collection[pyoxigraph.Quad]) -> str:
    return "".join(sorted(f"{quad} .\n" for quad in quads))


@contextmanager
def computed_together(
    project: Project, catalog: Catalog, tests: Sequence[QueryTest]
) -> Iterator[Together]:
    """The answers of those tests that have a graph and nothing else, or of some of them."""
    of_graphs = [t for t in tests if not any(expected.given.is_more for expected in t.expected)]
    names = dict.fromkeys(test.query for test in of_graphs)
    needed = [one for name in names for one in _computed(project.settings, catalog, name)]
    definitions = [*{one.name: one for one in needed}.values()]
    graphs = [expected.given.quads for test in of_graphs for expected in test.expected]
    with together(project, definitions, graphs) as made:
        yield made


def mismatches(
    project: Project, catalog: Catalog, test: QueryTest, made: Together = NOTHING
) -> list[Mismatch]:
    """How the answers differ from what the test expects; nothing if it passes.

    They are computed by the driver, in a lake of this process, with the parser of the project.

    Args:
        project: whose settings and parser are used.
        catalog: the definitions.
        test: the test.
        made: answers that are computed already.

    Raises:
        WeirError: it exceeds a limit, or cannot be computed.
    """
    differing, definitions = list[Mismatch | None](), list[Definition]()
    for expected in test.expected:
        rows = made.answer(test.query, expected.given)
        if rows is None:
            definitions = definitions or _computed(project.settings, catalog, test.query)
            rows = answer_over(project, definitions, expected.given)
        differing.append(_mismatch(expected, rows))
    return [mismatch for mismatch in differing if mismatch is not None]


def _mismatch(expected: Expected, rows: pa.Table) -> Mismatch | None:
    columns = expected.columns or tuple(name for name in rows.column_names if name != "weight")
    computed_ = [
        tuple(row[name] for name in columns)
        for row in rows.sort_by([(name, "ascending") for name in columns]).to_pylist()
        for _ in range(row["weight"])
    ]
    missing = list[tuple[Any, ...]]()
    for row in expected.rows:
        cells = tuple(row.get(name) for name in columns)
        equal = next((own for own in computed_ if all(map(_is_equal, cells, own))), None)
        if equal is None:
            missing.append(cells)
        else:
            computed_.remove(equal)
    if not missing and not computed_:
        return None
    unexpected = tuple(tuple(map(_shown, row)) for row in computed_)
    return Mismatch(expected.when, columns, tuple(missing), unexpected)


def _is_equal(expected: Any, term: str | None) -> bool:
    """Whether a term is the expected one: by its value, or as N-Triples have it."""
    if expected is None or term is None:
        return expected is None and term is None
    value = value_of(term)
    return expected == term or (value is not None and key_of(expected) == key_of(value))


def _shown(term: str | None) -> Any:
    if term is None:
        return None
    value = value_of(term)
    return lexical_of(term) if value is None else value


def summary(results: Sequence[bool]) -> str:
    """How many tests passed and failed."""
    passed = sum(results)
    return f"{passed} passed, {len(results) - passed} failed."
