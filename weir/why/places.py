"""Where what an explanation names is written: source, file, version or commit, and line.

The change set of an epoch is in `transactions`. A line is known as long as the file is there: it is
parsed again, if it is one of lines and not large.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from weir.answers.causes import change_set_text
from weir.errors import WeirError
from weir.ingest.changesets import ChangeSet, Document, SourcePosition
from weir.ingest.pending import source_positions
from weir.ingest.sources.all_sources import all_sources
from weir.ingest.sources.files import FileSource
from weir.lake.lake import Lake
from weir.lake.tables import TRANSACTIONS
from weir.project import Project
from weir.rdf.records import Format
from weir.why.explanation import Change, Event, Explanation, MovedEvent, Triple

_OF_LINES: frozenset[Format] = frozenset({"n-triples", "n-quads", "rdf-patch"})
_MOST_BYTES = 4_000_000
"""In larger files no line is looked for: they are parsed again."""
_MOST_READ = 5
"""In no more change sets lines are looked for."""

Written = tuple[Triple, bool]
"""A triple, and whether it is inserted or deleted."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where the changes and events of some explanations are written.

    Attributes:
        change_sets: by epoch, its source and change set.
        lines: by epoch, the file and line of triples that it inserts or deletes, where known.
    """

    change_sets: Mapping[int, str]
    lines: Mapping[int, Mapping[Written, str]]

    @classmethod
    def of(cls, project: Project, explained: Iterable[Explanation], *, reads_files: bool) -> Places:
        """Find the places of what explanations name.

        Args:
            project: whose sources they are.
            explained: the explanations.
            reads_files: whether to parse files to find lines.
        """
        written: dict[int, set[Written]] = {}
        for explanation in explained:
            for epoch, one in _written(explanation):
                written.setdefault(epoch, set()).add(one)
        if not written:
            return cls({}, {})
        positions = _positions(project.lake, written)
        change_sets = {epoch: change_set_text(*of) for epoch, of in positions.items()}
        lines: dict[int, Mapping[Written, str]] = {}
        for epoch in sorted(positions, reverse=True)[:_MOST_READ] if reads_files else ():
            # That a source is gone, or wrong now, is no reason not to explain.
            with suppress(WeirError, OSError):
                lines[epoch] = _lines(project, *positions[epoch], written[epoch])
        return cls(change_sets, lines)

    def of_change(self, change: Change) -> str:
        """Where a change of the graph is written; empty if that is not known."""
        return self._place(change.epoch, (change.triple, change.weight > 0))

    def of_event(self, event: Event) -> str:
        """Where an event is written; empty of the output of a query."""
        return self._place(event.epoch, (event.triple, True))

    def _place(self, epoch: int, written: Written) -> str:
        change_set = self.change_sets.get(epoch, "")
        return self.lines.get(epoch, {}).get(written, change_set)


def _written(explanation: Explanation) -> Iterator[tuple[int, Written]]:
    for cause in explanation.changes:
        match cause:
            case Change(triple=triple, weight=weight, epoch=epoch):
                yield epoch, (triple, weight > 0)
            case MovedEvent(event=event):
                yield event.epoch, (event.triple, True)
    for part in () if explanation.match is None else explanation.match.parts:
        if isinstance(part, Event):
            yield part.epoch, (part.triple, True)


def _positions(lake: Lake, epochs: Iterable[int]) -> dict[int, tuple[str, str]]:
    """The source and change set of epochs; those without one are missing."""
    wanted = {*epochs}
    rows = lake.rows(
        TRANSACTIONS.name,
        ["epoch", "source", "position"],
        [("epoch", ">=", min(wanted)), ("epoch", "<=", max(wanted))],
    )
    return {
        row["epoch"]: (row["source"], row["position"])
        for row in rows.to_pylist()
        if row["epoch"] in wanted and row["position"] is not None
    }


def _lines(
    project: Project, source: str, position: str, wanted: set[Written]
) -> Mapping[Written, str]:
    """The lines of a change set in which triples are inserted or deleted, as far as known."""
    lines: dict[Written, str] = {}
    change_set = _change_set(project, source, position)
    if change_set is None or sum(one.size for one in change_set.documents) > _MOST_BYTES:
        return lines
    for document in change_set.documents:
        if document.request.format not in _OF_LINES or document.refused is not None:
            continue
        shown = change_set_text(source, _shown(position, document))
        parsed = project.parser.parse(document.request).changes
        cells = (parsed[name].to_pylist() for name in _COLUMNS)
        for s, p, o, is_inserted, line in zip(*cells, strict=True):
            written = ((s, p, o), is_inserted)
            if line and written in wanted:
                lines.setdefault(written, f"{shown}:{line}")
    return lines


_COLUMNS = ("subject", "predicate", "object", "insert", "line")


def _change_set(project: Project, name: str, position: str) -> ChangeSet | None:
    """A change set as its source still has it; None if it has not, or is no folder of files."""
    known = source_positions(project.lake)[name].first_name
    for declared in all_sources(project.settings):
        if declared.name == name and isinstance(declared, FileSource):
            source = declared.called_first(known)
            pending = source.pending(SourcePosition(first_name=known), project)
            return next((one for one in pending if one.position == position), None)
    return None


def _shown(position: str, document: Document) -> str:
    """The file of a document; a change set of one document has its name."""
    same = not document.name or document.name == position
    return position if same else f"{position}/{document.name}"
