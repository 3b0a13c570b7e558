"""In which order change sets are taken in and queries maintained, so that a run has one epoch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.histories import Singles
from bench.steps import Maintain, Publish, Step, Take, Tidy, copies_of

EPOCH, SINGLE, ANEW = "an epoch", "a triple", "anew"
"""What runs are kept as."""


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
            steps.append(Take(tuple(changes[taken:number])))
        steps += [Maintain(query) for query in measured if stands[query] < number]
        steps += [Tidy(), Take((changes[number],))]
        steps += [Maintain(query, EPOCH) for query in measured]
        taken = number + 1
        stands |= dict.fromkeys(measured, taken)
    if taken < len(changes):
        steps.append(Take(tuple(changes[taken:])))
    return [*steps, *(Maintain(query) for query in touching if stands[query] < len(changes))]


def single_steps(singles: Singles, queries: Sequence[str], copies: int) -> list[Step]:
    """Measure each query on changes of one triple, then from nothing; publish all.

    The queries take turns, so that what else the machine does meets all of them.

    Args:
        singles: a round of pairs for the warm-up, one per query, then rounds that count.
        queries: in the order of the pairs of a round.
        copies: how often each is computed from nothing.
    """
    steps: list[Step] = [Take((change,)) for change in singles.first]
    for index, pair in enumerate(singles.pairs):
        query = queries[index % len(queries)]
        kept_as = SINGLE if index >= len(queries) else ""
        steps += [Tidy(), Maintain(query)]
        for change in pair:
            steps += [Take((change,)), Maintain(query, kept_as)]
    names = {query: copies_of(query, copies) for query in queries}
    for number in range(copies):
        steps += [Tidy(), *(Maintain(names[query][number], ANEW) for query in queries)]
    steps += [Maintain(query) for query in queries]
    return [*steps, Publish((*queries, *(names[query][0] for query in queries)))]
