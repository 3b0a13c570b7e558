"""Parses `--at` and `--as-of`: which state of a published answer is to be printed.

The answer of a query over streams has two times: the instant at which it holds, and the epoch as of
which it is known, for later epochs may correct it. Other answers have an epoch only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from weir.answers.instants import instant_of
from weir.definitions.names import folders_of, is_declared
from weir.errors import ConfigurationError
from weir.lake.instants import instant_text
from weir.progress.completion import Completion
from weir.progress.streams import Frontiers
from weir.project import open_lake
from weir.settings import Settings
from weir.status.streams import StreamAnswer, is_over_streams, stream_answer

_EPOCH = re.compile("[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class Moment:
    """A state of a published answer.

    Attributes:
        epoch: the epoch as of which it is known; None for the newest.
        instant: the instant at which it holds; None for the state of all instants.
        over_streams: whether the query reads streams.
        title: the title of the printed state; empty for queries that read no stream.
    """

    epoch: int | None
    instant: int | None = None
    over_streams: bool = False
    title: str = ""


def moment_of(settings: Settings, query: str, at: str | None, as_of: int | None) -> Moment:
    """The state that `--at` and `--as-of` name.

    Args:
        settings: of the project.
        query: the name of a published query.
        at: a time for a query over streams, else an epoch.
        as_of: an epoch.

    Raises:
        ConfigurationError: the query has no such state, or not yet.
    """
    completion = Completion.read(open_lake(settings))
    answer = published_over_streams(settings, completion, query)
    if answer is not None:
        return _of_streams(settings, completion, query, answer, at, as_of)
    if at is None:
        epoch, option = as_of, "--as-of"
    else:
        epoch, option = _epoch_of(query, at), "--at"
        if as_of is not None:
            raise ConfigurationError(
                f"{query} reads no stream, so --at and --as-of both name an epoch",
                "",
                "Give one of them.",
            )
    if epoch is not None:
        require_published_to(completion, query, epoch, option)
    return Moment(epoch)


def published_over_streams(
    settings: Settings, completion: Completion, query: str
) -> StreamAnswer | None:
    """The published answer of a query over streams; None for other queries."""
    if not is_over_streams(completion, query):
        return None
    from weir.definitions.catalog import Catalog

    registered = None
    if is_declared(folders_of(settings), query):
        catalog = Catalog.of(settings)
        registered = catalog.member(query) if catalog.is_usable(query) else None
    return stream_answer(completion, Frontiers.read(completion.lake), query, registered)


def _of_streams(
    settings: Settings,
    completion: Completion,
    query: str,
    answer: StreamAnswer,
    at: str | None,
    as_of: int | None,
) -> Moment:
    if as_of is not None:
        require_published_to(completion, query, as_of, "--as-of")
    epoch = answer.published if as_of is None else as_of
    horizon = answer.horizons.at(epoch)
    final = None if horizon is None else instant_text(horizon)
    if at is None:
        title = f"{query}: nothing is final" if final is None else f"{query} at {final}"
        return Moment(as_of, over_streams=True, title=f"{title}, as of epoch {epoch}")
    if _EPOCH.fullmatch(at):
        raise ConfigurationError(
            f"{query} reads streams, so --at takes a time, and {at} is an epoch",
            "",
            f"--as-of {at} prints the answer as it was known at that epoch.",
        )
    instant = instant_of(at, "--at")
    if horizon is None or instant > horizon:
        known = "nothing of it is final" if final is None else f"it is final up to {final}"
        raise ConfigurationError(
            f"the answer of {query} at {at} is not final yet: as of epoch {epoch}, {known}",
            settings.lake,
            "Without --at, everything known is printed; `weir status` shows how far streams are.",
        )
    for since, until in answer.unknown:
        if since <= instant < until:
            raise ConfigurationError(
                f"the answer of {query} at {at} is not known: events that it needs had been deleted"
                " before it was computed",
                settings.lake,
                f"It is known from {instant_text(until)} on. `keep` of a stream says how long"
                " events stay.",
            )
    title = f"{query} at {instant_text(instant)}, as of epoch {epoch}"
    return Moment(as_of, instant, over_streams=True, title=title)


def _epoch_of(query: str, at: str) -> int:
    if _EPOCH.fullmatch(at):
        return int(at)
    instant_of(at, "--at")
    raise ConfigurationError(
        f"{query} reads no stream, so --at takes an epoch, and {at} is a time",
        "",
        "`weir sql 'SELECT epoch, event_time FROM transactions'` prints the times of epochs.",
    )


def require_published_to(completion: Completion, query: str, epoch: int, option: str) -> None:
    """Check that an epoch is one at which the answer of a query is published.

    Raises:
        ConfigurationError: it is not; `option` names the epoch.
    """
    newest, where = completion.head, completion.lake.root
    if epoch > newest:
        raise ConfigurationError(
            f"epoch {epoch} does not exist yet: the newest is {newest}",
            where,
            f"Without {option}, the newest answer is printed.",
        )
    published = completion.published(query)
    if published is not None and epoch > published.epoch:
        raise ConfigurationError(
            f"the answer of {query} is not known at epoch {epoch}: it is published up to epoch"
            f" {published.epoch}",
            where,
            "`weir run` publishes later epochs, unless a check holds them (`weir status`). Without"
            f" {option}, the newest answer is printed.",
        )
