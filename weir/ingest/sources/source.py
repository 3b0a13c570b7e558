"""A source: the keys that all kinds share in `sources.yml`, and what ingest needs of a kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Self
from urllib.parse import urlparse

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationInfo,
    field_validator,
)

from weir.files.yaml_file import DeclaredName
from weir.ingest.sources.guards import ANYTHING, Guards, Tolerance
from weir.ingest.sources.stream import Stream
from weir.lake.counted import counted
from weir.rdf.terms import iri_term

if TYPE_CHECKING:
    from weir.ingest.changesets import AcceptedChangeSets, ChangeSet, SourcePosition
    from weir.ingest.reading import Reader, SourceReading
    from weir.project import Project

UNNAMED_GRAPH = "default"
"""`graph: default` puts quads without a graph into the unnamed graph."""


class Source(BaseModel, ABC):
    """A declared source.

    A kind of source is a subclass with the key `kind: Literal["<name>"]`, its own keys, `pending`
    and `read`, listed in `declared.AnySource`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    locations: ClassVar[tuple[str, ...]] = ("location",)
    """The keys that hold paths or URIs."""
    watched: ClassVar[str] = ""
    """The folder of a location whose files say that there is something new, if not all do."""
    unnumbered: ClassVar[tuple[str, ...]] = ()
    """Positions that do not follow from the one before."""
    names_deletions: ClassVar[bool] = False
    """Whether every quad that a change set deletes is written in it."""
    tolerates: ClassVar[Tolerance] = ANYTHING
    """`max_rejected` of a source of changes that does not say."""

    name: DeclaredName = Field(description="name, unique among the sources")
    location: str = Field(
        min_length=1, description="folder, file or URI; relative to the folder of sources.yml"
    )
    graph: str | None = Field(
        None,
        description="where quads without a graph go: an IRI, or `default` for the unnamed graph;"
        " without it a graph of the source's own, <urn:weir:graph:NAME>",
    )

    stream: Stream | None = Field(
        None,
        description="how events are dated, if the source gives events rather than changes of the"
        " graph; its keys are below",
    )
    allow_empty: bool | None = Field(
        None,
        description="whether a change set may leave nothing of a source that had quads; if not, the"
        " source stops at it. Without it: of patches, which name what they delete, yes; else no",
    )
    max_deleted_share: float | None = Field(
        None,
        ge=0,
        le=1,
        description="a change set that deletes a larger share of the quads of a source with more"
        " than 100 stops the source. Without it: of patches, which name what they delete, 1; else"
        " 0.5",
    )
    max_rejected: Annotated[Tolerance, BeforeValidator(Tolerance.of)] | None = Field(
        None,
        description="a change set with more rejected lines stops the source: a number or a share"
        " of its lines such as `1%`. Without it: of snapshots, where a line that is missing is a"
        " deletion, 0; of streams and other kinds `100%`",
    )

    _first_name: str | None = PrivateAttr(None)
    _as_declared: tuple[str, ...] = PrivateAttr(())
    _unread: dict[str, tuple[tuple[str, str], ...]] = PrivateAttr(default_factory=dict)

    @field_validator("*")
    @classmethod
    def _has_no_nul(cls, value: object) -> object:
        if isinstance(value, str) and "\0" in value:
            raise ValueError("it has the character U+0000")
        return value

    @field_validator("graph")
    @classmethod
    def _is_iri(cls, graph: str | None) -> str | None:
        return graph if graph in (None, UNNAMED_GRAPH) else iri_term(graph)

    @field_validator("allow_empty", "max_deleted_share")
    @classmethod
    def _is_of_changes(cls, value: float | None, info: ValidationInfo) -> float | None:
        if value is not None and info.data.get("stream") is not None:
            raise ValueError("a stream deletes nothing")
        return value

    @property
    def guards(self) -> Guards:
        """What a change set may do without being accepted by a person."""
        rejected = self.tolerates if self.stream is None else ANYTHING
        empty = self.names_deletions if self.allow_empty is None else self.allow_empty
        share = self.max_deleted_share
        if share is None:
            share = 1.0 if self.names_deletions else 0.5
        return Guards(empty, share, rejected if self.max_rejected is None else self.max_rejected)

    @property
    def is_chain(self) -> bool:
        """Whether each change set builds on all before it: it is no state, and no events."""
        return self.names_deletions and self.stream is None

    @property
    def reserved(self) -> str | None:
        """What the names of the reserved graphs begin with that it writes; None: of no one."""
        return None

    @property
    def traversal(self) -> str | None:
        """The traversal whose documents it has; their merge is a graph, too. None: of no one."""
        return None

    @property
    def first_name(self) -> str:
        """What it was called when it was first ingested: its graph and blank nodes have that."""
        return self._first_name or self.name

    def called_first(self, name: str | None) -> Self:
        """The source, if it was first ingested under another name; None if it was not."""
        if name is None:
            return self
        copy = self.model_copy()
        copy._first_name = name
        return copy

    def as_first_read(self, positions: Sequence[str]) -> Self:
        """The source as it was when the first of its change sets was read, to read them again."""
        del positions
        return self

    def leave_unread(self, location: str, files: Iterable[tuple[str, str]]) -> None:
        """Note the files at a location that are not read: name, and why."""
        self._unread = {**self._unread, location: tuple(files)}

    @property
    def unread(self) -> str | None:
        """How many files the newest look at its locations left unread, and why; None if none."""
        names: dict[str, list[str]] = {}
        for name, reason in chain.from_iterable(self._unread.values()):
            names.setdefault(reason, []).append(name)
        return _unread_text(names) if names else None

    @property
    def graph_term(self) -> str:
        """The graph of quads that name none, as `quads` holds it."""
        match self.graph:
            case None:
                return f"<urn:weir:graph:{self.first_name}>"
            case "default":
                return ""
            case term:
                return term

    @property
    def places(self) -> Sequence[tuple[str, str]]:
        """The locations of the source, each as written in the file of sources and as resolved."""
        now = [location.rstrip("/") for location in self._located]
        declared = [location.rstrip("/") for location in self._as_declared]
        return [*zip(declared or now, now, strict=True)]

    @property
    def _located(self) -> tuple[str, ...]:
        values = (getattr(self, key) for key in self.locations)
        return tuple(location for location in values if location is not None)

    def content(self, position: str) -> ChangeSet | None:
        """All that the source holds at a position, to compare with the graph; None if unknown."""
        del position
        return None

    def with_contexts(self, contexts: Mapping[str, str]) -> Self:
        """The source with the files of remote contexts of JSON-LD, by their IRIs."""
        del contexts
        return self

    def in_store(self, options: Mapping[str, str]) -> Self:
        """The source with the options of the object store, if its location is in one."""
        del options
        return self

    def located_in(self, folder: Path) -> Self:
        """The source with absolute locations; relative ones are relative to `folder`."""
        located = self.model_copy(
            update={
                key: absolute(location, folder)
                for key in self.locations
                if (location := getattr(self, key)) is not None
            }
        )
        located._as_declared = self._located
        return located

    @abstractmethod
    def pending(self, position: SourcePosition, project: Project) -> list[ChangeSet]:
        """The change sets after `position`, in order.

        Raises:
            ConfigurationError: the location does not exist, or holds nothing of this kind.
            SourceError: the change sets do not continue `position`.
        """

    @abstractmethod
    def read(
        self, accepted: AcceptedChangeSets, position: SourcePosition, reader: Reader
    ) -> SourceReading:
        """The rows of the source's change sets of a batch.

        Args:
            accepted: the change sets of the batch; the source is stopped in it where a change set
                cannot be used.
            position: how far the source was ingested before the batch.
            reader: what to read with.

        Raises:
            SourceError: the source stops before its first change set of the batch.
        """


def _unread_text(names: Mapping[str, Sequence[str]]) -> str:
    number = sum(map(len, names.values()))
    parts = [
        f"{some[0]} ({reason})" if len(some) == 1 else f"{len(some):,} as {some[0]} ({reason})"
        for reason, some in names.items()
    ]
    return f"{counted(number, 'file')} not read: {', '.join(parts)}"


def absolute(location: str, folder: Path) -> str:
    """A location: relative paths are relative to `folder`, URIs stay as they are."""
    # One letter before the colon is a drive.
    if len(urlparse(location).scheme) > 1:
        return location
    return str((folder / location).resolve())
