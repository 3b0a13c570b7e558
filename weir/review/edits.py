"""Which definitions of a project were added, edited or removed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from weir.definitions.catalog import Catalog
from weir.definitions.definition import Definition
from weir.definitions.upstreams import all_upstreams_of
from weir.ingest.undeclared import unusable
from weir.lake.tables import ANSWERS
from weir.progress.completion import Completion
from weir.settings import Settings

Change = Literal["added", "edited", "removed", "recomputed"]


@dataclass(frozen=True, slots=True)
class Edit:
    """A definition whose answer a run would compute again from nothing, or no longer compute.

    Attributes:
        name: of the definition.
        change: `recomputed`: a stream or graph that it reads is of another text.
        after: as the project has it; None if it is removed, or cannot be used.
        before: as the base has it, if that is not what is published.
        from_published: whether its published answer, if there is one, is that of the base.
        error: why it cannot be used.
    """

    name: str
    change: Change
    after: Definition | None = None
    before: Definition | None = None
    from_published: bool = True
    error: str = ""


def edits_of_published(
    settings: Settings, catalog: Catalog, completion: Completion
) -> Iterator[Edit]:
    """The edits since the published answers were computed.

    An edit without effect on the answer, as of white space or `description`, is none.
    """
    published = {name: completion.published(name) for name in completion.lake.owners(ANSWERS)}
    before = {
        name: known.metadata.fingerprint for name, known in published.items() if known is not None
    }
    yield from _edits(settings, catalog, before)


def edits_of_base(
    settings: Settings, catalog: Catalog, base: Catalog, completion: Completion
) -> Iterator[Edit]:
    """The edits since a base; what is published is the base's answer if it is of its text."""
    members = {member.name: member for member in base.members}
    fingerprints = {name: member.fingerprint for name, member in members.items()}
    for edit in _edits(settings, catalog, fingerprints):
        before = members.get(edit.name)
        if before is not None and _is_published(before, completion):
            yield edit
        else:
            yield replace(edit, before=before, from_published=False)


def _is_published(definition: Definition, completion: Completion) -> bool:
    published = completion.published(definition.name)
    return (
        published is not None
        and published.metadata.fingerprint == definition.fingerprint
        and published.epoch == completion.head
    )


def _edits(settings: Settings, catalog: Catalog, before: Mapping[str, str]) -> Iterator[Edit]:
    wrong = unusable(catalog, settings)
    members = {member.name: member for member in catalog.members if member.name not in wrong}
    edited: set[str] = set()
    for name, member in members.items():
        if before.get(name) != member.fingerprint:
            edited.add(name)
            yield Edit(name, "edited" if name in before else "added", member)
    for name, member in members.items():
        if name not in edited and _reads(member, edited):
            yield Edit(name, "recomputed", member)
    for name, error in wrong.items():
        yield Edit(name, "edited" if name in before else "added", error=str(error))
    for name in before:
        if name not in members and name not in wrong:
            yield Edit(name, "removed")


def _reads(member: Definition, edited: set[str]) -> bool:
    return not edited.isdisjoint(all_upstreams_of(member))
