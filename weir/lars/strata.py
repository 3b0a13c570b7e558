"""Strata: in which order rules are evaluated, so that negation sees finished predicates only.

Section 3 of the paper, *Adding negation*. A predicate depends on those in the bodies of its rules.
The predicates of a cycle are one stratum; a negated dependency may not be part of a cycle, for such
programs have several answer streams or none.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weir.lars.errors import UnsupportedProgram
from weir.lars.safety import variables_of
from weir.lars.syntax import Assignment, Literal, Rule, Stratum
from weir.sparql.recursion import deep_recursion


@dataclass(frozen=True, slots=True)
class Dependency:
    """The head of `rule` depends on the atom of `literal`, an element of its body."""

    rule: Rule
    literal: Literal

    @property
    def dependent(self) -> str:
        """The predicate of the head."""
        return self.rule.head.atom.predicate

    @property
    def on(self) -> str:
        """The predicate that it depends on."""
        return self.literal.atom.predicate

    def __str__(self) -> str:
        negation = "not " if self.literal.negated else ""
        return f"{self.dependent} depends on {negation}{self.on} ({self.literal.place})"


def strata(rules: Sequence[Rule], file: str) -> tuple[Stratum, ...]:
    """The strata of safe rules in order of evaluation: of many, the finest.

    Raises:
        UnsupportedProgram: a cycle through negation, or recursion that makes values by arithmetic;
            with the rules of the cycle.
    """
    derived = {rule.head.atom.predicate: None for rule in rules}
    dependencies: dict[str, list[Dependency]] = {name: [] for name in derived}
    for rule in rules:
        for literal in rule.literals:
            if literal.atom.predicate in derived:
                found = Dependency(rule, literal)
                dependencies[found.dependent].append(found)
    components = _components(dependencies)
    component_of = {name: i for i, names in enumerate(components) for name in names}
    inside = {
        name: [each for each in found if component_of[each.on] == component_of[name]]
        for name, found in dependencies.items()
    }
    for rule in rules:
        _refuse_cycle_through_negation(rule, inside, file)
        _refuse_arithmetic(rule, inside, file)
    return tuple(
        Stratum(
            names,
            tuple(rule for rule in rules if rule.head.atom.predicate in names),
            recursive=any(inside[name] for name in names),
        )
        for names in components
    )


_Inside = Mapping[str, Sequence[Dependency]]
"""By predicate, its dependencies on predicates of its stratum."""


def _refuse_cycle_through_negation(rule: Rule, inside: _Inside, file: str) -> None:
    for each in inside[rule.head.atom.predicate]:
        if each.rule is rule and each.literal.negated:
            raise UnsupportedProgram(
                f"not {each.on}",
                file,
                each.literal.place,
                f"negation in a cycle: {_described(_cycle(each, inside))}",
                "No predicate may depend on its own negation: take one of the rules out.",
            )


def _refuse_arithmetic(rule: Rule, inside: _Inside, file: str) -> None:
    """Refuse a head that has a value computed from what the rule's own stratum derives.

    A variable that an atom of another stratum binds, too, has finitely many values.
    """
    own = [each for each in inside[rule.head.atom.predicate] if each.rule is rule]
    if not own:
        return
    recursive = [each.literal for each in own]
    others = [each for each in rule.literals if not each.negated and each not in recursive]
    bounded = {name for each in others for name in each.variables}
    growing = {name for each in recursive for name in each.variables} - bounded
    for element in rule.body:
        if not isinstance(element, Assignment) or growing.isdisjoint(
            variables_of(element.expression)
        ):
            continue
        growing.add(element.variable)
        if element.variable in rule.head.variables:
            raise UnsupportedProgram(
                element.variable,
                file,
                element.place,
                "recursion through arithmetic makes values without end:"
                f" {_described(_cycle(own[0], inside))}",
                f"Bind {element.variable} by an atom of the body that is not part of the cycle.",
            )


def _described(cycle: Sequence[Dependency]) -> str:
    return ", ".join(map(str, cycle))


def _cycle(first: Dependency, inside: _Inside) -> list[Dependency]:
    """A shortest cycle that begins with a dependency."""
    paths = deque([[first]])
    seen = {first.on}
    while paths:
        path = paths.popleft()
        if path[-1].on == first.dependent:
            return path
        for following in inside[path[-1].on]:
            if following.on not in seen:
                seen.add(following.on)
                paths.append([*path, following])
    raise AssertionError("the predicates of a component depend on each other")


def _components(dependencies: Mapping[str, Sequence[Dependency]]) -> list[tuple[str, ...]]:
    """The strongly connected components, each after those that it depends on: Tarjan 1972."""
    found: list[tuple[str, ...]] = []
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []

    def visit(name: str) -> None:
        number[name] = lowest[name] = len(number)
        stack.append(name)
        for each in dependencies[name]:
            if each.on not in number:
                visit(each.on)
                lowest[name] = min(lowest[name], lowest[each.on])
            elif each.on in stack:
                lowest[name] = min(lowest[name], number[each.on])
        if lowest[name] == number[name]:
            at = stack.index(name)
            found.append(tuple(sorted(stack[at:], key=number.__getitem__)))
            del stack[at:]

    with deep_recursion():
        for name in dependencies:
            if name not in number:
                visit(name)
    return found
