"""Random queries over streams: the grammar of the random SPARQL queries in windows, with histories.

A seed gives the same case everywhere.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import pyoxigraph as ox

from tests.support.derived_memory import GIVER
from tests.support.generators.basic_cases import NODES, PREDICATES, Triple
from tests.support.generators.derived_cases import construct_with
from tests.support.generators.grammar import GRAPHS, Writer
from tests.support.generators.grammar_cases import (
    ATTEMPTS,
    departure_of,
    different_answers,
    random_quad,
)
from tests.support.streams.definitions import Meaning
from tests.support.streams.histories import (
    Arriving,
    Declared,
    Epochs,
    GraphChange,
    StreamBatch,
    Tick,
    ingested,
)
from weir.engine.windows import LastElements, SlidingWindow, SteppedWindow, Window
from weir.sparql.algebra.non_empty import where_windows_have_content
from weir.sparql.algebra.queries import Query
from weir.sparql.frontend.errors import QueryError
from weir.sparql.frontend.translate import translate

SECTIONS = 20
"""Of a history: each may have late events, and is a case of its own in kind."""


@dataclass(frozen=True)
class StreamCase:
    """A query over streams and a history.

    Attributes:
        seed: of the case.
        query: RSP-QL.
        oracle_query: SPARQL over a dataset in which each window is a named graph.
        windows: by name.
        streams: the stream of each window.
        epochs: what was ingested.
        corrects_back: as declared.
        departure: why pyoxigraph may depart from the specification here; None if it is the oracle.
        non_empty: whether it has no solutions while all windows are empty.
        construct: a query whose graph the patterns outside of windows read, too; None if none.
    """

    seed: int
    query: str
    oracle_query: str
    windows: Mapping[str, Window]
    streams: Mapping[str, str]
    epochs: Epochs
    corrects_back: int
    departure: str | None
    non_empty: bool = False
    construct: str | None = None

    def parsed(self) -> Query:
        """The algebra of the query."""
        query = _parsed(self.query)
        if self.construct is not None:
            query = replace(query, dataset=replace(query.dataset, derived=(GIVER,)))
        return where_windows_have_content(query) if self.non_empty else query

    def meaning(self) -> Meaning:
        """What the query reads."""
        derive = None if self.construct is None else partial(constructed, self.construct)
        return Meaning(self.windows, self.streams, self.epochs, self.corrects_back, derive)


def constructed(construct: str, triples: frozenset[Triple]) -> frozenset[Triple]:
    """What a query gives of a graph, by pyoxigraph."""
    store = ox.Store()
    for triple in triples:
        line = f"{' '.join(triple)} ."
        store.extend(ox.parse(line.encode(), format=ox.RdfFormat.N_TRIPLES))
    given = store.query(construct)
    assert isinstance(given, ox.QueryTriples)
    return frozenset((str(t.subject), str(t.predicate), str(t.object)) for t in given)


def stream_case(seed: int, sections: int = SECTIONS, late: float = 0.4) -> StreamCase:
    """The case of a seed: of some random queries, mostly the first whose answer changes.

    Args:
        seed: any number.
        sections: of the history.
        late: the share of sections that may have late events.
    """
    rng = random.Random(f"stream {seed}")
    wanted = rng.choices((1, 2, 4), (1, 2, 7))[0]
    best: StreamCase | None = None
    attempts = 0
    while best is None or attempts < ATTEMPTS:
        case = _case(seed, rng, sections, late)
        if case is None:
            continue
        attempts += 1
        best = case
        if different_answers(_answers(case, rng)) >= wanted:
            break
    return best


def _case(seed: int, rng: random.Random, sections: int, late: float) -> StreamCase | None:
    """A case; None if the query is none that is registered."""
    nodes = NODES[: rng.randint(2, len(NODES))]
    pool = sorted({random_quad(rng, nodes)[1:] for _ in range(rng.randint(5, 14))})
    writer = Writer(rng, dict.fromkeys(("", *GRAPHS), pool))
    text = writer.query()
    if "FROM" in text:
        return None
    # Only the names of two graphs are windows; there is no window of a variable name.
    text = re.sub(r"GRAPH (\?\w+|<[^>]*g3>)", lambda _: f"GRAPH {rng.choice(GRAPHS)}", text)
    if "GRAPH" not in text or rng.random() < 0.5:
        name = rng.choice(GRAPHS)
        text = _in_window(text, name, _beside(rng, name))
    used = [name for name in GRAPHS if f"GRAPH {name}" in text]
    streams = {name: rng.choice(("s", "t")) for name in used}
    windows = {name: _window(rng) for name in used}
    clauses = " ".join(
        f"FROM NAMED WINDOW {name} ON <urn:weir:stream:{streams[name]}> {_text(windows[name])}"
        for name in used
    )
    before, body = _cut_at_body(text.replace("GRAPH", "WINDOW"))
    continuous = f"{before}{clauses} {body}"
    try:
        _parsed(continuous)
    except QueryError:
        return None
    return StreamCase(
        seed,
        continuous,
        text,
        windows,
        streams,
        _history(rng, pool, sorted({*streams.values()}), sections, late),
        rng.choice((0, 0, 0, 4, 100)),
        departure_of(text, writer, [("", *triple) for triple in pool]),
        seed % 5 == 0,
        _construct(seed, text) if seed % 3 == 1 else None,
    )


def _construct(seed: int, text: str) -> str:
    """A query that gives a graph with a predicate of another one."""
    rng = random.Random(f"derived {seed}")
    named = [predicate for predicate in PREDICATES if predicate in text]
    return construct_with(rng, rng.choice(named or PREDICATES))


def _cut_at_body(text: str) -> tuple[str, str]:
    """A query's text up to its WHERE, and the rest."""
    at = text.index("{") if text.startswith("ASK") else text.index("WHERE {")
    return text[:at], text[at:]


def _beside(rng: random.Random, name: str) -> str:
    """What may stand beside a window: a pattern over the graph or another window."""
    other = rng.choice([graph for graph in GRAPHS if graph != name])
    pattern = f"?x {rng.choice(PREDICATES)} ?{rng.choice(('y', 'beside'))}"
    forms = (
        "",
        "",
        "",
        f"{pattern} .",
        f"{pattern} .",
        f"OPTIONAL {{ {pattern} }}",
        f"FILTER NOT EXISTS {{ {pattern} }}",
        f"MINUS {{ {pattern} }}",
        f"GRAPH {other} {{ {pattern} }}",
        f"GRAPH {other} {{ {pattern} }}",
        f"OPTIONAL {{ GRAPH {other} {{ {pattern} }} }}",
    )
    return rng.choice(forms)


def _in_window(text: str, name: str, beside: str) -> str:
    """The query with the outermost group in a window, and something beside it."""
    before, body = _cut_at_body(text)
    begin = body.index("{")
    depth = 0
    for end in range(begin, len(body)):
        depth += {"{": 1, "}": -1}.get(body[end], 0)
        if depth == 0:
            break
    inside, after = body[begin : end + 1], body[end + 1 :]
    return f"{before}{body[:begin]}{{ GRAPH {name} {inside} {beside} }}{after}"


def _answers(
    case: StreamCase, rng: random.Random
) -> Iterator[ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples]:
    """The answers over some datasets, by pyoxigraph."""
    events = [epoch for epoch in case.epochs if isinstance(epoch, StreamBatch)]
    triples = sorted({triple for event in events for triple, _ in event.events})
    for _ in range(8):
        store = ox.Store()
        for name in ("", *case.windows):
            for triple in rng.sample(triples, min(len(triples), rng.randint(0, 5))):
                line = f"{' '.join(triple)} {name} ."
                store.extend(ox.parse(line.encode(), format=ox.RdfFormat.N_QUADS))
        yield store.query(case.oracle_query)


def _parsed(query: str) -> Query:
    return translate(query, "union")


def _window(rng: random.Random) -> Window:
    kind = rng.random()
    if kind < 0.25:
        return SlidingWindow(rng.choice((1, 2, 5, 10)))
    if kind < 0.4:
        return LastElements(rng.choice((1, 2, 3, 5)))
    return SteppedWindow(
        width=rng.choice((1, 2, 3, 5, 10)),
        step=rng.choice((1, 2, 3, 5, 7)),
        origin=rng.choice((0, 0, 3, -4, 12)),
        first=rng.choice(("full", "full", "partial")),
        bounds=rng.choice(("[)", "[)", "[)", "(]")),
    )


def _text(window: Window) -> str:
    """Some clause of a window's kind; the parameters are given to the engine directly."""
    return "[ELEMENTS 1]" if isinstance(window, LastElements) else "[RANGE 1s STEP 1s]"


def _history(
    rng: random.Random, pool: list[Triple], streams: list[str], sections: int, late: float
) -> Epochs:
    """Sections of some epochs with late, tied and missing events, and changes of the graph."""
    delays, lateness = (0, 0, 0, 2, 5), (0, 3, 8, 100, 100)
    declared = {name: Declared(rng.choice(delays), rng.choice(lateness)) for name in streams}
    present: frozenset[Triple] = frozenset()
    now = rng.randint(0, 5)
    arriving: list[Arriving] = []
    for _ in range(sections):
        has_late = rng.random() < late
        backward = (-9, -6, -4, -3, -2, -1) if has_late else ()
        for _ in range(rng.randint(2, 5)):
            if rng.random() < 0.25:
                vanish = frozenset(t for t in sorted(present) if rng.random() < 0.3)
                appear = frozenset(rng.sample(pool, min(len(pool), rng.randint(0, 4)))) - present
                time = rng.choice((None, now + rng.randint(-6 if has_late else 0, 4)))
                arriving.append(GraphChange(vanish, appear, time))
                present = (present - vanish) | appear
                continue
            events = tuple(
                (rng.choice(pool), now + rng.choice((*backward, 0, 0, 1, 2, 3)))
                for _ in range(rng.choice((0, 1, 2, 4, 6)))
            )
            stream = rng.choice(streams)
            arriving.append((stream, events) if events else Tick(stream, now + rng.randint(0, 4)))
            now = max([now, *(instant for _, instant in events)])
        now += rng.choice((0, 1, 4, 12))
    return ingested(declared, arriving)
