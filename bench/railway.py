"""Railways of any size with some faults, and change sets that inject and repair faults.

What a railway is, which six faults it may have and how they are injected and repaired follows the
description of the Train Benchmark: G. Szárnyas, B. Izsó, I. Ráth, D. Varró, The Train Benchmark:
cross-technology performance evaluation of continuous model queries, Software & Systems Modeling
17 (2018). Sizes, names and chances are of this module.

Routes follow each other in a circle. Each has sensors, each of these a chain of segments that ends
with a switch; the semaphore at the exit of a route is that at the entry of the next.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

NAMESPACE = "http://railway/"
TRIPLES_OF_ROUTE = 90
"""About so many has a route with all that belongs to it."""
FAULT = 0.01
"""How probable a fault is where one can be."""
_XSD = "http://www.w3.org/2001/XMLSchema#"
_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_POSITIONS = ("straight", "left", "right")

Triple = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Change:
    """A change set: triples that vanish, and triples that appear."""

    vanish: tuple[Triple, ...] = ()
    appear: tuple[Triple, ...] = ()

    @property
    def patch(self) -> str:
        """As RDF Patch."""
        lines = [f"{sign} {text(triple)}\n" for sign, triple in self._signed()]
        return f"TX .\n{''.join(lines)}TC .\n"

    def _signed(self) -> Iterator[tuple[str, Triple]]:
        yield from (("D", triple) for triple in self.vanish)
        yield from (("A", triple) for triple in self.appear)


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that can be injected.

    Attributes:
        inject: the change set that makes it.
        repair: the change set that removes it again.
    """

    inject: Change
    repair: Change


@dataclass(frozen=True, slots=True)
class Railway:
    """A railway with so many routes."""

    routes: int

    def triples(self) -> Iterator[Triple]:
        """All of them, the same every time."""
        for number in range(self.routes):
            yield from self._route(number)

    def faults(self, count: int) -> Mapping[str, Sequence[Fault]]:
        """So many of each kind, by its name; no two of them on one route."""
        numbers = random.Random(self.routes).sample(range(self.routes), self.routes)
        faults: dict[str, list[Fault]] = {name: [] for name in _FAULTS}
        for number in numbers:
            wanted = [name for name in faults if len(faults[name]) < count]
            if not wanted:
                return faults
            route = _Route(number, [*self._route(number)])
            for name in wanted:
                if (fault := _FAULTS[name](route)) is not None:
                    faults[name].append(fault)
                    break
        raise ValueError(f"{self.routes} routes are too few for {count} faults of each kind")

    def note(self, number: int) -> Change:
        """A change set that concerns no fault."""
        noted = (_iri("route", number % self.routes), _name("note"), f'"seen {number} times"')
        return Change(appear=(noted,))

    def _route(self, number: int) -> Iterator[Triple]:
        chance = random.Random(number)
        route, following = _iri("route", number), (number + 1) % self.routes

        def is_fault() -> bool:
            return chance.random() < FAULT

        def of(subject: str, kind: str, **values: str) -> Iterator[Triple]:
            yield subject, _TYPE, _name(kind)
            for name, value in values.items():
                yield subject, _name(name), value

        semaphore = _iri("semaphore", number)
        yield from of(semaphore, "Semaphore", signal=f'"{chance.choice(["go", "stop"])}"')
        active = f'"{str(chance.random() < 0.8).lower()}"^^<{_XSD}boolean>'
        yield from of(route, "Route", active=active, exit=_iri("semaphore", following))
        if not is_fault():
            yield route, _name("entry"), semaphore
        sensors = chance.randint(2, 5)
        for place in range(sensors):
            sensor = _iri("sensor", number, place)
            yield from of(sensor, "Sensor")
            if not is_fault():
                yield route, _name("requires"), sensor
            segments = 6 if is_fault() else chance.randint(2, 5)
            switch = _iri("switch", number, place)
            for segment in range(segments):
                length = -chance.randrange(10) if is_fault() else chance.randint(1, 999)
                last = segment == segments - 1
                following_element = switch if last else _iri("segment", number, place, segment + 1)
                yield from of(
                    _iri("segment", number, place, segment),
                    "Segment",
                    length=_integer(length),
                    connectsTo=following_element,
                    monitoredBy=sensor,
                )
            next_place = (number, place + 1) if place + 1 < sensors else (following, 0)
            position = chance.choice(_POSITIONS)
            yield from of(
                switch,
                "Switch",
                currentPosition=f'"{position}"',
                connectsTo=_iri("segment", *next_place, 0),
            )
            if not is_fault():
                yield switch, _name("monitoredBy"), sensor
            demanded = _other(position) if is_fault() else position
            switch_position = _iri("position", number, place)
            yield from of(
                switch_position, "SwitchPosition", target=switch, position=f'"{demanded}"'
            )
            yield route, _name("follows"), switch_position


def text(triple: Triple) -> str:
    """As a line of N-Triples."""
    return f"{' '.join(triple)} ."


@dataclass(frozen=True, slots=True)
class _Route:
    """A route and what belongs to it."""

    number: int
    triples: Sequence[Triple]

    def the(self, predicate: str) -> Sequence[Triple]:
        """The triples with a predicate."""
        return [triple for triple in self.triples if triple[1] == _name(predicate)]

    def of(self, subject: str, predicate: str) -> Triple | None:
        """The triple of a subject with a predicate."""
        return next((t for t in self.the(predicate) if t[0] == subject), None)


def _length(route: _Route) -> Fault | None:
    """A segment gets the length 0; its repair, 1."""
    segment, predicate, length = route.the("length")[0]
    none, one = ((segment, predicate, _integer(number)) for number in (0, 1))
    if length.startswith(('"-', '"0')) or length == one[2]:
        return None
    return Fault(Change(((segment, predicate, length),), (none,)), Change((none,), (one,)))


def _unmonitored(route: _Route) -> Fault | None:
    """A switch loses its sensor; its repair is a new sensor."""
    monitored = route.of(_iri("switch", route.number, 0), "monitoredBy")
    if monitored is None:
        return None
    sensor = _iri("sensor", route.number, "new")
    repair = ((sensor, _TYPE, _name("Sensor")), (monitored[0], monitored[1], sensor))
    return Fault(Change(vanish=(monitored,)), Change(appear=repair))


def _not_required(route: _Route) -> Fault | None:
    """A route no longer requires a sensor of one of its switches; its repair, that it does."""
    required = (_iri("route", route.number), _name("requires"), _iri("sensor", route.number, 0))
    is_monitored = route.of(_iri("switch", route.number, 0), "monitoredBy") is not None
    if required not in route.triples or not is_monitored:
        return None
    return Fault(Change(vanish=(required,)), Change(appear=(required,)))


def _not_set(route: _Route) -> Fault | None:
    """A switch of an active route, whose entry shows go, moves; its repair, back."""
    switch, predicate, position = route.the("currentPosition")[0]
    demanded = route.of(_iri("position", route.number, 0), "position")
    shows_go = route.the("signal")[0][2] == '"go"' and route.the("entry")
    is_active = route.the("active")[0][2].startswith('"true')
    if not (shows_go and is_active and demanded is not None and demanded[2] == position):
        return None
    here, there = (
        (switch, predicate, value) for value in (position, f'"{_other(position.strip(chr(34)))}"')
    )
    return Fault(Change((here,), (there,)), Change((there,), (here,)))


def _long_chain(route: _Route) -> Fault | None:
    """A sensor with five segments gets a sixth; its repair, without it."""
    switch, sensor = _iri("switch", route.number, 0), _iri("sensor", route.number, 0)
    segments = [s for s, _, o in route.the("monitoredBy") if o == sensor and s != switch]
    if len(segments) != 5:
        return None
    new, connects = _iri("segment", route.number, 0, "new"), _name("connectsTo")
    before = (segments[-1], connects, switch)
    after = (
        (segments[-1], connects, new),
        (new, _TYPE, _name("Segment")),
        (new, _name("length"), _integer(100)),
        (new, connects, switch),
        (new, _name("monitoredBy"), sensor),
    )
    return Fault(Change((before,), after), Change(after, (before,)))


def _no_entry(route: _Route) -> Fault | None:
    """A route loses the semaphore at its entry; its repair, the same one."""
    entry = route.the("entry")
    if not entry:
        return None
    return Fault(Change(vanish=(entry[0],)), Change(appear=(entry[0],)))


_FAULTS: Mapping[str, Callable[[_Route], Fault | None]] = {
    "PosLength": _length,
    "SwitchMonitored": _unmonitored,
    "RouteSensor": _not_required,
    "SwitchSet": _not_set,
    "ConnectedSegments": _long_chain,
    "SemaphoreNeighbor": _no_entry,
}


def _iri(kind: str, *numbers: int | str) -> str:
    return f"<{NAMESPACE}{kind}/{'-'.join(map(str, numbers))}>"


def _name(name: str) -> str:
    return f"<{NAMESPACE}{name}>"


def _integer(number: int) -> str:
    return f'"{number}"^^<{_XSD}integer>'


def _other(position: str) -> str:
    return _POSITIONS[(_POSITIONS.index(position) + 1) % len(_POSITIONS)]
