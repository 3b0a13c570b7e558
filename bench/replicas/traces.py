"""Traces: followers over time and mentions, as arrays and as three CSV files.

    followers.csv   user,t,value   a snapshot; the value holds for evaluations strictly after t
    mentions.csv    t,user         an element of the stream
    ties.csv        user,tie       equals are ordered by tie, then by user; optional

`t` is in seconds of one clock.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Trace:
    """What remote data and stream did.

    Attributes:
        users: in tie order; the columns of `values`.
        times: of the snapshots, ascending.
        values: a row per snapshot.
        mentioned_at: ascending.
        mentioned: the user (an index), per mention.
    """

    users: tuple[str, ...]
    times: Numbers
    values: Integers
    mentioned_at: Numbers
    mentioned: Integers


class TraceError(Exception):
    """A file of a trace cannot be used; says which line and why."""


def written_trace(trace: Trace, folder: Path) -> None:
    """Write the three files."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "followers.csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("user", "t", "value"))
        for time, values in zip(trace.times, trace.values, strict=True):
            rows.writerows(
                (user, f"{time:.17g}", int(value))
                for user, value in zip(trace.users, values, strict=True)
            )
    with (folder / "mentions.csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("t", "user"))
        for time, user in zip(trace.mentioned_at, trace.mentioned, strict=True):
            rows.writerow((f"{time:.17g}", trace.users[user]))
    with (folder / "ties.csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("user", "tie"))
        rows.writerows((user, tie) for tie, user in enumerate(trace.users))


def read_trace(folder: Path) -> Trace:
    """The trace of three files. A user's value holds until the user's next snapshot.

    Raises:
        TraceError: a file is missing, a row is not readable, or a user has no first value.
    """
    followers = [
        (user, _number(folder / "followers.csv", line, t), _whole(folder, line, value))
        for line, (user, t, value) in _rows(folder / "followers.csv", ("user", "t", "value"))
    ]
    if not followers:
        raise TraceError(f"{folder / 'followers.csv'} has no rows")
    ties: dict[str, int] = {}
    if (folder / "ties.csv").exists():
        for line, (user, tie) in _rows(folder / "ties.csv", ("user", "tie")):
            ties[user] = int(_number(folder / "ties.csv", line, tie))
    last = max(ties.values(), default=0) + 1
    users = sorted({user for user, _, _ in followers}, key=lambda u: (ties.get(u, last), u))
    place = {user: index for index, user in enumerate(users)}
    times = sorted({t for _, t, _ in followers})
    at = {t: index for index, t in enumerate(times)}
    values = np.zeros((len(times), len(users)), dtype=np.int64)
    known = np.zeros(values.shape, dtype=bool)
    for user, t, value in followers:
        values[at[t], place[user]], known[at[t], place[user]] = value, True
    for index in range(1, len(times)):
        values[index] = np.where(known[index], values[index], values[index - 1])
    if not known[0].all():
        missing = users[int(np.flatnonzero(~known[0])[0])]
        raise TraceError(f"{folder / 'followers.csv'}: {missing} has no value at {times[0]}")
    mentions = sorted(
        (_number(folder / "mentions.csv", line, t), place[user])
        for line, (t, user) in _rows(folder / "mentions.csv", ("t", "user"))
        if user in place  # of the others nothing is asked
    )
    return Trace(
        tuple(users),
        np.array(times),
        values,
        np.array([t for t, _ in mentions], dtype=np.float64),
        np.array([user for _, user in mentions], dtype=np.int64),
    )


def _rows(path: Path, header: tuple[str, ...]) -> Iterator[tuple[int, list[str]]]:
    if not path.exists():
        raise TraceError(f"{path} does not exist; its columns are {','.join(header)}")
    with path.open(newline="") as file:
        rows = csv.reader(file)
        if tuple(next(rows, ())) != header:
            raise TraceError(f"{path}:1: write the header {','.join(header)}")
        for row in rows:
            if len(row) != len(header):
                raise TraceError(f"{path}:{rows.line_num}: {len(row)} columns, not {len(header)}")
            yield rows.line_num, row


def _number(path: Path, line: int, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise TraceError(f"{path}:{line}: {text!r} is not a number") from error


def _whole(folder: Path, line: int, text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise TraceError(
            f"{folder / 'followers.csv'}:{line}: {text!r} is not a whole number"
        ) from error
