"""The order of ingesting change sets and maintaining queries, so that a run has one epoch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.histories import Singles
from bench.steps import Compact, Ingest, Maintain, Publish, Step, copies_of

EPOCH, SINGLE, FROM_SCRATCH = "an epoch", "a triple", "from scratch"
"""What a run measures."""


def history_steps(
    touching: Mapping[str, Sequence[int]], changes: Sequence[Path], first: int
) -> list[Step]:
    """Measure each query on its own change sets of a history, and bring all to its end.

    Before such a change set the query is brought up to date, without being measured.

    Args:
        touching: by query the numbers of its change sets in `changes`.
        changes: all change sets.
        first: how many of them the lake has.
    """
    steps: list[Step] = [Maintain(query) for query in touching]
    stands = dict.fromkeys(touching, first)
    taken = first
    for number in sorted({number for numbers in touching.values() for number in numbers}):
        measured = [query for query, numbers in touching.items() if number in numbers]
        if taken < number:
            steps.append(Ingest(tuple(changes[taken:number])))
        steps += [Maintain(query) for query in measured if stands[query] < number]
        steps += [Compact(), Ingest((changes[number],))]
        steps += [Maintain(query, EPOCH) for query in measured]
        taken = number + 1
        stands |= dict.fromkeys(measured, taken)
    if taken < len(changes):
        steps.append(Ingest(tuple(changes[taken:])))
    return [*steps, *(Maintain(query) for query in touching if stands[query] < len(changes))]


def single_steps(singles: Singles, queries: Sequence[str], copies: int) -> list[Step]:
    """Measure each query on changes of one triple, then from scratch; publish all.

    The queries take turns, so that other load on the machine affects all of them.

    Args:
        singles: a round of pairs for the warm-up, one per query, then rounds that count.
        queries: in the order of the pairs of a round.
        copies: how often each is computed from scratch.
    """
    steps: list[Step] = [Ingest((change,)) for change in singles.first]
    for index, pair in enumerate(singles.pairs):
        query = queries[index % len(queries)]
        measured_as = SINGLE if index >= len(queries) else ""
        steps += [Compact(), Maintain(query)]
        for change in pair:
            steps += [Ingest((change,)), Maintain(query, measured_as)]
    names = {query: copies_of(query, copies) for query in queries}
    for number in range(copies):
        steps += [Compact(), *(Maintain(names[query][number], FROM_SCRATCH) for query in queries)]
    steps += [Maintain(query) for query in queries]
    return [*steps, Publish((*queries, *(names[query][0] for query in queries)))]
