"""The answer of a definition over data that is given, in a lake of this process, without Spark."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import write_deltalake

from weir.definitions.definition import Definition
from weir.definitions.kinds import KINDS
from weir.errors import ConfigurationError, WeirError
from weir.ingest.stage import ingest_changes
from weir.lake.lake import Lake
from weir.lake.scratch import scratch_folder
from weir.lake.tables import EMBEDDINGS, REJECTED
from weir.lake.whole_files import write_whole
from weir.plan.plan import ANSWER
from weir.project import Project
from weir.review.computed import computed
from weir.review.given_documents import Documents, seed_queries, traversal_declarations
from weir.review.given_remotes import declarations, maintain_with_remotes
from weir.stage import silent
from weir.timeline.axis import Instants
from weir.traversals.declarations import load_traversals

_DRIVER_ROWS = 1_000_000
_LAST = "<urn:weir:given:last>"
_FORMATS = "The ending of its name says what it is: .ttl, .nt, .nq, .trig, .rdf, .jsonld."


@dataclass(frozen=True, slots=True)
class Given:
    """What a definition reads.

    Attributes:
        quads: the graph, in N-Quads.
        events: by stream: subject, predicate, object in N-Triples form, time in microseconds.
        at: the instant of the answer, in microseconds; None for what reads no stream.
        remotes: by IRI what each remote has, in N-Quads.
        documents: of the traversals, each with what it has.
    """

    quads: str
    events: Mapping[str, pa.Table] = field(default_factory=dict)
    at: int | None = None
    remotes: Mapping[str, str] = field(default_factory=dict)
    documents: Documents = field(default_factory=dict)

    @property
    def is_more(self) -> bool:
        """Whether there is anything beside the graph."""
        return bool(self.events or self.remotes or self.documents) or self.at is not None


def answer_over(project: Project, definitions: Sequence[Definition], given: Given) -> pa.Table:
    """The answer of the last definition, which may read the others: its columns, and `weight`.

    Raises:
        WeirError: it exceeds a limit, or cannot be computed.
    """
    with folder_of_data() as folder:
        file = folder / "given.nq"
        write_whole(file, given.quads)
        sources = [_graph(file, 0, folder)]
        for name, events in given.events.items():
            assert given.at is not None, "events have an instant at which they are looked at"
            sources.append(_stream(name, events, _later(definitions, given.at), folder))
        data = Data((file,), sources, given)
        return _answer(project, definitions, data, folder)


def answer_over_files(project: Project, definition: Definition, files: Sequence[Path]) -> pa.Table:
    """The answer over the merge of some files: its columns, and `weight`.

    Raises:
        ConfigurationError: a file, or a line of it, cannot be read.
        WeirError: the answer exceeds a limit, or cannot be computed.
    """
    with folder_of_data() as folder:
        sources = [_graph(file, number, folder) for number, file in enumerate(files)]
        return _answer(project, [definition], Data(files, sources, Given("")), folder)


@dataclass(frozen=True, slots=True)
class Data:
    """The files of the graph, the sources that have them and the events, and what is given."""

    files: Sequence[Path]
    sources: Sequence[Mapping[str, Any]]
    given: Given

    @property
    def asks(self) -> bool:
        """Whether remotes are asked, or links followed."""
        return bool(self.given.remotes or self.given.documents)


def _graph(file: Path, number: int, folder: Path) -> Mapping[str, Any]:
    """The source of a file."""
    versions = folder / f"given{number}"
    versions.mkdir()
    shutil.copy(file, versions / file.name)
    # A graph belongs to one source.
    graph = {"graph": f"urn:weir:given:{number}"} if number else {}
    source = {"name": f"given{number}", "kind": "snapshots", "location": str(versions)}
    return source | graph


def _stream(name: str, events: pa.Table, later: int, folder: Path) -> Mapping[str, Any]:
    """The source of events, and of one so much later that the answer before it is final."""
    last = [{"subject": _LAST, "predicate": _LAST, "object": _LAST, "time": later}]
    location = folder / f"events {name}"
    everything = pa.concat_tables([events, pa.Table.from_pylist(last, events.schema)])
    write_deltalake(location, everything, configuration={"delta.enableChangeDataFeed": "true"})
    return {
        "name": name,
        "kind": "delta",
        "location": str(location),
        "columns": {"time": "time"},
        "stream": {"time": "column", "ahead": "P3650000D"},
    }


def _later(definitions: Sequence[Definition], at: int) -> int:
    """When all that is evaluated at an instant is final."""
    axes = (one.axis for one in definitions)
    grids = [axis.points for axis in axes if isinstance(axis, Instants) and axis.points]
    return max((grid.begin(at) + 2 * grid.unit for grid in grids), default=at + 1)


@contextmanager
def folder_of_data() -> Iterator[Path]:
    """A folder for what is given, which is deleted at the end."""
    folder = Path(tempfile.mkdtemp(dir=scratch_folder()))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _answer(
    project: Project, definitions: Sequence[Definition], data: Data, folder: Path
) -> pa.Table:
    *_, asked = definitions
    given = data.given
    with ingested(project, definitions, data, folder) as own:
        if data.asks:
            seeds = seed_queries(load_traversals(own.settings.traversals), given.documents)
            maintain_with_remotes(own, asked.name, seeds, given.remotes, given.documents)
            return rows_of(own.lake, asked, given.at)
        with computed(own, definitions, silent) as rows:
            for one in definitions:
                if one.name in rows.errors:
                    raise WeirError(rows.errors[one.name], str(one.file))
            return rows_of(rows.lake, asked, given.at)


@contextmanager
def ingested(
    project: Project, definitions: Sequence[Definition], data: Data, folder: Path
) -> Iterator[Project]:
    """A project with the data; a parser of its own would take longer to start than the rest."""
    settings = project.settings
    # JSON is YAML.
    write_whole(folder / "sources.yml", json.dumps({"sources": data.sources}))
    places: dict[str, Any] = {
        "lake": str(folder / "lake"),
        "sources": folder / "sources.yml",
        "store": {},
    }
    if data.asks:
        # What the project has beside them is not computed, and need not be right.
        places |= _files_of(definitions, folder)
        declared = load_traversals(settings.traversals)
        named = traversal_declarations(declared[name] for name in data.given.documents)
        asked: dict[str, Any] = {"remotes": {"remotes": declarations(data.given.remotes)}}
        for name, content in {**asked, "traversals": named}.items():
            places[name] = folder / f"{name}.yml"
            write_whole(folder / f"{name}.yml", json.dumps(content))
    limits = settings.limits.model_copy(update={"driver_rows": _DRIVER_ROWS})
    given = settings.model_copy(update={**places, "limits": limits, "index": "off"})
    with Project(given, session=_no_spark, parser=project.parser) as own:
        result = ingest_changes(own, "given")
        rejected = (
            own.lake.rows(REJECTED.name).to_pylist() if own.lake.exists(REJECTED.name) else []
        )
        for file, read in zip(data.files, result.sources, strict=False):
            lines = [row for row in rejected if row["source"] == read.name and row["line"]]
            if lines:
                first = min(lines, key=lambda row: row["line"])
                where = f"{file}:{first['line']}"
                raise ConfigurationError(first["reason"], where, "Correct the line.")
            if read.error is not None:
                what = read.error.what.removeprefix(f"source {read.name}: ")
                raise ConfigurationError(what, str(file), _FORMATS)
        yield own


def _files_of(definitions: Sequence[Definition], folder: Path) -> dict[str, Path]:
    """Folders that have the files of some definitions alone, by their setting."""
    places: dict[str, Path] = {kind.folder: folder / kind.folder for kind in KINDS}
    for place in places.values():
        place.mkdir()
    for one in definitions:
        write_whole(places[one.kind.folder] / one.file.name, one.text)
    return places


def _no_spark() -> NoReturn:
    raise WeirError(
        "this needs Spark", "", "It is for data that one process holds: give less, or use a lake."
    )


def rows_of(
    lake: Lake, definition: Definition, at: int | None = None, epoch: int | None = None
) -> pa.Table:
    """The answer of a definition that was computed: its columns, and `weight`.

    Args:
        lake: has its rows.
        definition: which.
        at: the instant, in microseconds; None for what reads no stream.
        epoch: the epoch; None for the newest.
    """
    stored = lake.existing(EMBEDDINGS.name(definition.name)).to_pyarrow_dataset()
    own = [column for _, column in definition.columns]
    of_answer = pc.field("node") == ANSWER
    if at is not None:
        of_answer &= pc.field("instant") <= at
    if epoch is not None:
        of_answer &= pc.field("epoch") <= epoch
    log = stored.to_table([*own, "weight"], filter=of_answer)
    net = log.group_by(own).aggregate([("weight", "sum")])
    net = net.filter(pc.field("weight_sum") != 0).select([*own, "weight_sum"])
    return net.rename_columns([*(name for name, _ in definition.columns), "weight"])
