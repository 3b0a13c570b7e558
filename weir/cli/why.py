"""`weir why`: which changes of the graph, or events, made rows of an answer appear or vanish."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Annotated, assert_never

import typer

from weir.cli.answers import Full
from weir.cli.options import Options, Output, QueryName
from weir.cli.output import print_json, print_line
from weir.text.short_term import short_term

if TYPE_CHECKING:
    from weir.definitions.definition import Definition
    from weir.why.explanation import Cause, Explanation, Ground, Part, Row
    from weir.why.places import Places

Short = Callable[[str], str]
"""Shortens a term."""


def why(
    context: typer.Context,
    query: QueryName,
    row: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COLUMN=VALUE",
            help="Only rows with this value: plain, shortened by a prefix, or the exact term.",
            show_default=False,
        ),
    ] = None,
    epoch: Annotated[
        int | None,
        typer.Option(min=1, help="The epoch; by default the newest that changed such rows."),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            help="Over streams: only rows of this time, such as 2026-01-01T00:00:00Z.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Most rows that are explained.")] = 5,
    full: Full = False,
) -> None:
    """Print which changes made rows of an answer appear (+) or vanish (-) at an epoch.

    Without these changes, a row that appeared would have no more copies than before, and one that
    vanished no fewer. Over streams they are events that came into a window, or left one. Below
    `with` is what else one match of the row has.
    """
    from weir.answers.causes import Causes
    from weir.answers.instants import instant_of
    from weir.answers.prefixes import prefixes_of
    from weir.definitions.catalog import registered
    from weir.errors import ConfigurationError
    from weir.why.documents import document
    from weir.why.explain import explain_epoch
    from weir.why.places import Places
    from weir.why.values import named_values, undeclared_prefix

    options = Options.of(context)
    with options.project() as project:
        definition = registered(project.settings, query)
        prefixes = prefixes_of(project.settings, query)
        values = named_values(definition, map(_named, row or ()), prefixes)
        instant = None if at is None else instant_of(at, "--at")
        explained = explain_epoch(project, definition, epoch, values, limit, instant)
        known = explained.epoch
        if not explained.rows:
            raise ConfigurationError(
                f"epoch {known} changed no such row of {query}",
                project.lake.root,
                f"`weir log {query}` prints which rows changed, and at which epochs."
                f"{undeclared_prefix(query, chain(*values.values()))}",
            )
        causes = Causes.of(project.lake, query, [known], over_streams=False)
        places = Places.of(project, explained.rows, reads_files=True)
    cause = causes.change_sets.get(known, "")
    if options.output is Output.json:
        print_json([document(definition, known, cause, one, places) for one in explained.rows])
        return
    unpublished = "" if explained.is_published else " (computed, and not published)"
    print_line(f"{query} at epoch {known}{unpublished}: {cause}")
    short = partial(short_term, prefixes={} if full else prefixes)
    write = Writer(definition, places, cause, short)
    for one in explained.rows:
        write.explanation(one)
    if explained.is_more:
        print_line(f"The first {limit} rows: COLUMN=VALUE chooses others, --limit prints more.")


def _named(word: str) -> tuple[str, str]:
    """The column and the value of a word COLUMN=VALUE.

    Raises:
        ConfigurationError: it is none.
    """
    from weir.errors import ConfigurationError

    name, equals, value = word.partition("=")
    if not equals:
        raise ConfigurationError(f"{word}: no `=`", "", "Write COLUMN=VALUE.")
    return name, value


@dataclass(frozen=True, slots=True)
class Writer:
    """Prints explanations.

    Attributes:
        definition: of the answer.
        places: where what is named is written.
        change_set: of the epoch, which is printed once.
        short: shortens a term.
    """

    definition: Definition
    places: Places
    change_set: str
    short: Short

    def explanation(self, one: Explanation) -> None:
        """Print why a row changed."""
        print_line(f"{one.weight:+} {self._row(one.row)}{_when(one)}")
        needless = "  needs no triple of the graph" if one.instant is None else "  needs no event"
        print_line("  because of" if one.changes else needless)
        for change in one.changes:
            sign = f"{change.weight:+}" if change.weight else "  "
            print_line(f"    {sign} {self._cause(change)}")
        if not one.is_all:
            print_line("    and more")
        if one.match is None:
            print_line("  too much around the changes to look for one match")
            return
        if one.match.derivation is not None:
            print_line("  by")
            self._derivation(one.match.derivation, "    ")
            return
        named = {_identity(change) for change in one.changes}
        parts = (part for part in one.match.parts if part not in named)
        lines = [self._part(part) for part in parts]
        lines += [] if one.match.is_all else ["and more"]
        lines += ["and rows that parts of the query have stored"] * one.match.is_beside_stored
        if lines:
            print_line("  with")
        for line in lines:
            print_line(f"       {line}")

    def _row(self, row: Row) -> str:
        cells = zip(self.definition.columns, row, strict=True)
        shown = ((name, value) for (name, _), value in cells if value is not None)
        return ", ".join(f"{name}={self.short(value)}" for name, value in shown)

    def _derivation(self, ground: Ground, indent: str) -> None:
        """Print how an element of a body is satisfied, and below it by what."""
        from weir.why.explanation import AbsentAtom, Derivation, ReadAtom, RepeatedAtom

        terms = ", ".join(map(self.short, ground.arguments))
        atom = f"{ground.predicate}({terms})" if terms else ground.predicate
        match ground:
            case AbsentAtom():
                print_line(f"{indent}not {atom}")
            case Derivation():
                print_line(f"{indent}{atom}   {_at(ground.instant, ground.rule)}")
                for needed in ground.of:
                    self._derivation(needed, f"{indent}  ")
            case ReadAtom():
                print_line(f"{indent}{atom}   {_at(ground.instant)}".rstrip())
                for part in ground.parts:
                    print_line(f"{indent}  {self._part(part)}")
            case RepeatedAtom():
                print_line(f"{indent}{atom}   {_at(ground.instant, 'as above')}")
            case _:
                assert_never(ground)

    def _cause(self, cause: Cause) -> str:
        from weir.why.explanation import Change

        if not isinstance(cause, Change):
            return self._part(cause.event)
        graph = f"in {self.short(cause.graph)}" if cause.graph else ""
        return self._with(self._triple(cause.triple), graph, self.places.of_change(cause))

    def _part(self, part: Part) -> str:
        from weir.lake.instants import instant_text
        from weir.why.explanation import Event

        if not isinstance(part, Event):
            return self._triple(part)
        place = self.places.of_event(part) or f"in {part.stream}"
        return self._with(self._triple(part.triple), f"at {instant_text(part.instant)}", place)

    def _triple(self, triple: tuple[str, str, str]) -> str:
        return " ".join(self.short(term) for term in triple)

    def _with(self, text: str, where: str, place: str) -> str:
        """A triple, with where it is, and where that is written, if the first line does not say."""
        beside = ", ".join(filter(None, (where, "" if place == self.change_set else place)))
        return f"{text}   {beside}" if beside else text


def _at(instant: int | None, place: str = "") -> str:
    """When an atom holds, and by which rule, where there are such."""
    from weir.lake.instants import instant_text

    when = "" if instant is None else f"at {instant_text(instant)}"
    return ", ".join(filter(None, (when, place)))


def _when(one: Explanation) -> str:
    """At which time a row of an answer over streams changed."""
    from weir.lake.instants import instant_text

    if one.instant is None:
        return ""
    return f"   at {instant_text(one.instant)}{', a correction' if one.is_correction else ''}"


def _identity(cause: Cause) -> Part:
    """What a match has, if it has a cause."""
    from weir.why.explanation import Change

    return cause.triple if isinstance(cause, Change) else cause.event
