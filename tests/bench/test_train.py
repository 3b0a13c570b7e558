"""The scenario train: faults are injected and repaired, and all sides find the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyoxigraph as ox
import pytest

from bench import train
from bench.railway import Change, Fault, Railway, Triple
from bench.train import QUERIES, Train

QUERY_OF = {
    "PosLength": "pos_length",
    "SwitchMonitored": "switch_monitored",
    "RouteSensor": "route_sensor",
    "SwitchSet": "switch_set",
    "ConnectedSegments": "connected_segments",
    "SemaphoreNeighbor": "semaphore_neighbor",
}
_RAILWAY = Railway(120)


def _quads(triples: Iterable[Triple]) -> list[ox.Quad]:
    text = "".join(f"{' '.join(triple)} .\n" for triple in triples)
    return [*ox.parse(text.encode(), ox.RdfFormat.N_TRIPLES)]


def _apply(store: ox.Store, change: Change) -> None:
    for quad in _quads(change.vanish):
        assert quad in store
        store.remove(quad)
    appear = _quads(change.appear)
    assert not any(quad in store for quad in appear)
    store.extend(appear)


def _faults(store: ox.Store) -> Counter[str]:
    counts: Counter[str] = Counter()
    for kind, query in QUERY_OF.items():
        solutions = store.query((QUERIES / f"{query}.rq").read_text())
        assert isinstance(solutions, ox.QuerySolutions)
        counts[kind] = sum(1 for _ in solutions)
    return counts


@pytest.mark.parametrize("kind", QUERY_OF)
def test_a_change_set_injects_a_fault_of_its_kind_and_one_repairs_it(kind: str) -> None:
    store = ox.Store()
    store.extend(_quads(_RAILWAY.triples()))
    before = _faults(store)
    for fault in _RAILWAY.faults(2)[kind]:
        _apply(store, fault.inject)
        assert _faults(store)[kind] > before[kind]
        _apply(store, fault.repair)
        assert _faults(store)[kind] == before[kind]


def test_a_note_is_no_fault_and_repairs_none() -> None:
    store = ox.Store()
    store.extend(_quads(_RAILWAY.triples()))
    before = _faults(store)
    _apply(store, _RAILWAY.note(3))
    assert _faults(store) == before


def test_weir_and_all_validators_and_pyoxigraph_find_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Railway.faults

    def few(railway: Railway, count: int) -> Mapping[str, Sequence[Fault]]:
        return {"SwitchSet": whole(railway, count)["SwitchSet"]}

    monkeypatch.setattr(train, "WORK", tmp_path)
    monkeypatch.setattr(Railway, "faults", few)
    scenario = Train(6_000, lambda _: None).run()
    assert len(scenario.rows) == len(QUERY_OF) + 2
    assert all(rows.agree for rows in scenario.rows)
    assert len(scenario.summary[1]) == len(scenario.summary[0])
    assert not scenario.full
