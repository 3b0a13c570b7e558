"""`weir documents`: what a traversal holds, and by which links a document was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.cli.options import Options, Output, named
from weir.cli.output import print_json, print_line, print_rows
from weir.errors import ConfigurationError
from weir.lake.names import Name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weir.traversals.frontier import Member
    from weir.traversals.inbox import Page

_MOST = 50
"""Documents that a table lists; `--output json` has all."""


def documents(
    context: typer.Context,
    traversal: Annotated[Name, typer.Argument(parser=named, help="The name of a traversal.")],
    why: Annotated[
        str | None, typer.Option(help="Show the links from a seed to this document.")
    ] = None,
) -> None:
    """List the documents of a traversal, or the links by which one was found."""
    options = Options.of(context)
    settings = options.settings()
    from weir.project import open_lake
    from weir.text.near import meant
    from weir.traversals.declarations import load_traversals
    from weir.traversals.inbox import pages_of

    declared = load_traversals(settings.traversals)
    if traversal not in declared:
        raise ConfigurationError(
            f"there is no traversal {traversal}",
            str(settings.traversals),
            f"{meant(traversal, declared)}Traversals: {', '.join(declared) or 'none yet'}.",
        )
    pages = pages_of(open_lake(settings), traversal)
    if why is not None:
        rows = path_to(pages, why)
        if not rows:
            raise ConfigurationError(
                f"{why} is no document of {traversal}",
                "--why",
                f"`weir documents {traversal}` lists its documents.",
            )
    else:
        rows = [_row(iri, page) for iri, page in sorted(pages.items()) if page.member]
    if options.output is Output.json:
        print_json(rows)
    elif rows:
        print_rows(options.output, [*rows[0]], rows[:_MOST], title="")
        if len(rows) > _MOST:
            print_line(f"{len(rows) - _MOST:,} more: `--output json` lists all.")
    else:
        print_line(
            f"{traversal} has no document yet: `weir refresh {traversal}` follows its links."
        )


def path_to(pages: Mapping[str, Page], iri: str) -> list[dict[str, Any]]:
    """The documents from a seed to one, each with what its link leads to; empty if it is none.

    `through` are the pages between the IRI that leads to a document and the document, with what
    they answer in place of content: a redirect, or a Link header.

    Args:
        pages: of a traversal, by IRI.
        iri: the document, or an IRI that leads to it.
    """
    from weir.traversals.search import place_of

    documents = {own: page for own, page in pages.items() if page.member is not None}
    leading = (own for own, page in pages.items() if page.member and iri in page.member.aliases)
    place = place_of(iri)
    if place not in documents:
        place = next(leading, "")
    path: list[tuple[str, Member, str | None]] = []
    following: frozenset[str] = frozenset()
    while (page := documents.get(place)) is not None:
        member = page.member
        assert member is not None, "it is a document"
        links = page.known.links or ()
        link = next((link.target for link in links if link.target in following), None)
        path.append((place, member, link))
        place, following = member.source, member.aliases
    rows: list[dict[str, Any]] = []
    followed = None
    for document, member, link in reversed(path):
        # Of a seed, any IRI that leads to it may be the one that is declared.
        start = followed or (iri if iri in member.aliases else min(member.aliases))
        through = _through(pages, start)
        rows.append(
            {"depth": member.depth, "document": document, "leads_to": link, "through": through}
        )
        followed = link
    return rows


def _through(pages: Mapping[str, Page], iri: str) -> str | None:
    """The pages from an IRI to its document, each with how it leads on; None without any."""
    from weir.traversals.search import MOST_REDIRECTS, place_of

    place, steps = place_of(iri), list[str]()
    while (page := pages.get(place)) and page.known.target and len(steps) <= MOST_REDIRECTS:
        steps.append(f"{place} ({'Link header' if page.known.by_header else 'redirect'})")
        place = place_of(page.known.target)
    return ", ".join(steps) or None


def _row(iri: str, page: Page) -> dict[str, Any]:
    from weir.lake.instants import time_at

    known, member = page.known, page.member
    assert member is not None, "it is a document"
    return {
        "document": iri,
        "depth": member.depth,
        "links": len(known.links or ()),
        "asked_at": time_at(round(known.asked_at * 1_000_000)),
        "due_at": time_at(round(known.due_at * 1_000_000)),
        "changes": known.changes,
        "failures": known.failures,
        "fault": known.fault or ("suspect" if page.is_suspect else None),
        "reason": known.reason or None,
    }
