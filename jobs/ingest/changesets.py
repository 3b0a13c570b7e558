"""What each source has to offer after its own position: change sets, in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any, Literal, assert_never

from deltalake import DeltaTable as StoredTable
from deltalake.exceptions import DeltaError, TableNotFoundError
from deltalake.schema import PrimitiveType
from pyarrow.lib import ArrowException

from jobs.errors import ConfigurationError, WeirError
from jobs.ingest.sources.declared import DeltaTable, Patches, Snapshots, Source, natural_order
from jobs.rdf.files import format_of, list_files
from jobs.rdf.records import Format

BASE = "base"
"""Position of the file that holds the graph before the first patch."""

Kind = Literal["patch", "snapshot", "content", "commit"]
"""Changes in a file; a whole state in files; a foreign table's whole content; a commit of it."""


_OUTSIDE: tuple[type[Exception], ...] = (OSError, ValueError, ArrowException, DeltaError)
"""What goes wrong with files, with what is in them and with tables."""
_SAID = 500
"""Characters of another program's message that are told."""


class SourceError(WeirError):
    """A source cannot go on; the others do."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file of a change set; `name` stays the same from version to version."""

    path: str
    name: str
    size: int
    format: Format


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """What will be one epoch.

    `position` is what `transactions` remembers of it. `version` and `table_id` are the foreign
    table's, or -1 and None.
    """

    source: Source
    kind: Kind
    position: str
    documents: tuple[Document, ...] = ()
    version: int = -1
    table_id: str | None = None
    event_time: datetime | None = None


@dataclass(frozen=True, slots=True)
class Consumed:
    """What `transactions` knows of a source: its positions, and the id with the last of them."""

    positions: tuple[str, ...] = ()
    last_id: str | None = None

    @property
    def last(self) -> str | None:
        """The newest position."""
        return self.positions[-1] if self.positions else None


@contextmanager
def errors_of(source: Source, *kinds: type[Exception]) -> Iterator[None]:
    """Around what looks at one source: whatever goes wrong there is that source's error alone.

    Args:
        source: which is looked at.
        kinds: errors beside those of files, of what is in them and of tables.

    Raises:
        WeirError: as it was raised inside; a SourceError for any other error of these kinds.
    """
    try:
        yield
    except WeirError:
        raise
    except (*_OUTSIDE, *kinds) as error:
        # Without the stack of the JVM.
        said = " ".join(str(error).partition("\n\tat ")[0].split())
        raise SourceError(
            f"source {source.name}: {said[:_SAID] or type(error).__name__}",
            source.location,
            "Look whether it is there, readable and as sources.yml says; the next run tries again.",
        ) from error


def pending(
    source: Source, consumed: Consumed, storage_options: Mapping[str, str] | None = None
) -> list[ChangeSet]:
    """The change sets of `source` that come after `consumed`, in order.

    Raises:
        ConfigurationError: the location is not there, or holds nothing of the declared kind.
        SourceError: a change set turned up before one that is already in, or the location cannot
            be read.
    """
    with errors_of(source):
        match source:
            case Patches():
                return _patches(source, consumed)
            case Snapshots():
                return _snapshots(source, consumed)
            case DeltaTable():
                return _commits(source, consumed, storage_options)
            case _:
                assert_never(source)


def newest_content(
    source: DeltaTable, storage_options: Mapping[str, str] | None = None
) -> ChangeSet:
    """The whole content that a foreign table has now, for where its feed has a gap.

    Raises:
        ConfigurationError, SourceError: as `pending` does.
    """
    table = _table(source, storage_options)
    return _change_sets_of(source, table)("content", table.version())


def is_overtaken(change_set: ChangeSet, consumed: Consumed) -> bool:
    """Whether the content of a later version of the foreign table has been taken in instead."""
    last = consumed.last
    return change_set.kind == "commit" and last is not None and change_set.version <= int(last)


def versions_before(source: Snapshots, position: str) -> list[tuple[Document, ...]]:
    """The documents of the versions up to `position` that are still there, newest first."""
    upto = natural_order(position)
    known = [files for name, files in _versions(source) if natural_order(name) <= upto]
    return known[::-1]


def _patches(source: Patches, consumed: Consumed) -> list[ChangeSet]:
    found = [
        ChangeSet(source, "patch", name, (document,))
        for name, document in _documents(source.location, source.glob, source.name)
        if document.format == "rdf-patch"
    ]
    new = _after(found, consumed, lambda name: name)
    if source.base is not None and consumed.last is None:
        return [ChangeSet(source, "patch", BASE, (_base(source.name, source.base),)), *new]
    return new


def _base(source: str, location: str) -> Document:
    for _, document in _documents(location, "*", source):
        # A file is listed as itself.
        if document.path == location:
            return document
    raise ConfigurationError(
        f"source {source}: its base is a folder, not a file",
        location,
        "Name one file that holds the graph before the first patch (`base:` in sources.yml).",
    )


def _snapshots(source: Snapshots, consumed: Consumed) -> list[ChangeSet]:
    found = [ChangeSet(source, "snapshot", name, files) for name, files in _versions(source)]
    return _after(found, consumed, natural_order)


def _after(
    found: list[ChangeSet], consumed: Consumed, order: Callable[[str], Any]
) -> list[ChangeSet]:
    """Those of `found` that are not consumed.

    Raises:
        SourceError: one of them belongs before a change set that is in already.
    """
    seen = {*consumed.positions} - {BASE}
    new = [each for each in found if each.position not in seen]
    late = [each for each in new if seen and order(each.position) < max(map(order, seen))]
    if late:
        raise SourceError(
            f"{late[0].position} turned up after later change sets had been ingested",
            late[0].source.location,
            "Rename it so that it comes last, or take it away.",
        )
    return new


def _versions(source: Snapshots) -> list[tuple[str, tuple[Document, ...]]]:
    """The versions of a folder: its files, and its folders with all that is in them."""
    documents = _documents(source.location, source.glob, source.name, source.format)
    versions: dict[str, list[Document]] = {}
    for path, document in documents:
        version, _, inner = path.partition("/")
        # A version that is one file is the same document from version to version.
        versions.setdefault(version, []).append(replace(document, name=inner))
    ordered = sorted(versions, key=natural_order)
    return [(version, tuple(versions[version])) for version in ordered]


def _documents(
    location: str, glob: str, source: str, format_: Format | None = None
) -> list[tuple[str, Document]]:
    """The RDF files at `location` that `glob` takes, each with its relative path, by that path."""
    try:
        files = list_files(location)
    except FileNotFoundError:
        raise ConfigurationError(
            f"source {source}: nothing is there", location, "Correct sources.yml, or create it."
        ) from None
    taken = [file for file in files if fnmatchcase(file.name, glob)]
    found = [
        (file.name, Document(file.path, file.name, file.size, known))
        for file in taken
        if (known := format_ or format_of(file.name)) is not None
    ]
    if taken and not found:
        raise ConfigurationError(
            f"source {source}: none of {len(taken)} files has a name that tells its format,"
            f" {taken[0].name} for one",
            location,
            "Name them .nt, .nq, .ttl, .trig, .rdf, .jsonld or .rdfp (.gz or not).",
        )
    return found


def _commits(
    source: DeltaTable, consumed: Consumed, storage_options: Mapping[str, str] | None
) -> list[ChangeSet]:
    table = _table(source, storage_options)
    newest, at = table.version(), _change_sets_of(source, table)
    if consumed.last is not None:
        _refuse_another(source, table, consumed, consumed.last)
        return [at("commit", version) for version in range(int(consumed.last) + 1, newest + 1)]
    first = newest if source.starting_version is None else source.starting_version
    if first > newest:
        raise ConfigurationError(
            f"source {source.name}: starting_version {first} is not there yet,"
            f" the newest is {newest}",
            source.location,
            "Correct sources.yml.",
        )
    return [
        at("content", first),
        *(at("commit", version) for version in range(first + 1, newest + 1)),
    ]


def _refuse_another(source: DeltaTable, table: StoredTable, consumed: Consumed, last: str) -> None:
    """Refuse a table that is not the one of which version `last` was ingested.

    Raises:
        SourceError: it is another one.
    """
    newest = table.version()
    why = f"the table's newest version is {newest}"
    if last.isdecimal() and int(last) <= newest:
        # A table that was replaced within its history has another id from there on.
        if consumed.last_id is None or consumed.last_id == _table_id(table):
            return
        with suppress(DeltaError):
            table.load_as_version(int(last))
            if consumed.last_id == _table_id(table):
                return
        why = "the table there is a new one"
    raise SourceError(
        f"source {source.name}: {last} was ingested last, and {why}: it is not the same table",
        source.location,
        "Bring the table back, or declare the new one under another name.",
    )


def _table(source: DeltaTable, storage_options: Mapping[str, str] | None) -> StoredTable:
    """The table, if it is as declared."""
    try:
        table = StoredTable(source.location, storage_options=dict(storage_options or {}) or None)
    except TableNotFoundError:
        raise ConfigurationError(
            f"source {source.name}: there is no Delta table",
            source.location,
            "Correct sources.yml.",
        ) from None
    if table.metadata().configuration.get("delta.enableChangeDataFeed") != "true":
        raise ConfigurationError(
            f"source {source.name}: the table has no change feed",
            source.location,
            "Set its property delta.enableChangeDataFeed to true.",
        )
    types = {field.name.lower(): field.type for field in table.schema().fields}
    for name in source.columns.model_dump(exclude_none=True).values():
        if name.lower() not in types:
            raise ConfigurationError(
                f"source {source.name}: the table has no column {name}, but {', '.join(types)}",
                source.location,
                "Name the columns of the terms in sources.yml (`columns:`).",
            )
        if types[name.lower()] != PrimitiveType("string"):
            raise ConfigurationError(
                f"source {source.name}: the column {name} is not a string",
                source.location,
                "Columns hold terms in N-Triples form; a view or another table can give it.",
            )
    return table


def _change_sets_of(source: DeltaTable, table: StoredTable) -> Callable[[Kind, int], ChangeSet]:
    """What makes change sets of a foreign table's versions."""
    table_id = _table_id(table)
    times = {
        commit["version"]: datetime.fromtimestamp(commit["timestamp"] / 1000, UTC)
        for commit in table.history()
        if "version" in commit and "timestamp" in commit
    }

    def at(kind: Kind, version: int) -> ChangeSet:
        return ChangeSet(source, kind, str(version), (), version, table_id, times.get(version))

    return at


def _table_id(table: StoredTable) -> str:
    return str(table.metadata().id)
