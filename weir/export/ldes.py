"""The published changes of an answer as a Linked Data Event Stream: a folder of TREE pages.

https://w3id.org/ldes/specification, https://w3id.org/tree/specification

A member is a version of a row: the row as it is after an epoch, or that it is gone. Members are
numbered, and are in the order of their numbers in pages of at most `MEMBERS`; a page that is full
never changes. The root leads to all pages, by nodes of `LINKS` links, and is written last: a reader
who begins there meets whole pages only. The folder depends on nothing but the log and what it has
already, so that a call that is killed is continued by the next.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from weir.errors import ConfigurationError
from weir.export.ldes_pages import (
    Link,
    Member,
    Names,
    Page,
    Root,
    member_text,
    node_text,
    page_text,
    read_page,
    read_root,
    rolled_up,
    root_text,
)
from weir.export.versions import Version, Versions, published_versions
from weir.lake.interrupts import heed
from weir.lake.whole_files import one_writer, remove_drafts, whole_file
from weir.project import Project

MEMBERS, LINKS = 1000, 100
"""Members of a page that never changes again; links of a node that does not."""
_BASE = re.compile(r"https?://[^\s<>\"{}|\\^`#?]+")
_FIRST = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class WrittenStream:
    """What was written: how many members are new, on how many pages, up to which epoch."""

    root: Path
    members: int
    pages: int
    epoch: int


def write_stream(project: Project, query: str, folder: Path, base: str = "") -> WrittenStream:
    """Write the members that a folder does not have yet.

    Args:
        project: has the answer.
        query: its name.
        folder: of the stream; it is made if it is missing.
        base: the IRI of the folder; empty if IRIs are relative to its files.

    Raises:
        QualityError: the answer is held back, and none was published before.
        ConfigurationError: there is no such query, or nothing of it is published; or the folder has
            the stream of another log, or with another base.
    """
    iri = _with_slash(base) if base else ""
    with published_versions(project, query) as versions, one_writer(folder):
        names = Names(iri, versions.is_graph)
        other = Names(iri, not versions.is_graph)
        if (folder / other.root).exists():
            what = f"it is the root of a stream of {'rows' if versions.is_graph else 'triples'}"
            raise ConfigurationError(what, str(folder / other.root), "Name another folder.")
        remove_drafts(folder, names.files)
        return _Writer(versions, folder, names).write()


def _with_slash(base: str) -> str:
    """An IRI of a folder with a slash at its end.

    Raises:
        ConfigurationError: it is no absolute IRI of HTTP.
    """
    if not _BASE.fullmatch(base):
        what = f"--base {base}: it is no IRI of a folder"
        raise ConfigurationError(what, "", "Such as https://example.org/streams/exhibits/")
    return f"{base.rstrip('/')}/"


@dataclass(frozen=True, slots=True)
class _Begin:
    """Where a folder is continued.

    Attributes:
        epoch: the first one.
        known: by key, how often the answer has a row by what the folder has of that epoch.
        is_edited: whether an edit of the query changed the answer there.
    """

    epoch: int
    known: Mapping[str, int] = field(default_factory=dict)
    is_edited: bool = False


class _Writer:
    """Continues a folder, of which nobody else writes meanwhile."""

    def __init__(self, versions: Versions, folder: Path, names: Names) -> None:
        self.versions, self.folder, self.names = versions, folder, names
        self.source = uuid5(NAMESPACE_URL, f"weir:{versions.log_id}").urn

    def write(self) -> WrittenStream:
        """Write new members, then the root."""
        numbers = self.names.numbers_in(self.folder)
        page = self._read(numbers[-1]) if numbers else Page(1)
        last = before = page.members[-1] if numbers else Member(0, 0, "", 0, _FIRST)
        root = self._root()
        begin = _Begin(before.epoch + 1 if numbers else 0)
        if numbers:
            # An edit of the query may have changed what the stream says of its last epoch; and a
            # call that was killed may have left some of it out.
            is_edited = self.versions.was_edited_at(before.epoch)
            if is_edited or root.members != before.number:
                begin = _Begin(before.epoch, self._said_at(before.epoch, numbers), is_edited)
        links = dict[int, Link]()
        for written in self._pages(page, before, begin):
            links[written.number], last = written.link(MEMBERS), written.members[-1]
        self._write_links(root, links, last.number)
        file = self.folder / self.names.root
        return WrittenStream(file, last.number - before.number, len(links), last.epoch)

    def _said_at(self, epoch: int, numbers: Sequence[int]) -> dict[str, int]:
        """How often the answer has rows, by the members of the last epoch of the folder."""
        said = dict[str, int]()
        for number in reversed(numbers):
            members = self._read(number).members
            own = {member.key: member.times for member in members if member.epoch == epoch}
            # Of a row that an edit changed again, the later member counts.
            said = own | said
            if members[0].epoch < epoch:
                break
        return said

    def _read(self, number: int) -> Page:
        """A page of the folder.

        Raises:
            ConfigurationError: it is none of this stream.
        """
        file = self.folder / self.names.file(0, number)
        with suppress(ValueError, KeyError, SyntaxError):
            page, source = read_page(self.names, number, file.read_bytes())
            if source == self.source and page.members:
                return page
        raise ConfigurationError(
            f"it is no page of the answer that {self.versions.query} has now: it is of another"
            " query, the query was dropped and computed again, or --base was another one",
            str(file),
            "Name another folder, which then begins with the whole answer.",
        )

    def _pages(self, page: Page, last: Member, begin: _Begin) -> Iterator[Page]:
        """Write pages from the last one on; yields those that got members."""
        with closing(self.versions.since(begin.epoch, begin.known)) as versions:
            yield from self._filled(page, last, begin, versions)

    def _filled(
        self, page: Page, last: Member, begin: _Begin, versions: Iterable[Version]
    ) -> Iterator[Page]:
        times = self.versions.times(begin.epoch)
        members, texts, is_new = [*page.members], [page.body], False
        for version in versions:
            heed()
            if len(members) >= MEMBERS:
                if is_new:
                    yield self._written(Page(page.number, tuple(members), "".join(texts)))
                page = Page(page.number + 1)
                members, texts = [], []
            ingested, happened = times.get(version.epoch, (last.created, None))
            last = Member(
                last.number + 1,
                version.epoch,
                version.key,
                version.after,
                max(ingested, last.created),
            )
            members.append(last)
            if begin.is_edited and version.epoch == begin.epoch:
                # The edit changed it, which has no time.
                happened = None
            row = self._row(version)
            texts.append(member_text(self.names, last, version.before, row, happened))
            is_new = True
        if is_new:
            yield self._written(Page(page.number, tuple(members), "".join(texts)))

    def _row(self, version: Version) -> dict[str, str]:
        cells = zip(self.versions.variables, version.terms, strict=True)
        return {name: term for name, term in cells if term is not None}

    def _written(self, page: Page) -> Page:
        is_full = len(page.members) >= MEMBERS
        content = page_text(self.names, self.source, page, is_full=is_full).encode()
        self._write(self.names.file(0, page.number), content)
        return page

    def _write(self, name: str, content: bytes) -> None:
        with whole_file(self.folder / name) as output:
            output.write(content)
            # A page is never looked at again: a power failure must not leave half of it.
            output.flush()
            os.fsync(output.fileno())

    def _root(self) -> Root:
        """What the root of the folder says; nothing if it is gone or damaged: all is in pages."""
        with suppress(FileNotFoundError, ValueError, KeyError, SyntaxError):
            return read_root(self.names, (self.folder / self.names.root).read_bytes())
        return Root()

    def _write_links(self, before: Root, new: Mapping[int, Link], members: int) -> None:
        """Write new nodes, then the root.

        Args:
            before: what the root said.
            new: the links to the pages that were written.
            members: how many members all pages have.
        """
        nodes = [link for link in before.links if link.level]
        covered = sum(LINKS**link.level for link in nodes)
        known = {link.number: link for link in before.links if not link.level and link.is_full}
        known |= new
        numbers = (n for n in self.names.numbers_in(self.folder) if n > covered)
        pages = [known[n] if n in known else self._read(n).link(MEMBERS) for n in numbers]
        links, more = rolled_up([*nodes, *pages], LINKS)
        for node, own in more:
            text = node_text(self.names, self.source, node, own)
            self._write(self.names.file(node.level, node.number), text.encode())
        of_answer = self.versions.query, self.versions.variables
        root = Root(links, members, self.versions.published)
        text = root_text(self.names, self.source, *of_answer, root)
        self._write(self.names.root, text.encode())
