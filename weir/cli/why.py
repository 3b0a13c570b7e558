"""`weir why`: which changes of the graph made rows of an answer appear or vanish."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.options import Options, Output, QueryName
from weir.cli.output import print_json, print_line
from weir.text.short_term import short_term

if TYPE_CHECKING:
    from weir.definitions.definition import Definition
    from weir.why.explanation import Explanation, Row, Triple

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
        typer.Option(min=1, help="The epoch; by default the newest that changed the answer."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Most rows that are explained.")] = 5,
) -> None:
    """Print which changes made rows of an answer appear (+) or vanish (-) at an epoch.

    Without these changes, a row that appeared would have no more copies than before, and one that
    vanished no fewer. Below `with` is what else one match of the row has. Of answers over streams
    nothing is explained.
    """
    from weir.answers.causes import Causes
    from weir.answers.prefixes import prefixes_of
    from weir.definitions.catalog import registered
    from weir.errors import ConfigurationError
    from weir.why.documents import document
    from weir.why.explanation import explain_epoch
    from weir.why.values import named_values

    options = Options.of(context)
    with options.project() as project:
        definition = registered(project.settings, query)
        prefixes = prefixes_of(project.settings, query)
        values = named_values(definition, map(_named, row or ()), prefixes)
        explained = explain_epoch(project, definition, epoch, values, limit)
        at = explained.epoch
        if not explained.rows:
            raise ConfigurationError(
                f"epoch {at} changed no such row of {query}",
                project.lake.root,
                f"`weir log {query}` prints which rows changed, and at which epochs.",
            )
        causes = Causes.of(project.lake, query, [at], over_streams=False)
    cause = causes.change_sets.get(at, "")
    if options.output is Output.json:
        print_json([document(definition, at, cause, one) for one in explained.rows])
        return
    unpublished = "" if explained.is_published else " (computed, and not published)"
    print_line(f"{query} at epoch {at}{unpublished}: {cause}")
    for one in explained.rows:
        _print(definition, one, partial(short_term, prefixes=prefixes))
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


def _print(definition: Definition, one: Explanation, short: Short) -> None:
    print_line(f"{one.weight:+} {_row_text(definition, one.row, short)}")
    print_line("  because of" if one.changes else "  needs no triple of the graph")
    for change in one.changes:
        graph = f"   in {short(change.graph)}" if change.graph else ""
        print_line(f"    {change.weight:+} {_triple_text(change.triple, short)}{graph}")
    if not one.is_all:
        print_line("    and more")
    if one.match is None:
        print_line("  too many triples around the changes to look for one match")
        return
    changed = {change.triple for change in one.changes}
    lines = [_triple_text(triple, short) for triple in one.match.triples if triple not in changed]
    lines += [] if one.match.is_all else ["and more"]
    lines += ["and rows that parts of the query have stored"] * one.match.is_beside_stored
    if lines:
        print_line("  with")
    for line in lines:
        print_line(f"       {line}")


def _row_text(definition: Definition, row: Row, short: Short) -> str:
    cells = zip(definition.columns, row, strict=True)
    return ", ".join(f"{name}={short(value)}" for (name, _), value in cells if value is not None)


def _triple_text(triple: Triple, short: Short) -> str:
    return " ".join(short(term) for term in triple)
