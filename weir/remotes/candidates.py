"""The candidates of an evaluation: the keys that answers depend on, and what ranks them."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.sql import (
    ascending,
    column,
    columns,
    equal,
    left_join,
    one_of,
    rows_of,
    select,
    semi_join,
)
from weir.definitions.services import AskedBlock
from weir.lake.instants import seconds_since_1970
from weir.rdf.numbers import number_of
from weir.remotes.key_rows import mapping_of
from weir.remotes.known_keys import KnownKeys
from weir.remotes.policies.candidates import Candidate
from weir.remotes.policies.change_rate import online_intervals
from weir.remotes.policies.policies import Declared, Rate
from weir.remotes.questions import Block
from weir.remotes.wanted import WANTED
from weir.sparql.algebra.filter_distances import least_distance, top_k_distances

MOST = 200_000
"""Keys that are ranked: of more, those that wait longest."""

Place = tuple[str, str]
"""Pattern and text of a key."""


def places_table(places: Sequence[Place]) -> pa.Table:
    """A table (pattern, key) of some places."""
    patterns, keys = zip(*places, strict=True)
    return pa.table({"pattern": pa.array(patterns), "key": pa.array(keys)})


@dataclass(frozen=True, slots=True)
class Proposed:
    """The candidates of an evaluation.

    Attributes:
        places: pattern and key of each that is ranked, by the name that it has as a candidate.
        candidates: those that are ranked.
        total: by pattern, how many keys there are.
        never: by pattern, how many of them were never answered.
    """

    places: Mapping[str, Place]
    candidates: tuple[Candidate, ...]
    total: Mapping[str, int]
    never: Mapping[str, int]

    def sampled(self, elected: Sequence[Candidate], number: int, seed: int) -> list[Candidate]:
        """At most `number` candidates that were answered before and are not elected, at random."""
        taken = {candidate.key for candidate in elected}
        rest = [
            candidate
            for candidate in self.candidates
            if candidate.asked_at is not None and candidate.key not in taken
        ]
        return random.Random(seed).sample(rest, min(number, len(rest)))


def block_of(asked: AskedBlock) -> Block:
    """What is asked, as requests need it."""
    return Block(asked.remote, asked.pattern, asked.text, asked.variables, asked.certain, asked.key)


def propose(
    engine: Engine,
    known: KnownKeys,
    blocks: Sequence[AskedBlock],
    rate: Rate,
    at: float,
    most: int = MOST,
) -> Proposed:
    """The candidates: the relation `WANTED` with what is known of each key.

    Args:
        engine: has the relations.
        known: what is known of keys.
        blocks: what queries ask of the remote.
        rate: where the change intervals come from.
        at: the time, seconds since 1970.
        most: so many are ranked.
    """
    rows = _rows(engine, known, most)
    total, never = _counts(engine, known)
    intervals = _intervals(rows, rate)
    distances = _distances(engine, known, blocks)
    places: dict[str, Place] = {}
    candidates: list[Candidate] = []
    for row, interval in zip(rows, intervals, strict=True):
        place = row["pattern"], row["key"]
        name = "\n".join(place)
        places[name] = place
        candidates.append(
            Candidate(
                name,
                row["answered_at"],
                None if row["seen"] is None else at - row["seen"] / 1e6,
                interval,
                distances(place),
                row["failures"] or 0,
            )
        )
    return Proposed(places, tuple(candidates), total, never)


_KNOWN = ("answered_at", "failures", "answers", "changes", "seconds")


def _rows(engine: Engine, known: KnownKeys, most: int) -> list[dict[str, Any]]:
    """The keys that are ranked, those that wait longest first; times in seconds since 1970."""
    longest = exp.Ordered(this=column("answered_at", "k"), nulls_first=True)
    query = select(
        *columns(("pattern", "key", "seen"), "w"),
        *columns(_KNOWN, "k"),
        from_=rows_of(WANTED, "w"),
        joins=[_what_is_known(known)],
        order_by=[longest, *map(ascending, columns(("pattern", "key"), "w"))],
        limit=most,
    )
    rows = []
    for values in engine.rows(query):
        row: dict[str, Any] = dict(zip(("pattern", "key", "seen", *_KNOWN), values, strict=True))
        at = row["answered_at"]
        rows.append(row | {"answered_at": None if at is None else seconds_since_1970(at)})
    return rows


def _counts(engine: Engine, known: KnownKeys) -> tuple[dict[str, int], dict[str, int]]:
    """How many keys each pattern has, and how many of them were never answered."""
    query = select(
        column("pattern", "w"),
        exp.Count(this=exp.Star()),
        exp.Count(this=column("answered_at", "k")),
        from_=rows_of(WANTED, "w"),
        joins=[_what_is_known(known)],
        group_by=[column("pattern", "w")],
    )
    counts = [
        (str(name), int(str(all_)), int(str(have))) for name, all_, have in engine.rows(query)
    ]
    return {name: n for name, n, _ in counts}, {name: n - have for name, n, have in counts}


def _what_is_known(known: KnownKeys) -> exp.Join:
    return left_join(rows_of(known.keys, "k"), *equal(["pattern", "key"], "w", "k"))


def _intervals(rows: Sequence[Mapping[str, Any]], rate: Rate) -> list[float | None]:
    """The estimated seconds between changes of each key; None: not known to change."""
    if isinstance(rate, Declared):
        return [rate.interval] * len(rows)
    intervals: list[float | None] = [None] * len(rows)
    of_pattern: dict[str, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        of_pattern[row["pattern"]].append(number)
    for numbers in of_pattern.values():
        observed = (
            np.array([rows[number][name] or 0 for number in numbers], dtype=np.float64)
            for name in ("answers", "changes", "seconds")
        )
        for number, interval in zip(numbers, online_intervals(*observed), strict=True):
            if np.isfinite(interval) and interval > 0:
                intervals[number] = float(interval)
    return intervals


def _distances(
    engine: Engine, known: KnownKeys, blocks: Sequence[AskedBlock]
) -> Callable[[Place], tuple[float | None, ...]]:
    """The distances of a key to what would change an answer: one per FILTER or LIMIT of a query."""
    ruled = [
        asked_block
        for asked_block in dict.fromkeys(blocks)
        if asked_block.bounds or asked_block.top
    ]
    if not ruled:
        return lambda _: ()
    values = _values(engine, known, {asked_block.pattern for asked_block in ruled})
    distances_by_place: dict[Place, list[float | None]] = {}
    width = sum(bool(asked_block.bounds) + (asked_block.top is not None) for asked_block in ruled)
    column_ = 0
    for block in ruled:
        own = {place: rows for place, rows in values.items() if place[0] == block.pattern}
        for distances in _of_block(block, own):
            for place, distance in distances.items():
                distances_by_place.setdefault(place, [None] * width)[column_] = distance
            column_ += 1
    unknown = (None,) * width
    return lambda place: (
        tuple(distances_by_place[place]) if place in distances_by_place else unknown
    )


_Values = Mapping[Place, Sequence[Mapping[str, float]]]
"""The numbers of each mapping of a key, by variable."""


def _of_block(block: AskedBlock, values: _Values) -> Iterator[dict[Place, float | None]]:
    if block.bounds:
        yield {place: least_distance(block.bounds, rows) for place, rows in values.items()}
    if block.top is not None:
        name, best = block.top.variable, max if block.top.descending else min
        firsts = [
            best((row[name] for row in rows if name in row), default=None)
            for rows in values.values()
        ]
        distances = top_k_distances(firsts, block.top.count, block.top.descending)
        yield dict(zip(values, distances, strict=True))


def _values(engine: Engine, known: KnownKeys, patterns: Collection[str]) -> _Values:
    """The numbers that the present mappings of wanted keys bind."""
    query = select(
        *columns(("pattern", "key", "mapping"), "m"),
        from_=rows_of(known.mappings, "m"),
        joins=[semi_join(rows_of(WANTED, "w"), *equal(["pattern", "key"], "m", "w"))],
        where=[one_of(column("pattern", "m"), sorted(patterns))],
    )
    rows_by_place: dict[Place, list[dict[str, float]]] = defaultdict(list)
    for pattern, key, mapping in engine.rows(query):
        numbers = ((name, number_of(term)) for name, term in mapping_of(str(mapping)))
        row = {name: number for name, number in numbers if number is not None}
        rows_by_place[str(pattern), str(key)].append(row)
    return rows_by_place
