"""Answer streams and outputs by Definitions 1 to 6, point by point and rule by rule.

Bazoobandi, Beck, Urbani: Expressive Stream Reasoning with Laser, 2017, section 2. `v` is the
evaluation function of an interpretation stream, and of its windows: a set of atoms by point. A
point that `v` does not have belongs to the timeline all the same, with no atom.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from tests.support.lars.programs import (
    Argument,
    At,
    Comparison,
    Counted,
    Element,
    Expression,
    GroundAtom,
    Program,
    Rule,
    Sum,
    Value,
    Var,
    Window,
    variables,
)

Tuple = TypeVar("Tuple", bound=Hashable)
Substitution = Mapping[str, Value]
Evaluation = Mapping[int, Collection[GroundAtom]]

_SYMBOLS: Mapping[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_OPERATORS: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}


@dataclass(frozen=True)
class DataStream(Generic[Tuple]):
    """A data stream with the timeline [first, last].

    Attributes:
        first, last: the timeline.
        tuples: at each point what arrived, in order, each once. Tuple windows count these.
        atoms_of: the atoms that tuples of one point make; usually each is one.
        counts: whether a tuple is one of those that make some atoms.
    """

    first: int
    last: int
    tuples: Mapping[int, Sequence[Tuple]]
    atoms_of: Callable[[Collection[Tuple]], Collection[GroundAtom]]
    counts: Callable[[Counted, Tuple], bool]


def is_counted(counted: Counted, atom: GroundAtom) -> bool:
    """Whether an atom is one of some atoms, of a stream whose tuples are atoms."""
    predicate, values = atom
    if counted.arguments is None:
        return predicate == counted.predicate
    return predicate == counted.predicate and fits(counted.arguments, values)


def fits(wanted: Sequence[Value | None], values: Sequence[Value]) -> bool:
    """Whether values are those that are wanted; None is any."""
    return all(a is None or a == b for a, b in zip(wanted, values, strict=True))


@dataclass
class Structure(Generic[Tuple]):
    """An interpretation stream over a data stream, with background data (section 2.1).

    Attributes:
        data: the data stream; its last point is that of the evaluation.
        background: atoms that hold at every point.
        derived: the intensional atoms by point.
    """

    data: DataStream[Tuple]
    background: Collection[GroundAtom]
    derived: dict[int, set[GroundAtom]] = field(default_factory=dict)

    def window(self, window: Window | None) -> tuple[range, Evaluation]:
        """The points and the evaluation function of a window at the last point.

        None is the whole stream.
        """
        data = self.data
        if window is None:
            return self._points(data.first, data.last)
        if not window.tuples:
            # Beck et al. 2015, the time-based window of l = size, u = after and d = step.
            pivot = data.last - data.last % (window.step or 1)
            begin = max(data.first, pivot - window.size)
            return self._points(begin, min(pivot + window.after, data.last))
        # The filter comes first: the window is one of the stream of the tuples that count.
        tuples = {
            u: [
                tuple_
                for tuple_ in of_point
                if not window.counted or any(data.counts(c, tuple_) for c in window.counted)
            ]
            for u, of_point in data.tuples.items()
        }

        def count(begin: int) -> int:
            return sum(len(tuples.get(u, ())) for u in range(begin, data.last + 1))

        # Definition 4: the shortest window with enough tuples, from t1 if there are too few.
        points = range(data.first, data.last + 1)
        begin = max([*(u for u in points if count(u) >= window.size), data.first])
        too_many = max(0, count(begin) - window.size)
        tuples[begin] = tuples.get(begin, [])[too_many:]
        inside = range(begin, data.last + 1)
        # Nothing that is derived is a tuple.
        return inside, {u: {*data.atoms_of(tuples[u])} for u in inside if tuples.get(u)}

    def _points(self, first: int, last: int) -> tuple[range, Evaluation]:
        points, data = range(first, last + 1), self.data
        return points, {
            u: {*data.atoms_of(data.tuples.get(u, ())), *self.derived.get(u, ())} for u in points
        }

    def holds(self, element: Element, by: Substitution) -> bool:
        """Whether a ground element holds at the last point: the entailment of section 2.1."""
        atom = (element.predicate, tuple(_value(argument, by) for argument in element.arguments))
        last = self.data.last
        points, v = self.window(element.window)

        def at(point: int) -> bool:
            return atom in v.get(point, ()) or atom in self.background

        match element.modality:
            case None:
                is_so = at(last)
            case "diamond":
                is_so = any(map(at, points))
            case "box":
                # A window that ends before the stream begins has no points.
                is_so = bool(points) and all(map(at, points))
            case At(point):
                u = _value(point, by)
                is_so = isinstance(u, int) and u in points and at(u)
            case _:
                raise ValueError(f"no modality {element.modality}")
        return is_so != element.negated


def answer_stream(
    program: Program, data: DataStream[Tuple], background: Collection[GroundAtom] = ()
) -> dict[int, set[GroundAtom]]:
    """The intensional atoms of the answer stream at the last point, by point (Definition 5).

    Of a positive program the minimal model of the reduct is what rules derive until nothing is
    new; with negation, stratum by stratum. What a head `@u` derives for a point that is not in the
    timeline is in no model; it is left out.

    Raises:
        ValueError: the program is not stratified.
    """
    model = Structure(data, {*background, *program.facts})
    for rules in _strata(program):
        while _derive(rules, model):
            pass
    return {point: atoms for point, atoms in sorted(model.derived.items()) if atoms}


def output(
    program: Program, data: DataStream[Tuple], background: Collection[GroundAtom] = ()
) -> frozenset[GroundAtom]:
    """The intensional atoms that hold at the last point (Definition 6)."""
    return frozenset(answer_stream(program, data, background).get(data.last, ()))


def negative_cycle(program: Program) -> frozenset[str] | None:
    """The predicates that depend on their own negation; None if there are none."""
    reached = {
        (rule.predicate, element.predicate, element.negated)
        for rule in program.rules
        for element in rule.elements
    }
    while True:
        longer = {(a, d, x or y) for a, b, x in reached for c, d, y in reached if b == c}
        if longer <= reached:
            return frozenset(a for a, b, negated in reached if a == b and negated) or None
        reached |= longer


def _strata(program: Program) -> list[list[Rule]]:
    levels = _levels(program)
    if any(level > len(levels) for level in levels.values()):
        raise ValueError("not stratified")
    return [
        [rule for rule in program.rules if levels[rule.predicate] == level]
        for level in sorted({*levels.values()})
    ]


def _levels(program: Program) -> dict[str, int]:
    """The least level of each derived predicate: above those that it negates, not below others.

    A level above the number of predicates says that there is none.
    """
    levels = dict.fromkeys(sorted(program.derived), 0)
    changed = True
    while changed:
        changed = False
        for rule in program.rules:
            for element in rule.elements:
                if element.predicate not in levels:
                    continue
                least = levels[element.predicate] + element.negated
                if levels[rule.predicate] < least <= len(levels) + 1:
                    levels[rule.predicate] = least
                    changed = True
    return levels


def _derive(rules: Sequence[Rule], model: Structure[Tuple]) -> bool:
    """Add what the rules derive at the last point; whether anything is new."""
    derived = [
        (point, (rule.predicate, tuple(_value(argument, by) for argument in rule.arguments)))
        for rule in rules
        for by in _firing(rule, model)
        if isinstance(
            point := model.data.last if rule.point is None else _value(rule.point, by), int
        )
        and model.data.first <= point <= model.data.last
    ]
    is_new = False
    for point, atom in derived:
        atoms = model.derived.setdefault(point, set())
        is_new = is_new or atom not in atoms
        atoms.add(atom)
    return is_new


def _firing(rule: Rule, model: Structure[Tuple]) -> list[Substitution]:
    """The substitutions by which the body of a rule holds at the last point."""
    everywhere = {*model.background}
    _, v = model.window(None)
    for atoms in v.values():
        everywhere |= {*atoms}
    points = range(model.data.first, model.data.last + 1)
    substitutions: list[Substitution] = [{}]
    for element in rule.elements:
        if element.negated:
            continue
        extended = [
            by
            for before in substitutions
            for by in _candidates(element, before, everywhere, points)
            if model.holds(element, by)
        ]
        substitutions = [
            dict(bindings)
            for bindings in dict.fromkeys(tuple(sorted(by.items())) for by in extended)
        ]
    substitutions = [by for before in substitutions for by in _compared(rule, before)]
    negated = [element for element in rule.elements if element.negated]
    return [by for by in substitutions if all(model.holds(element, by) for element in negated)]


def _candidates(
    element: Element, before: Substitution, atoms: Collection[GroundAtom], points: Sequence[int]
) -> Iterator[Substitution]:
    """Every substitution by which an element may hold: its atom must hold at some point."""
    point = element.modality.point if isinstance(element.modality, At) else None
    for predicate, values in atoms:
        if predicate != element.predicate or len(values) != len(element.arguments):
            continue
        by = _unified(element.arguments, values, before)
        if by is None:
            continue
        if isinstance(point, Var) and point.name not in by:
            yield from ({**by, point.name: u} for u in points)
        else:
            yield by


def _unified(
    arguments: Sequence[Argument], values: Sequence[Value], before: Substitution
) -> Substitution | None:
    by = dict(before)
    for argument, value in zip(arguments, values, strict=True):
        if isinstance(argument, Var):
            if by.setdefault(argument.name, value) != value:
                return None
        elif argument != value:
            return None
    return by


def _compared(rule: Rule, before: Substitution) -> Iterator[Substitution]:
    """The substitution with the values that equations give, if all comparisons hold."""
    by, waiting = (
        dict(before),
        [element for element in rule.body if isinstance(element, Comparison)],
    )
    while waiting:
        for comparison in waiting:
            missing = {
                v.name for side in (comparison.left, comparison.right) for v in variables(side)
            } - {*by}
            if not missing:
                if not _is_true(comparison, by):
                    return
                waiting.remove(comparison)
                break
            sides = ((comparison.left, comparison.right), (comparison.right, comparison.left))
            solved = next(
                (
                    (side.name, other)
                    for side, other in sides
                    if comparison.symbol == "="
                    and isinstance(side, Var)
                    and missing == {side.name}
                    and side not in variables(other)
                ),
                None,
            )
            if solved is not None:
                value = _computed(solved[1], by)
                if value is None:
                    return
                by[solved[0]] = value
                waiting.remove(comparison)
                break
        else:
            raise ValueError("a comparison has a variable without a value")
    yield by


def _is_true(comparison: Comparison, by: Substitution) -> bool:
    left, right = _computed(comparison.left, by), _computed(comparison.right, by)
    if left is None or right is None:
        return False
    if comparison.symbol == "=":
        return left == right
    if comparison.symbol == "!=":
        return left != right
    # Names have no order.
    if isinstance(left, str) or isinstance(right, str):
        return False
    return _SYMBOLS[comparison.symbol](left, right)


def _computed(expression: Expression, by: Substitution) -> Value | None:
    """The value of an expression; None for arithmetic with names."""
    if isinstance(expression, Sum):
        left, right = _computed(expression.left, by), _computed(expression.right, by)
        if not isinstance(left, int) or not isinstance(right, int):
            return None
        return _OPERATORS[expression.operator](left, right)
    return _value(expression, by)


def _value(argument: Argument, by: Substitution) -> Value:
    return by[argument.name] if isinstance(argument, Var) else argument
