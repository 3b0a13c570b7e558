"""Explanations as documents of JSON."""

from __future__ import annotations

from functools import partial
from typing import Any, assert_never

from weir.definitions.definition import Definition
from weir.lake.instants import instant_text
from weir.why.explanation import (
    AbsentAtom,
    Cause,
    Change,
    Derivation,
    Event,
    Explanation,
    Ground,
    Match,
    MovedEvent,
    Part,
    ReadAtom,
    RepeatedAtom,
    Triple,
)
from weir.why.places import Places


def document(
    definition: Definition, epoch: int, cause: str, one: Explanation, places: Places
) -> dict[str, Any]:
    """Why a row changed at an epoch.

    Args:
        definition: whose row it is.
        epoch: the epoch.
        cause: the change set of the epoch.
        one: the explanation.
        places: where what it names is written.
    """
    at = {} if one.instant is None else {"event_time": instant_text(one.instant)}
    return {
        "epoch": epoch,
        "changed by": cause,
        **at,
        **({"correction": one.is_correction} if at else {}),
        "weight": one.weight,
        "row": dict(zip((name for name, _ in definition.columns), one.row, strict=True)),
        "changes": [*map(partial(_cause, places), one.changes)],
        "all_changes": one.is_all,
        "match": one.match and [*map(partial(_part, places), one.match.parts)],
        "whole_match": one.match and one.match.is_all and not one.match.is_beside_stored,
        **_derivation(places, one.match),
    }


def _cause(places: Places, cause: Cause) -> dict[str, Any]:
    match cause:
        case Change():
            place, graph = places.of_change(cause), {"graph": cause.graph}
            return {"weight": cause.weight, **graph, **_triple(cause.triple), **_place(place)}
        case MovedEvent():
            return {"weight": cause.weight, **_part(places, cause.event)}
        case _:
            assert_never(cause)


def _part(places: Places, part: Part) -> dict[str, str]:
    if not isinstance(part, Event):
        return _triple(part)
    at = {"stream": part.stream, "event_time": instant_text(part.instant)}
    return {**_triple(part.triple), **at, **_place(places.of_event(part))}


def _derivation(places: Places, match: Match | None) -> dict[str, Any]:
    """How rules derive a row of a program."""
    if match is None or match.derivation is None:
        return {}
    return {"derivation": _ground(places, match.derivation)}


def _ground(places: Places, ground: Ground) -> dict[str, Any]:
    atom = {"predicate": ground.predicate, "arguments": [*ground.arguments]}
    match ground:
        case Derivation():
            of = [_ground(places, needed) for needed in ground.of]
            return {**atom, **_at(ground.instant), "rule": ground.rule, "of": of}
        case ReadAtom():
            parts = [_part(places, part) for part in ground.parts]
            return {**atom, **_at(ground.instant), "match": parts}
        case AbsentAtom():
            return {**atom, "absent": True}
        case RepeatedAtom():
            return {**atom, **_at(ground.instant), "repeated": True}
        case _:
            assert_never(ground)


def _at(instant: int | None) -> dict[str, str]:
    return {} if instant is None else {"event_time": instant_text(instant)}


def _triple(triple: Triple) -> dict[str, str]:
    return dict(zip(("subject", "predicate", "object"), triple, strict=True))


def _place(place: str) -> dict[str, str]:
    return {"place": place} if place else {}
