"""Random programs: safe, stratified, with recursion through windows but not through arithmetic."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from tests.support.lars.programs import (
    Argument,
    At,
    Comparison,
    Counted,
    Element,
    Expression,
    Program,
    Rule,
    Sum,
    Value,
    Var,
    Window,
)
from tests.support.lars.vocabulary import FACTS, Kind, Read, constant

_VARIABLES: dict[Kind, tuple[Var, ...]] = {
    "name": (Var("X"), Var("Y"), Var("Z")),
    "number": (Var("N"), Var("M")),
}
_TIMES = (Var("T"), Var("T"), Var("U"), Var("N"))


@dataclass(frozen=True)
class Derived:
    """A predicate that rules derive; those of one level may depend on each other."""

    name: str
    kinds: tuple[Kind, ...]
    level: int


class Writer:
    """Writes one program.

    Args:
        rng: decides everything.
        reads: the predicates that it may read.
        points: that `@` may name.
        tuples: whether tuple windows are allowed.
    """

    def __init__(
        self, rng: random.Random, reads: Sequence[Read], points: Sequence[int], *, tuples: bool
    ) -> None:
        self._rng, self._reads, self._points, self._tuples = rng, reads, points, tuples
        self._anonymous = 0
        levels = rng.choice((1, 2, 2, 3))
        self._derived = [
            Derived(f"d{i}", self._kinds(), rng.randrange(levels)) for i in range(rng.randint(2, 5))
        ]

    def program(self) -> Program:
        """The program."""
        rules = []
        for head in self._derived:
            rules.append(self._rule(head, recursive=False))
            rules += [
                self._rule(head, recursive=self._rng.random() < 0.6)
                for _ in range(self._rng.choice((0, 0, 1, 1, 2)))
            ]
        self._rng.shuffle(rules)
        facts = {
            read.atom(self._rng): None
            for read in self._reads
            if read in FACTS
            for _ in range(self._rng.randint(1, 3))
        }
        return Program(tuple(rules), tuple(facts))

    def _kinds(self) -> tuple[Kind, ...]:
        arity = self._rng.choices((0, 1, 2, 3), (2, 5, 4, 1))[0]
        return tuple(self._rng.choice(("name", "name", "number")) for _ in range(arity))

    def _rule(self, head: Derived, *, recursive: bool) -> Rule:
        rng = self._rng
        lower = [atom for atom in self._derived if atom.level < head.level]
        same = [atom for atom in self._derived if atom.level == head.level]
        positive = [self._positive(lower) for _ in range(rng.choice((1, 1, 2, 2, 3)))]
        if recursive:
            at = rng.randrange(len(positive) + 1)
            positive[at : at + 1] = [self._derived_element(rng.choice(same))]
        elif not head.kinds and lower and rng.random() < 0.15:
            positive = []
        bound = _bound(positive)
        compared = self._comparisons(bound)
        computed = [] if recursive else self._computed(bound)
        bound = [
            *bound,
            *(comparison.left for comparison in computed if isinstance(comparison.left, Var)),
        ]
        negated = [
            self._negated(bound, lower)
            for _ in range(rng.choice((0, 0, 0, 1, 1)) if positive else 1)
        ]
        body: list[Element | Comparison] = [*positive, *compared, *computed, *negated]
        rng.shuffle(body)
        return Rule(
            head.name,
            tuple(self._of_kind(kind, bound) for kind in head.kinds),
            self._point(bound),
            tuple(body),
        )

    def _positive(self, lower: Sequence[Derived]) -> Element:
        if lower and self._rng.random() < 0.4:
            return self._derived_element(self._rng.choice(lower))
        return self._read_element(self._rng.choice(self._reads))

    def _read_element(self, read: Read) -> Element:
        rng, arguments = self._rng, tuple(map(self._argument, read.kinds))
        if read.origin != "stream":
            form = rng.choices(("plain", "diamond", "box", "at"), (14, 2, 2, 2))[0]
            return self._element(read.name, arguments, form)
        tuples = self._tuples and rng.random() < 0.3
        forms = ("plain", "diamond", "box", "at", "ever")
        form = rng.choices(forms, (0, 5, 2, 3, 0) if tuples else (5, 8, 4, 6, 1))[0]
        return self._element(read.name, arguments, form, tuples=tuples)

    def _derived_element(self, derived: Derived) -> Element:
        form = self._rng.choices(("plain", "diamond", "box", "at", "ever"), (7, 3, 4, 6, 1))[0]
        return self._element(derived.name, tuple(map(self._argument, derived.kinds)), form)

    def _element(
        self,
        predicate: str,
        arguments: tuple[Argument, ...],
        form: str,
        *,
        tuples: bool = False,
        time: Argument | None = None,
    ) -> Element:
        rng = self._rng
        if form == "plain":
            return Element(predicate, arguments)
        if tuples:
            window = Window(rng.choice((1, 1, 2, 3, 5)), True, self._counted(predicate))
        else:
            window = self._of_points(
                rng.choice((0, 1, 1, 2) if form == "box" else (0, 1, 1, 2, 3, 5))
            )
        if form in ("diamond", "box"):
            return Element(predicate, arguments, window, form)
        if time is None:
            time = rng.choice(self._points) if rng.random() < 0.1 else rng.choice(_TIMES)
        return Element(predicate, arguments, None if form == "ever" else window, At(time))

    def _of_points(self, size: int) -> Window:
        """A window that slides, hops or tumbles."""
        rng = self._rng
        if rng.random() < 0.65:
            return Window(size)
        after = rng.choice((0, 0, 1, 2))
        step = size + after + 1 if rng.random() < 0.5 else rng.choice((1, 2, 3, 4, 6))
        return Window(size, after=min(after, step - 1), step=step)

    def _counted(self, predicate: str) -> tuple[Counted, ...]:
        """What a window counts: mostly all, else atoms of the stream with the predicate."""
        rng = self._rng
        if rng.random() < 0.5:
            return ()
        of_stream = [read for read in self._reads if read.origin == "stream"]
        chosen = [read for read in of_stream if read.name == predicate or rng.random() < 0.25]
        return tuple(Counted(read.name, self._some(read, predicate)) for read in chosen)

    def _some(self, read: Read, predicate: str) -> tuple[Value | None, ...] | None:
        """Mostly any atoms of a predicate; if no rule may read it, as many arguments as it has."""
        rng = self._rng
        is_known = read.name == predicate or read.declared
        if not read.kinds or (is_known and rng.random() < 0.6):
            return None
        return tuple(constant(rng, kind) if rng.random() < 0.5 else None for kind in read.kinds)

    def _argument(self, kind: Kind) -> Argument:
        chance = self._rng.random()
        if chance < 0.1:
            return constant(self._rng, kind)
        if chance < 0.17:
            self._anonymous += 1
            return Var(f"_{self._anonymous}")
        if chance < 0.2:
            kind = self._rng.choice(("name", "number"))
        if kind == "number" and chance > 0.85:
            return Var("T")
        return self._rng.choice(_VARIABLES[kind])

    def _negated(self, bound: Sequence[Var], lower: Sequence[Derived]) -> Element:
        rng = self._rng
        choices: list[Read | Derived] = [*self._reads, *lower, *lower]
        chosen_atom = rng.choice(choices)
        arguments = tuple(self._of_kind(kind, bound) for kind in chosen_atom.kinds)
        times = [variable for variable in bound if variable.name in ("T", "U", "N", "S")]
        time: Argument = rng.choice(times) if times else rng.choice(self._points)
        is_stream = isinstance(chosen_atom, Read) and chosen_atom.origin == "stream"
        tuples = self._tuples and is_stream and rng.random() < 0.25
        forms = ("diamond", "box", "at") if tuples else ("plain", "plain", "diamond", "box", "at")
        chosen = self._element(
            chosen_atom.name, arguments, rng.choice(forms), tuples=tuples, time=time
        )
        return Element(
            chosen.predicate, chosen.arguments, chosen.window, chosen.modality, negated=True
        )

    def _comparisons(self, bound: Sequence[Var]) -> list[Comparison]:
        rng = self._rng
        if not bound or rng.random() < 0.7:
            return []
        left = rng.choice(bound)
        kind: Kind = "name" if left in _VARIABLES["name"] else "number"
        # Names have no order; sometimes they are compared all the same.
        symbols = ("=", "!=", "!=", "!=") if kind == "name" and rng.random() < 0.9 else _SYMBOLS
        if rng.random() < 0.5:
            return [Comparison(rng.choice(symbols), left, constant(rng, kind))]
        right: Expression = rng.choice(
            [variable for variable in bound if variable != left] or bound
        )
        if kind == "number" and rng.random() < 0.5:
            right = Sum(rng.choice("+-*"), right, rng.choice((1, 2)))
        return [Comparison(rng.choice(symbols), left, right)]

    def _computed(self, bound: Sequence[Var]) -> list[Comparison]:
        """`S = N + 1`: S is in no atom that is not negated."""
        rng = self._rng
        numbers = [variable for variable in bound if variable not in _VARIABLES["name"]]
        if not numbers or rng.random() < 0.75:
            return []
        value = Sum(rng.choice("++-*"), rng.choice(numbers), rng.choice((1, 1, 2, -1)))
        return [Comparison("=", Var("S"), value)]

    def _of_kind(self, kind: Kind, bound: Sequence[Var]) -> Argument:
        """A bound variable of a kind, if there is one."""
        fitting = [
            variable for variable in bound if (variable in _VARIABLES["name"]) == (kind == "name")
        ]
        if fitting and self._rng.random() < 0.93:
            return self._rng.choice(fitting)
        if bound and self._rng.random() < 0.2:
            return self._rng.choice(bound)
        return constant(self._rng, kind)

    def _point(self, bound: Sequence[Var]) -> Argument | None:
        """The point of the head, None for a plain head."""
        times = [variable for variable in bound if variable.name in ("T", "U", "S", "S")]
        if times and self._rng.random() < 0.6:
            return self._rng.choice(times)
        if self._rng.random() < 0.04:
            return self._rng.choice(self._points)
        return None


_SYMBOLS = ("=", "!=", "!=", "<", "<=", ">", ">=", ">=")


def _bound(elements: Sequence[Element]) -> list[Var]:
    """The variables that atoms give values to, each once, without those of `_`."""
    variables: dict[Var, None] = {}
    for element in elements:
        times = (element.modality.point,) if isinstance(element.modality, At) else ()
        for argument in (*element.arguments, *times):
            if isinstance(argument, Var) and not argument.name.startswith("_"):
                variables[argument] = None
    return [*variables]
