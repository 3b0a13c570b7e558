"""Sources that are folders of files: which files count, and which change sets are new."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Self

from pydantic import Field, PrivateAttr, field_validator

from weir.errors import ConfigurationError
from weir.ingest import clock
from weir.ingest.changesets import ChangeSet, Document
from weir.ingest.sources.errors import SourceError, refused_link
from weir.ingest.sources.source import Source
from weir.ingest.sources.stream import Stream
from weir.rdf.compression import ENDINGS, ArchiveError
from weir.rdf.files import FORMATS, FileInfo, format_in, list_files
from weir.rdf.records import Format


class FileSource(Source):
    """A source that is a folder of files."""

    glob: str = Field("*", description="names that count, relative to the folder; * also matches /")
    settle: float = Field(
        0,
        ge=0,
        description="files that were written less than so many seconds ago wait for a later run; a"
        " file that grows while it is read waits in any case",
    )

    _store: Mapping[str, str] = PrivateAttr(default_factory=dict)

    def in_store(self, options: Mapping[str, str]) -> Self:
        """The source with the options of the object store, if its location is in one."""
        copy = self.model_copy()
        copy._store = options
        return copy

    @field_validator("stream")
    @classmethod
    def _has_no_columns(cls, stream: Stream | None) -> Stream | None:
        if stream is not None and stream.time == "column":
            raise ValueError("files have no columns: `time: column` is for the kind delta")
        return stream

    def unsettled(self, documents: Sequence[Document]) -> str | None:
        """Why documents are not read yet; None if they are."""
        for document in documents:
            if self.settle and document.modified is not None:
                age = (clock.now() - document.modified).total_seconds()
                if age < self.settle:
                    return (
                        f"{document.request.file} was written at"
                        f" {document.modified:%Y-%m-%d %H:%M:%S} UTC (settle: {self.settle:g})"
                    )
        return None


def rdf_files(
    source: FileSource, location: str, glob: str = "*", format_: Format | None = None
) -> list[tuple[FileInfo, Format]]:
    """The RDF files at `location` whose names match `glob`, in the order of their names.

    Args:
        source: whose files they are, for errors.
        location: folder, file or URI.
        glob: pattern of names relative to `location`.
        format_: of all files; else each has the one of its name, and files of no format are left
            out.

    Raises:
        ConfigurationError: the location does not exist, or none of the files has a known format.
        SourceError: a link to a folder is not followed, or a zip cannot be opened.
    """
    try:
        files = list_files(location, source._store)
    except FileNotFoundError:
        raise ConfigurationError(
            f"source {source.name}: its location does not exist",
            location,
            "Correct `location` in sources.yml, or create the file or folder.",
        ) from None
    except NotADirectoryError:
        raise ConfigurationError(
            f"source {source.name}: it is neither a file nor a folder", location
        ) from None
    for file in files:
        # What a folder would have cannot be known.
        if file.refused is not None and file.is_folder:
            raise refused_link(source, file.path, file.refused)
    named = [file for file in files if fnmatchcase(file.name, glob)]
    matching = [file for file in named if file.no_file is None]
    formats = {file.name: _format_in(source, file, format_) for file in matching}
    known = [(file, one) for file in matching if (one := formats[file.name][0]) is not None]
    read = {file.name for file, _ in known}
    source.leave_unread(
        location,
        (
            (file.name, file.no_file or formats[file.name][1])
            for file in named
            if file.name not in read
        ),
    )
    if matching and not known:
        example = matching[0].name
        raise ConfigurationError(
            f"source {source.name}: none of {len(matching)} files has a name with a known ending,"
            f" for example {example} ({formats[example][1]})",
            location,
            f"Name them {', '.join(f'.{ending}' for ending in FORMATS)}, compressed or not"
            f" ({', '.join(ENDINGS)}).",
        )
    return known


def _format_in(
    source: FileSource, file: FileInfo, declared: Format | None
) -> tuple[Format | None, str]:
    try:
        return format_in(file, declared, source._store)
    except (ArchiveError, OSError) as error:
        # What is in it, and whether it belongs to the source, cannot be known.
        raise SourceError(
            f"source {source.name}: {error}",
            file.path,
            "Complete or remove it; a zip file named x.ttl.zip is not opened to know its format.",
        ) from None


def new_change_sets(
    change_sets: list[ChangeSet], ingested: Collection[str], order: Callable[[str], Any]
) -> list[ChangeSet]:
    """The change sets whose positions are not `ingested`.

    Args:
        change_sets: in order.
        ingested: positions of files that are ingested.
        order: sort key of positions.

    Raises:
        SourceError: a new change set comes before one that is ingested, and is not of a stream.
    """
    new = [change_set for change_set in change_sets if change_set.position not in ingested]
    newest = max(map(order, ingested), default=None)
    late = [
        change_set
        for change_set in new
        if newest is not None and order(change_set.position) < newest
    ]
    # Events may arrive in any order.
    if late and late[0].source.stream is None:
        raise SourceError(
            f"{late[0].position} appeared after later change sets had been ingested",
            late[0].source.location,
            "Rename it so that it comes last, or remove it.",
        )
    return new


_DIGITS = re.compile(r"(\d+)")


def natural_order(name: str) -> tuple[tuple[int, int | str], ...]:
    """A sort key by which `v9` comes before `v10`."""
    return tuple(
        (0, int(part)) if part.isdigit() else (1, part) for part in _DIGITS.split(name) if part
    )
