"""Strata: the order in which rules are evaluated, so that negation sees only finished predicates.

Section 3 of the paper, *Adding negation*. A predicate depends on the predicates in the bodies of
its rules. The predicates of a cycle are one stratum. A cycle must not have a negated dependency:
such programs have several answer streams or none.
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
        """The predicate that the head depends on."""
        return self.literal.atom.predicate

    def __str__(self) -> str:
        negation = "not " if self.literal.negated else ""
        return f"{self.dependent} depends on {negation}{self.on} ({self.literal.place})"


def strata(rules: Sequence[Rule], file: str) -> tuple[Stratum, ...]:
    """The strata of safe rules in order of evaluation, as small as possible.

    Raises:
        UnsupportedProgram: there is a cycle through negation, or recursion that makes new values by
            arithmetic; the error names the cycle.
    """
    derived = {rule.head.atom.predicate: None for rule in rules}
    dependencies: dict[str, list[Dependency]] = {name: [] for name in derived}
    for rule in rules:
        for literal in rule.literals:
            if literal.atom.predicate in derived:
                dependency = Dependency(rule, literal)
                dependencies[dependency.dependent].append(dependency)
    components = _components(dependencies)
    component_of = {name: i for i, names in enumerate(components) for name in names}
    inside = {
        name: [
            dependency for dependency in own if component_of[dependency.on] == component_of[name]
        ]
        for name, own in dependencies.items()
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
"""The dependencies of each predicate on predicates of its own stratum."""


def _refuse_cycle_through_negation(rule: Rule, inside: _Inside, file: str) -> None:
    for dependency in inside[rule.head.atom.predicate]:
        if dependency.rule is rule and dependency.literal.negated:
            raise UnsupportedProgram(
                f"not {dependency.on}",
                file,
                dependency.literal.place,
                f"negation in a cycle: {_described(_cycle(dependency, inside))}",
                "No predicate may depend on its own negation: take one of the rules out.",
            )


def _refuse_arithmetic(rule: Rule, inside: _Inside, file: str) -> None:
    """Refuse a head with a value computed from values that its own stratum derives.

    A variable that an atom of another stratum also binds has finitely many values.
    """
    own = [dependency for dependency in inside[rule.head.atom.predicate] if dependency.rule is rule]
    if not own:
        return
    recursive = [dependency.literal for dependency in own]
    others = [
        literal for literal in rule.literals if not literal.negated and literal not in recursive
    ]
    bounded = {name for literal in others for name in literal.variables}
    growing = {name for literal in recursive for name in literal.variables} - bounded
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
    """A shortest cycle that begins with the dependency `first`."""
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
    """The strongly connected components, each after those that it depends on (Tarjan 1972)."""
    components: list[tuple[str, ...]] = []
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []

    def visit(name: str) -> None:
        number[name] = lowest[name] = len(number)
        stack.append(name)
        for dependency in dependencies[name]:
            on = dependency.on
            if on not in number:
                visit(on)
                lowest[name] = min(lowest[name], lowest[on])
            elif on in stack:
                lowest[name] = min(lowest[name], number[on])
        if lowest[name] == number[name]:
            at = stack.index(name)
            components.append(tuple(sorted(stack[at:], key=number.__getitem__)))
            del stack[at:]

    with deep_recursion():
        for name in dependencies:
            if name not in number:
                visit(name)
    return components
