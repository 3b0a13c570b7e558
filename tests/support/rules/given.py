"""Written programs with histories, of kinds that random ones rarely are."""

from __future__ import annotations

from tests.support.lars.notation import read_program
from tests.support.lars.programs import GroundAtom
from tests.support.rules.cases import RuleCase
from tests.support.rules.vocabulary import NAMES, declared_for, triples
from tests.support.streams.histories import Epochs, GraphChange, StreamBatch
from weir.lars import program as checked
from weir.rules.points import PointAxis

_PROGRAMS: dict[str, str] = {
    # At 2, the atom at 1 is known before the one at 2.
    "a box over what two rounds have derived": """
        @T q(X) <- win^9 @T p2(X,1).
        @T q(X) <- win^9 @U q(X), win^9 @T p2(X,2).
        full(X) <- win^1 box q(X).
        @T q(X) <- full(X), win^9 @T p2(X,3).
    """,
    "two literals of one rule that need what different rounds have derived": """
        q(X,Y) <- win^3 diamond p2(X,Y).
        q(X,Z) <- q(X,Y), q(Y,Z).
    """,
    "a second literal whose atoms are derived later than those of the first": """
        q(X) <- win^2 diamond p2(X,1).
        r(X) <- q(X).
        s(X) <- q(X), r(X).
        q(X) <- s(X).
    """,
    "atoms that are derived for points before the start": """
        @N q(X) <- win^9 @T p2(X,1), N = T - 3.
        r(X,T) <- win^9 @T q(X).
        s(X) <- win^9 box q(X).
    """,
    "an atom that a box would let support itself": """
        q(X) <- p2(X,1).
        q(X) <- win^1 box q(X).
    """,
    "windows that hop": """
        @T q(X) <- win^(1,1) step 3 @T p2(X,Y).
        r(X) <- win^2 step 3 diamond p2(X,Y).
        full(X) <- win^(0,2) step 4 box q(X).
        last(X) <- win^1 step 2 diamond r(X), not win^1 step 3 box q(X).
        at(X,T) <- win^(2,1) step 4 @T r(X).
    """,
    "windows that count some tuples": """
        q(X,Y) <- win^#2{p2(a,_)} diamond p2(X,Y).
        r(Y) <- win^#2{o1(3),p2(a,_)} @T o1(Y), T > 1.
        s(X) <- win^#1{p2} box p2(X,Y).
    """,
    "a stratum of atoms at their points, and negation above it": """
        @T q(X) <- win^4 @T p2(X,1).
        @T r(X) <- win^2 @T q(X), win^2 box q(X).
        @T q(X) <- win^1 @T r(X).
        s(X) <- win^4 diamond q(X), not r(X).
    """,
}
_EVENTS: tuple[tuple[tuple[int, GroundAtom], ...], ...] = (
    ((1, ("p2", ("a", 1))), (1, ("p2", (1, 2))), (2, ("p2", ("a", 2)))),
    (
        (3, ("p2", ("a", 3))),
        (3, ("p2", (2, 3))),
        (3, ("p2", (3, 4))),
        (4, ("p2", ("a", 1))),
    ),
    ((2, ("p2", ("a", 1))), (6, ("p2", (3, 1))), (7, ("p2", ("a", 2)))),
)
_LATE_GRAPH = "a change of the graph in the middle of a point that is final"
GIVEN = (*_PROGRAMS, _LATE_GRAPH)
"""The names of the cases."""


def given_case(name: str) -> RuleCase:
    """The case of a name."""
    if name == _LATE_GRAPH:
        return _case(name, "q(X) <- p1(X), g1(X).", _late_graph(), PointAxis(10), 100)
    return _case(name, _PROGRAMS[name], _late_event(), PointAxis(), 0)


def _case(name: str, text: str, epochs: Epochs, axis: PointAxis, corrects_back: int) -> RuleCase:
    program = read_program(text)
    declarations = checked.Declarations(("s",), {"": NAMES}, declared_for(program))
    known = checked.read_program(text, declarations)
    return RuleCase(GIVEN.index(name), program, known, epochs, axis, corrects_back)


def _late_graph() -> Epochs:
    """Points of ten instants: the graph changes at 25 when those before 40 are final."""
    events = tuple((triple, at) for at in (5, 21, 27, 33) for triple in triples("p1", "a"))
    appears = frozenset(triples("g1", "a"))
    return (
        StreamBatch("s", events, 40),
        GraphChange(frozenset(), appears, 25),
        StreamBatch("s", (), 60),
    )


def _late_event() -> Epochs:
    """The last epoch with events has a late one."""
    epochs = []
    frontier = 0
    for events in _EVENTS:
        frontier = max(frontier, *(point + 1 for point, _ in events))
        made = [(triple, at) for at, (kind, values) in events for triple in triples(kind, *values)]
        epochs.append(StreamBatch("s", tuple(made), frontier))
    epochs.append(StreamBatch("s", (), frontier + 5))
    return tuple(epochs)
