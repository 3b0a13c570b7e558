"""A remote keeps its name, which is that of its tables, once answers are stored under it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from weir.lake.lake import Lake
from weir.remotes.declarations import Remote
from weir.remotes.inbox import has_answers


def why_not_stored(lake: Lake, remote: Remote, services: Iterable[Mapping[str, Any]]) -> str:
    """Why the answers of a remote cannot be stored: they are, under another name; or empty.

    Args:
        lake: has the answers.
        remote: as declared.
        services: the rows of `services`: remote, iri.
    """
    names = {row["remote"] for row in services if row["iri"] == remote.term} - {remote.name}
    other = next((name for name in sorted(names) if has_answers(lake, name)), None)
    if other is None or has_answers(lake, remote.name):
        return ""
    return (
        f"the answers of {remote.iri} are stored under the name {other}, not {remote.name}:"
        f" name it {other} again"
    )
