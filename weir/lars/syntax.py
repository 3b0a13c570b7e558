"""Programs of plain LARS as frozen values: terms, atoms, body elements, rules, strata.

A *point* is an instant counted in units of the program, an integer. Rules are evaluated at every
point t. Docstrings say when an element holds at t in a stream whose first point is t1; `v(u)` is
the set of atoms at u.

Places do not count for equality, so equal elements of different rules read the same relation.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from weir.sparql.algebra.expressions import Constant, Expression, Variable

Term = Variable | Constant
"""An argument of an atom.

A `Constant` is an RDF term in N-Triples form; terms are equal if their forms are. A number in the
text is a literal: `7` is `"7"^^<http://www.w3.org/2001/XMLSchema#integer>`.
"""

Time = Variable | int
"""The point of `@T` or `@5`.

If the variable is also an argument of an atom or part of an expression, its value is the point as a
literal, an `xsd:integer` or `xsd:dateTime` by `time_terms` of the program. If its value is not such
a literal, the element does not hold.
"""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A line and a column in the text of a program, both counted from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


NOWHERE = Place(0, 0)
"""The place of an element that is not from a text."""


@dataclass(frozen=True, slots=True)
class Atom:
    """`predicate(arguments)`, without parentheses if there are no arguments; at most three."""

    predicate: str
    arguments: tuple[Term, ...] = ()
    place: Place = field(default=NOWHERE, compare=False)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables, in order, each once; every `_` has another name."""
        names = (term.name for term in self.arguments if isinstance(term, Variable))
        return tuple(dict.fromkeys(names))


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """`win^n`: the points from max(t1, t - size) to t, so at most size + 1; Definition 3."""

    size: int

    @property
    def before(self) -> int:
        """How many points before the pivot, which is t, the window has."""
        return self.size

    @property
    def after(self) -> int:
        """How many points after the pivot it has."""
        return 0

    @property
    def step(self) -> int:
        """Every point is a pivot."""
        return 1

    def __str__(self) -> str:
        return f"win^{self.size}"


@dataclass(frozen=True, slots=True)
class HoppingWindow:
    """`win^l step d` or `win^(l,u) step d`: the points from max(t1, t' - l) to min(t, t' + u).

    The pivot t' is the last multiple of d up to t. The window hops with it, and tumbles if
    d = l + u + 1: then every point is in one window. Before the first point t1 there is nothing, so
    a window that ends before t1 has no points, and in it nothing holds, nor does a box.

    It is the time-based window of Beck, Dao-Tran, Eiter, Fink: LARS: A Logic-based Framework for
    Analyzing Reasoning over Streams (AAAI 2015), of which Definition 3 is the case u = 0, d = 1.

    Attributes:
        before: l, points before the pivot.
        after: u, points after it; less than `step`, because no window has a point after t.
        step: d, at least 1.
    """

    before: int
    after: int
    step: int

    def __str__(self) -> str:
        size = f"({self.before},{self.after})" if self.after else self.before
        return f"win^{size} step {self.step}"


PointWindow = TimeWindow | HoppingWindow
"""A window of points of time."""


def points_of(window: PointWindow, point: int, start: int) -> range:
    """The points of a window at a point, of a stream whose first point is `start`."""
    pivot = point // window.step * window.step
    return range(max(start, pivot - window.before), min(point, pivot + window.after) + 1)


@dataclass(frozen=True, slots=True, order=True)
class CountedAtom:
    """Atoms whose triples a tuple window counts.

    Attributes:
        predicate: of the atoms.
        arguments: terms in N-Triples form, each empty for any; none if the text has the predicate
            alone, whose arguments then may be any.
    """

    predicate: str
    arguments: tuple[str, ...] = ()
    place: Place = field(default=NOWHERE, compare=False)

    def __str__(self) -> str:
        shown = ",".join(term or "_" for term in self.arguments)
        return f"{self.predicate}({shown})" if self.arguments else self.predicate


@dataclass(frozen=True, slots=True)
class TupleWindow:
    """`win^#n`: the last `size` tuples of the stream, size >= 1. Definition 4.

    A tuple is a triple of the stream at a point, counted once, even if no atom of the program has
    it; derived and background atoms are not tuples. Tuples are ordered by point, then by first
    arrival. The window is from the point of its first tuple to t, or from t1 if the stream has
    fewer tuples.
    """

    size: int

    @property
    def counted(self) -> tuple[CountedAtom, ...]:
        """No atoms: every tuple is counted."""
        return ()

    def __str__(self) -> str:
        return f"win^#{self.size}"


@dataclass(frozen=True, slots=True)
class FilteredTupleWindow:
    """`win^#n{p,q(a,_)}`: the last `size` of the tuples that are triples of some atoms.

    It is the window of Definition 4 at t over the stream that has, of every point, only the triples
    that match one of the triple patterns of the `counted` atoms. So an atom is in it if all its
    triples match and are among the last, and the window is from the point of the first of these.

    Attributes:
        size: how many tuples, at least 1.
        counted: sorted, each once; at least one.
    """

    size: int
    counted: tuple[CountedAtom, ...]

    def __str__(self) -> str:
        return f"win^#{self.size}{{{','.join(map(str, self.counted))}}}"


CountingWindow = TupleWindow | FilteredTupleWindow
"""A window of tuples."""
Window = PointWindow | CountingWindow


@dataclass(frozen=True, slots=True)
class Diamond:
    """`diamond`: the atom is in v(u) for some point u of the window."""


@dataclass(frozen=True, slots=True)
class Box:
    """`box`: the atom is in v(u) for every point u of the window, even without events at u."""


@dataclass(frozen=True, slots=True)
class At:
    """`@T`: the atom is in v(u) for the point u = `time`, which is in the window."""

    time: Time


Modality = Diamond | Box | At


@dataclass(frozen=True, slots=True)
class Literal:
    """A body element `a`, `@T a`, `win^n diamond a`, `win^n box a` or `win^n @T a`, maybe negated.

    | window | modality | holds at t if |
    | --- | --- | --- |
    | None | None | the atom is in v(t) |
    | None | `At(u)` | t1 <= u <= t, and the atom is in v(u) |
    | w | a modality | the modality holds in the window w at t |

    A background atom is in every v(u). A `negated` element holds if it does not hold without the
    negation; all its variables also occur in elements of the body that are not negated.
    """

    atom: Atom
    window: Window | None = None
    modality: Modality | None = None
    negated: bool = False
    place: Place = field(default=NOWHERE, compare=False)

    def __post_init__(self) -> None:
        if self.window is None and not isinstance(self.modality, At | None):
            raise ValueError("diamond and box are read in a window")
        if self.window is not None and self.modality is None:
            raise ValueError("a window is read by diamond, box or @")

    @property
    def time(self) -> Time | None:
        """The point of `@T`; None if the element has no `@`."""
        return self.modality.time if isinstance(self.modality, At) else None

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the atom, then that of `@T`; each once."""
        time = self.time
        own = (time.name,) if isinstance(time, Variable) else ()
        return tuple(dict.fromkeys((*self.atom.variables, *own)))


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison, which holds if its effective boolean value is true; an error is not true."""

    expression: Expression
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Assignment:
    """`T1 = T + 2` where nothing else binds T1; after an error the body does not hold.

    All variables of `expression` are bound by literals that are not negated, or by earlier
    assignments of the body.
    """

    variable: str
    expression: Expression
    place: Place = field(default=NOWHERE, compare=False)


BodyElement = Literal | Condition | Assignment


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a rule: it derives the atom at the current point t, or with `@T` for point T.

    An atom is in the answer at t if it is derived at t *for* t: by a plain head, or by an `@T` head
    with T = t. An atom derived for another point is seen only by `@` and by windows with that
    point, at the same t; an atom derived at one t does not exist at another.
    """

    atom: Atom
    time: Time | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the atom, then that of `@T`; each once."""
        own = (self.time.name,) if isinstance(self.time, Variable) else ()
        return tuple(dict.fromkeys((*self.atom.variables, *own)))


@dataclass(frozen=True, slots=True)
class Rule:
    """`head <- body.`; the body has at least one element."""

    head: Head
    body: tuple[BodyElement, ...]
    place: Place = field(default=NOWHERE, compare=False)

    @property
    def literals(self) -> tuple[Literal, ...]:
        """The literals of the body, negated or not, in order."""
        return tuple(element for element in self.body if isinstance(element, Literal))


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules and ground facts of a text, in its order, not checked yet."""

    rules: tuple[Rule, ...]
    facts: tuple[Atom, ...] = ()


@dataclass(frozen=True, slots=True)
class Stratum:
    """Rules that are evaluated together: of the predicates of one cycle, or of one predicate.

    All other predicates that their bodies read are in earlier strata. If the stratum is not
    `recursive`, no body reads a predicate of it, and one pass is enough.
    """

    predicates: tuple[str, ...]
    rules: tuple[Rule, ...]
    recursive: bool


@dataclass(frozen=True, slots=True)
class Stratified:
    """Checked rules: safe and stratified; each `V = expression` that binds V is an `Assignment`.

    A body has first the literals, then the assignments in an order in which their variables are
    bound, then the conditions. `strata` is in order of evaluation.
    """

    strata: tuple[Stratum, ...]
    facts: tuple[Atom, ...]

    @property
    def derived(self) -> tuple[str, ...]:
        """The predicates of the heads, in order of evaluation."""
        return tuple(name for stratum in self.strata for name in stratum.predicates)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules in order of evaluation."""
        return tuple(rule for stratum in self.strata for rule in stratum.rules)
