"""The laws of queries over streams, at every epoch and instant."""

from __future__ import annotations

import gc
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise

import pyoxigraph as ox

from tests.support.generators.basic_cases import Quad
from tests.support.oracles import reference
from tests.support.oracles.answers import FALSE, TRUE, Row, comparable
from tests.support.streams.cases import StreamCase
from tests.support.streams.definitions import Meaning
from tests.support.streams.emitted import Emitted, broken_streams, emit
from tests.support.streams.memory import StreamMemory, StreamRow, state
from tests.support.streams.retention import broken_by_retention
from weir.plan.lower import lower
from weir.plan.plan import Plan
from weir.sparql.algebra.queries import Ask, Dataset, Query

SPLITS = 3
"""Of a history into runs."""
_RETENTION = 4
"""Of so many cases one is also run with old events deleted, which costs as much as the others."""


def broken_laws(case: StreamCase) -> list[str]:
    """Which laws a case breaks, and how; none if all hold."""
    with _without_garbage_collection():
        return _broken_laws(case)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Collect at the end only: trees of SQL are cycles, and a quarter of the time is theirs."""
    # What there is before the case, of all libraries, is not examined at its end.
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.collect()
        gc.unfreeze()


def _broken_laws(case: StreamCase) -> list[str]:
    query = case.parsed()
    plan = lower(query, allow_product=True)
    meaning = case.meaning()
    last = len(case.epochs)
    memory = StreamMemory.of(case, plan)
    memory.run(0, last)
    log, at_once = memory.log(), memory.stored()
    broken = [*_snapshots(case, meaning, query, plan, log), *_local(meaning, log)]
    cuts = sorted(random.Random(case.seed).sample(range(1, last), SPLITS))
    emitted_at_once = emit(memory, 0, last)
    memory.forget()
    emitted: Emitted = defaultdict(list)
    for after, until in pairwise((0, *cuts, last)):
        memory.run(after, until)
        for operator, rows in emit(memory, after, until).items():
            emitted[operator] += rows
    broken += _emitted(case, meaning, log, emitted)
    for operator, rows in emitted_at_once.items():
        if Counter(rows) != Counter(emitted[operator]):
            broken.append(f"{operator}: one run does not emit what runs up to {cuts} do")
    if (cut := memory.stored()) != at_once:
        extra, missing = Counter(cut) - Counter(at_once), Counter(at_once) - Counter(cut)
        broken.append(f"runs up to {cuts}: {[*extra][:4]} too many, {[*missing][:4]} missing")
    if memory.run(last, last):
        broken.append("a run over no epoch has a leg")
    if case.seed % _RETENTION == 0:
        broken += broken_by_retention(case, plan, log)
    return [f"seed {case.seed}: {case.query}: {what}" for what in broken]


def _emitted(
    case: StreamCase, meaning: Meaning, log: list[StreamRow], emitted: Emitted
) -> Iterator[str]:
    if meaning.origin is not None:
        windows = [*case.windows.values()]
        yield from broken_streams(windows, meaning.origin, meaning.horizons, log, emitted)


def _snapshots(
    case: StreamCase, meaning: Meaning, query: Query, plan: Plan, log: list[StreamRow]
) -> Iterator[str]:
    """At every epoch and instant the state of the log is the evaluation on the definitions."""
    columns = [name for name, _ in plan.columns]
    origin = meaning.origin
    if origin is None:
        if log:
            yield "rows before every stream has an event"
        return
    found_at: dict[frozenset[Quad], Counter[Row]] = {}
    # The state of earlier instants is that of the epoch before, in the log and by the definitions.
    evaluated_to = origin - 2
    for epoch in range(1, len(case.epochs) + 1):
        affected = [instant for recorded, instant, *_ in log if recorded == epoch]
        by_definition = meaning.first_affected(epoch)
        if by_definition is not None:
            affected.append(by_definition)
        first = max(origin - 1, min([evaluated_to + 1, *affected]))
        horizon = meaning.horizons[epoch]
        if horizon is None:
            continue
        for instant in range(first, horizon + 1):
            answer = comparable(state(log, epoch, instant))
            expected: Counter[Row] = Counter()
            if instant >= origin:
                quads = meaning.dataset(epoch, instant)
                if quads not in found_at:
                    found_at[quads] = _answer(case, query, quads, columns, answer)
                expected = found_at[quads]
            if answer != expected:
                yield (
                    f"at epoch {epoch} and instant {instant}: {answer - expected} too many,"
                    f" {expected - answer} missing"
                )
                return
        evaluated_to = horizon


def _answer(
    case: StreamCase,
    query: Query,
    quads: frozenset[Quad],
    columns: list[str],
    claimed: Counter[Row],
) -> Counter[Row]:
    """The answer over a dataset in which windows are named graphs, empty or not.

    As in `grammar_laws`, the reference evaluator decides if pyoxigraph's is not the claimed one.
    """
    if case.non_empty and not any(graph for graph, *_ in quads):
        is_ask = isinstance(query.form, Ask)
        return Counter({(FALSE,): 1} if is_ask else {})
    if case.departure is None and by_oxigraph(case, quads, columns) == claimed:
        return claimed
    dataset = Dataset("default", None, tuple(case.windows))
    return comparable(reference.rows(replace(query, dataset=dataset), {*quads}, columns))


def by_oxigraph(case: StreamCase, quads: frozenset[Quad], columns: list[str]) -> Counter[Row]:
    """The answer by pyoxigraph, whether or not it departs from the specification here."""
    store = ox.Store()
    for name in case.windows:
        store.add_graph(ox.NamedNode(name[1:-1]))
    for graph, *triple in quads:
        line = f"{' '.join(triple)} {graph} ."
        store.extend(ox.parse(line.encode(), format=ox.RdfFormat.N_QUADS))
    result = store.query(case.oracle_query)
    match result:
        case ox.QueryBoolean():
            rows: Counter[Row] = Counter({(TRUE if result else FALSE,): 1})
        case ox.QueryTriples():
            rows = Counter({(str(t.subject), str(t.predicate), str(t.object)) for t in result})
        case _:
            rows = Counter(
                tuple(None if row[name] is None else str(row[name]) for name in columns)
                for row in result
            )
    return comparable(rows)


def _local(meaning: Meaning, log: list[StreamRow]) -> Iterator[str]:
    """An epoch records instants up to its horizon only, each row once."""
    for epoch, instant, *_ in log:
        horizon = meaning.horizons[epoch]
        if horizon is None or instant > horizon:
            yield f"epoch {epoch} records the instant {instant}, which was not final"
            return
    if len({(epoch, instant, row) for epoch, instant, _, row in log}) != len(log):
        yield "a row has two weights at one epoch and instant"
