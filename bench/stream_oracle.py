"""What an answer over windows must be: pyoxigraph over the content that the definitions give.

[RANGE R STEP S]   at the last close c up to t: the triples of events in [c - R, c)
[RANGE R]          those of (t - R, t]
[ELEMENTS n]       those of the last n events up to t
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pyoxigraph as ox
from deltalake import DeltaTable

from bench.oracle import Row, canonical, shown
from weir.lake.tables import ANSWER_COLUMNS

_WINDOW = re.compile(r"FROM NAMED WINDOW (\S+) ON \S+ \[(RANGE|ELEMENTS) (\S+?)(?: STEP (\S+))?\]")
_DURATION = re.compile(r"PT(\d+)([HMS])")
_SECONDS = {"H": 3600, "M": 60, "S": 1}


@dataclass(frozen=True, slots=True)
class Event:
    """A triple in N-Triples form and the second, since 1970, at which it happened."""

    second: int
    triple: str


def answer_by_definition(text: str, events: Sequence[Event], graph: str, at: int) -> Counter[Row]:
    """The answer of a query at a second.

    Args:
        text: SELECT or CONSTRUCT, with windows in the spelling of this benchmark's queries.
        events: of the one stream, in the order of time and arrival.
        graph: the graph as N-Triples.
        at: the second; a window with a step has closed at the last multiple of it.
    """
    store = ox.Store()
    store.load(graph.encode(), format=ox.RdfFormat.N_TRIPLES)
    for name, kind, size, step in _WINDOW.findall(text):
        iri = name.replace("ex:", "http://example.org/")
        content = {event.triple for event in _content(events, kind, size, step, at)}
        lines = "".join(f"{triple} <{iri}> .\n" for triple in content)
        store.load(lines.encode(), format=ox.RdfFormat.N_QUADS)
    plain = _WINDOW.sub("", text).replace("WINDOW ", "GRAPH ")
    result = store.query(plain)
    match result:
        case ox.QuerySolutions():
            names = sorted(variable.value for variable in result.variables)
            return Counter(
                tuple("" if (term := solution[name]) is None else shown(term) for name in names)
                for solution in result
            )
        case ox.QueryTriples():
            # In the order of the names: object, predicate, subject.
            return Counter({(shown(t.object), str(t.predicate), str(t.subject)) for t in result})
        case _:
            raise ValueError(f"ASK has no rows: {text}")


def _content(events: Sequence[Event], kind: str, size: str, step: str, at: int) -> Sequence[Event]:
    if kind == "ELEMENTS":
        return [event for event in events if event.second <= at][-int(size) :]
    width = _seconds(size)
    if not step:
        return [event for event in events if at - width < event.second <= at]
    close = at // _seconds(step) * _seconds(step)
    return [event for event in events if close - width <= event.second < close]


def _seconds(duration: str) -> int:
    parts = _DURATION.fullmatch(duration)
    assert parts is not None, "the benchmark's own queries"
    return int(parts[1]) * _SECONDS[parts[2]]


def published_at(lake: Path, query: str, at: int) -> Counter[Row]:
    """The published rows of an answer at a second, columns in the order of their names."""
    table = DeltaTable(lake / "answers" / query).to_pyarrow_dataset().to_table()
    names = sorted(name for name in table.column_names if name not in ANSWER_COLUMNS)
    limit = datetime.fromtimestamp(at, UTC)
    rows: Counter[Row] = Counter()
    for row in table.to_pylist():
        time = row["event_time"]
        if (time if time.tzinfo else time.replace(tzinfo=UTC)) <= limit:
            terms = ("" if row[name] is None else canonical(row[name]) for name in names)
            rows[tuple(terms)] += row["weight"]
    return Counter({row: count for row, count in rows.items() if count})
