"""The answer of a definition over data that is given, in a lake of this process, without Spark."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pyarrow as pa
import pyarrow.compute as pc

from weir.definitions.definition import Definition
from weir.errors import ConfigurationError, WeirError
from weir.ingest.stage import ingest_changes
from weir.lake.scratch import scratch_folder
from weir.lake.tables import EMBEDDINGS, REJECTED
from weir.lake.whole_files import write_whole
from weir.plan.plan import ANSWER
from weir.project import Project
from weir.review.computed import Computed, computed
from weir.stage import silent

_DRIVER_ROWS = 1_000_000
_FORMATS = "The ending of its name says what it is: .ttl, .nt, .nq, .trig, .rdf, .jsonld."


def answer_over_quads(project: Project, definition: Definition, quads: str) -> pa.Table:
    """The answer over some quads, in N-Quads: its columns, and `weight`.

    Raises:
        WeirError: it exceeds a limit, or cannot be computed.
    """
    with _folder() as folder:
        file = folder / "given.nq"
        write_whole(file, quads)
        return _answer(project, definition, [file], folder)


def answer_over_files(project: Project, definition: Definition, files: Sequence[Path]) -> pa.Table:
    """The answer over the merge of some files: its columns, and `weight`.

    Raises:
        ConfigurationError: a file, or a line of it, cannot be read.
        WeirError: the answer exceeds a limit, or cannot be computed.
    """
    with _folder() as folder:
        return _answer(project, definition, files, folder)


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(dir=scratch_folder()))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _answer(
    project: Project, definition: Definition, files: Sequence[Path], folder: Path
) -> pa.Table:
    with (
        _ingested(project, files, folder) as own,
        computed(own, [definition], silent) as rows,
    ):
        if definition.name in rows.errors:
            raise WeirError(rows.errors[definition.name], str(definition.file))
        return _rows(rows, definition)


@contextmanager
def _ingested(project: Project, files: Sequence[Path], folder: Path) -> Iterator[Project]:
    """A project with the data; a parser of its own would take longer to start than the rest."""
    settings = project.settings
    sources = []
    for i, file in enumerate(files):
        versions = folder / f"given{i}"
        versions.mkdir()
        shutil.copy(file, versions / file.name)
        # A graph belongs to one source.
        graph = {"graph": f"urn:weir:given:{i}"} if i else {}
        source = {"name": f"given{i}", "kind": "snapshots", "location": str(versions)}
        sources.append(source | graph)
    # JSON is YAML.
    write_whole(folder / "sources.yml", json.dumps({"sources": sources}))
    places = {"lake": str(folder / "lake"), "sources": folder / "sources.yml", "store": {}}
    limits = settings.limits.model_copy(update={"driver_rows": _DRIVER_ROWS})
    given = settings.model_copy(update={**places, "limits": limits, "index": "off"})
    with Project(given, session=_no_spark, parser=project.parser) as own:
        result = ingest_changes(own, "given")
        rejected = (
            own.lake.rows(REJECTED.name).to_pylist() if own.lake.exists(REJECTED.name) else []
        )
        for file, read in zip(files, result.sources, strict=True):
            lines = [row for row in rejected if row["source"] == read.name and row["line"]]
            if lines:
                first = min(lines, key=lambda row: row["line"])
                where = f"{file}:{first['line']}"
                raise ConfigurationError(first["reason"], where, "Correct the line.")
            if read.error is not None:
                what = read.error.what.removeprefix(f"source {read.name}: ")
                raise ConfigurationError(what, str(file), _FORMATS)
        yield own


def _no_spark() -> NoReturn:
    raise WeirError(
        "this needs Spark", "", "It is for data that one process holds: give less, or use a lake."
    )


def _rows(rows: Computed, definition: Definition) -> pa.Table:
    stored = rows.lake.existing(EMBEDDINGS.name(definition.name)).to_pyarrow_dataset()
    own = [column for _, column in definition.columns]
    of_answer = stored.to_table([*own, "weight"], filter=pc.field("node") == ANSWER)
    net = of_answer.group_by(own).aggregate([("weight", "sum")])
    net = net.filter(pc.field("weight_sum") != 0).select([*own, "weight_sum"])
    return net.rename_columns([*(name for name, _ in definition.columns), "weight"])
