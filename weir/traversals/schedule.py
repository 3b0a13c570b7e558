"""When the declared traversals are evaluated next."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from weir.lake.instants import microseconds
from weir.lake.lake import Lake
from weir.remotes.schedule import evaluation_at, following
from weir.settings import Settings
from weir.traversals.declarations import load_traversals
from weir.traversals.inbox import document_inbox


def next_evaluations(settings: Settings, lake: Lake, now: datetime) -> Mapping[str, datetime]:
    """The instant of the next evaluation of each traversal, by name; it is due once that has come.

    An evaluation that was not brought to its end goes on.

    Raises:
        ConfigurationError: traversals.yml is wrong.
    """
    times = {}
    for name, declared in load_traversals(settings.traversals).items():
        stored = document_inbox(name).last(lake)
        mark = stored.mark if stored else None
        at = evaluation_at(declared.traversal, mark, now)
        is_over = mark is not None and mark.is_last and mark.evaluation == microseconds(at)
        times[name] = following(declared.traversal, at) if is_over else at
    return times
