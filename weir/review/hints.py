"""All hints about the definitions of a project, with their places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from weir.definitions.definition import Definition
from weir.definitions.kinds import QUERY
from weir.definitions.names import folders_of
from weir.definitions.query import QueryBody
from weir.errors import WeirError
from weir.ingest.sources.declared import load_sources, missing_places
from weir.maintain.unmatched import Unmatched
from weir.progress.watermarks import head
from weir.project import Project
from weir.review.finding import Finding
from weir.review.graph_hints import graph_hints
from weir.review.table_hints import table_hints
from weir.review.text_hints import hint_at, text_hints
from weir.review.written_terms import WrittenTerms

_OTHER_ENDINGS = (".sparql", ".sq")
"""Endings that other tools know of queries."""
_IRI = re.compile(r"<[^<>\s]*>")


def hints(project: Project, definitions: Sequence[Definition]) -> Iterator[Finding]:
    """Hints about sources, and about definitions without a mistake; about data, if it is there."""
    yield from _of_sources(project)
    yield from _of_ignored_files(project)
    yield from table_hints(project.settings, definitions)
    for definition in definitions:
        if isinstance(definition.body, QueryBody):
            terms = _terms(project, definition)
            yield from text_hints(definition, definition.body, terms)
    epoch = head(project.open_lake())
    if not epoch or not definitions:
        return
    # No index: it may be written by a run at this moment.
    with project.engine("check", project.lake) as engine:
        for definition, unmatched in graph_hints(engine, project.lake, definitions, epoch):
            yield _with_place(project, definition, unmatched)


def _of_sources(project: Project) -> Iterator[Finding]:
    file = project.settings.sources
    try:
        sources = load_sources(file)
    except WeirError:
        # It has a mistake, which is said as such.
        return
    for source, place in missing_places(sources):
        what = f"source {source.name}: {place} does not exist"
        yield Finding("hint", what, str(file), hint="Until it does, a run ends with an error.")


def _of_ignored_files(project: Project) -> Iterator[Finding]:
    """Files that have a query and another ending than one that is read."""
    folder = folders_of(project.settings)[QUERY]
    for file in sorted(folder.glob("*")):
        if file.suffix.lower() in _OTHER_ENDINGS and not file.name.startswith("."):
            what = f"it is ignored: the files of queries end in {QUERY.suffix}"
            yield Finding("hint", what, str(file), hint=f"Rename it: {file.stem}{QUERY.suffix}.")


def _terms(project: Project, query: Definition) -> WrittenTerms:
    return WrittenTerms.of(query.text, str(query.file), project.settings.prefixes)


def _with_place(project: Project, definition: Definition, unmatched: Unmatched) -> Finding:
    if not isinstance(definition.body, QueryBody):
        near = f"Near: {', '.join(unmatched.near)}." if unmatched.near else ""
        return hint_at(definition, None, unmatched.what, near)
    terms = _terms(project, definition)
    what = _IRI.sub(lambda match: terms.shortened(match[0]), unmatched.what)
    near = " or ".join(map(terms.shortened, unmatched.near))
    return hint_at(
        definition,
        terms.term(unmatched.term),
        what,
        f"Did you mean {near}?" if near else "Until data has it, it matches nothing.",
    )
