"""The relations of atoms that rules read and make.

Every relation has the arguments of its atoms, `a1`, .., as terms in N-Triples form. Whether an atom
is at a point u may depend on the point t at which rules are evaluated, because what is derived at
one t does not exist at another:

| relation | columns | the atom is at u |
| --- | --- | --- |
| stream | a1, .., point | u = point, for every t >= u |
| background | a1, .., since, until | every u, for since <= t < until |
| plain | a1, .., since, until | u = t, for since <= t < until |
| placed | a1, .., point, since, until | u = point, for since <= t < until; point <= since |

Where a window counts tuples, the atoms of the stream also have `nth`, the number of the tuple that
the atom is among those that are counted. `plain` is what rules
with a plain head derive, `placed` what those with an `@T` head derive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from weir.engine.sweep import Key
from weir.lars.columns import argument_columns
from weir.lars.syntax import CountedAtom

POINT = "point"
"""The column of the point that an atom is at."""
NTH = "nth"
"""The column of a tuple's number, counted from 1 in the order of the stream."""


def arguments(arity: int) -> Key:
    """The columns of the arguments of an atom."""
    return argument_columns(arity)


@dataclass(frozen=True, slots=True)
class Counted:
    """Tuples of the stream that a window counts, as relations.

    Attributes:
        tuples: nth, point. Of the points before those at which rules are evaluated, the last n are
            enough, if n is the size of the largest window; numbers count from the first that is
            there.
        atoms: by predicate, those whose triples are all counted, with `nth`.
    """

    tuples: str
    atoms: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Given:
    """What a program reads, as relations; each atom has a row.

    Attributes:
        stream: by predicate, of the atoms of streams. Of the points before those at which rules are
            evaluated, those that the windows of the program have are enough.
        background: by predicate, of the atoms of the graph and of facts; intervals of an atom do
            not overlap.
        counted: the tuples that windows count, and the atoms in them, by what is counted: the
            triples of some atoms, or all if there are none.
    """

    stream: Mapping[str, str] = field(default_factory=dict)
    background: Mapping[str, str] = field(default_factory=dict)
    counted: Mapping[tuple[CountedAtom, ...], Counted] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Derived:
    """The relations of what rules derive for one predicate; None where nothing is."""

    plain: str | None = None
    placed: str | None = None

    @property
    def relations(self) -> tuple[str, ...]:
        """Those that there are."""
        return tuple(name for name in (self.plain, self.placed) if name is not None)

    @property
    def is_empty(self) -> bool:
        """Whether there is no relation."""
        return self.plain is None and self.placed is None
