"""The tree of one derivation, out of bodies of rules by which atoms are derived."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from weir.lars.syntax import Rule
from weir.why.explanation import AbsentAtom, Derivation, Ground, ReadAtom, RepeatedAtom

AtomAt: TypeAlias = tuple[str, tuple[str, ...], int]
"""A predicate, arguments, and the point that the atom is at."""
MOST_SOLUTIONS = 20
"""Of a rule, no more ways to derive an atom are looked at."""
Absent: TypeAlias = tuple[str, tuple[str, ...]]
"""A predicate and arguments."""


@dataclass(frozen=True, slots=True)
class RuleBody:
    """A solution of a body: which atoms it needs, derived or read, and which must be absent."""

    rule: Rule
    derived: tuple[AtomAt, ...]
    read: tuple[AtomAt, ...]
    absent: tuple[Absent, ...]


def supported(bodies: Mapping[AtomAt, Sequence[RuleBody]]) -> Mapping[AtomAt, RuleBody]:
    """A body of each atom that can be derived, of atoms that were chosen before it."""
    chosen: dict[AtomAt, RuleBody] = {}
    while True:
        new = {
            atom: body
            for atom, own in bodies.items()
            if atom not in chosen
            for body in reversed(own)
            if all(needed in chosen for needed in body.derived)
        }
        if not new:
            return chosen
        chosen |= new


@dataclass(frozen=True, slots=True)
class Tree:
    """Makes the tree of a derivation, in which each atom is derived once.

    An atom may be needed by many, and these by many more: a tree with all of these is too large.

    Attributes:
        chosen: by atom, the body that derives it.
        instant: the first instant of a point; None where points are none.
        place: where a rule is.
        read: an atom that is read, with what makes it.
    """

    chosen: Mapping[AtomAt, RuleBody]
    instant: Callable[[int], int | None]
    place: Callable[[Rule], str]
    read: Callable[[AtomAt], ReadAtom]
    _derived: set[AtomAt] = field(default_factory=set)

    def of(self, atom: AtomAt) -> Derivation:
        """The derivation of an atom."""
        predicate, values, point = atom
        body = self.chosen[atom]
        self._derived.add(atom)
        grounds = [
            *map(self._needed, body.derived),
            *map(self.read, body.read),
            *(AbsentAtom(*absent) for absent in body.absent),
        ]
        place = self.place(body.rule)
        return Derivation(predicate, values, self.instant(point), place, tuple(grounds))

    def _needed(self, atom: AtomAt) -> Ground:
        if atom not in self._derived:
            return self.of(atom)
        predicate, values, point = atom
        return RepeatedAtom(predicate, values, self.instant(point))
