"""Which documents make up each version of a snapshot source, broken ones being carried over."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from weir.ingest.reading import Carried


@dataclass(frozen=True, slots=True)
class Version:
    """A version as it was parsed: document name -> its number if it is usable, else None."""

    ordinal: int
    documents: Mapping[str, int | None]

    @property
    def is_usable(self) -> bool:
        """Whether any document can be used; else the state before stays as a whole."""
        return any(number is not None for number in self.documents.values())


def carried(
    versions: Sequence[Version], last_good: Callable[[str], int | None]
) -> tuple[Carried, ...]:
    """For every broken document, the newest earlier content of it.

    A version of which nothing is usable leaves the state as it was. A document that the version
    before does not have has no earlier content.

    Args:
        versions: successive versions of one source, in order.
        last_good: the number of the newest usable content of a document before `versions`, or None.
    """
    contents = []
    before = last_good
    for version in versions:
        if not version.is_usable:
            continue
        now: dict[str, int | None] = {}
        for name, number in version.documents.items():
            content = before(name) if number is None else number
            if number is None and content is not None:
                contents.append(Carried(content, version.ordinal))
            now[name] = content
        before = now.get
    return tuple(contents)
