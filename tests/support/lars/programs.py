"""Programs as plain values, and their text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

Value = str | int
"""A constant: a name, or a number, which may be a point."""


@dataclass(frozen=True)
class Var:
    """A variable; one whose name begins with `_` is written `_`, and is in one place only."""

    name: str


Argument = Var | Value
GroundAtom = tuple[str, tuple[Value, ...]]
"""A predicate and its arguments."""


@dataclass(frozen=True)
class Sum:
    """`left operator right`; the operator is +, - or *."""

    operator: str
    left: Expression
    right: Expression


Expression = Var | Value | Sum


@dataclass(frozen=True)
class Comparison:
    """`left symbol right`; the symbol is =, !=, <, <=, > or >=."""

    symbol: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Counted:
    """Atoms whose tuples a window counts: `p`, or `p(x,_)` in which None is any value."""

    predicate: str
    arguments: tuple[Value | None, ...] | None = None


@dataclass(frozen=True)
class Window:
    """`win^size` or, of tuples, `win^#size`.

    Attributes:
        size: points before the pivot, or tuples.
        tuples: whether it is of tuples.
        counted: `win^#size{..}`: only these tuples count; all if there are none.
        after: `win^(size,after) step ..`: points after the pivot.
        step: the pivot is the last multiple of it; every point is one if it is None.
    """

    size: int
    tuples: bool = False
    counted: tuple[Counted, ...] = ()
    after: int = 0
    step: int | None = None


@dataclass(frozen=True)
class Element:
    """An atom of a body.

    modality: `diamond`, `box`, or the point of `@`; None for the atom itself.
    """

    predicate: str
    arguments: tuple[Argument, ...] = ()
    window: Window | None = None
    modality: str | At | None = None
    negated: bool = False


@dataclass(frozen=True)
class At:
    """`@point`."""

    point: Argument


@dataclass(frozen=True)
class Rule:
    """`head <- body`; with `point`, the head is `@point head`."""

    predicate: str
    arguments: tuple[Argument, ...]
    point: Argument | None
    body: tuple[Element | Comparison, ...]

    @property
    def elements(self) -> tuple[Element, ...]:
        """The atoms of the body."""
        return tuple(element for element in self.body if isinstance(element, Element))


@dataclass(frozen=True)
class Program:
    """Rules and facts."""

    rules: tuple[Rule, ...]
    facts: tuple[GroundAtom, ...] = ()

    @property
    def derived(self) -> frozenset[str]:
        """The predicates of heads."""
        return frozenset(rule.predicate for rule in self.rules)


def text(program: Program) -> str:
    """The text of a program: a statement a line, rules first."""
    facts = [f"{_atom(name, arguments)}." for name, arguments in program.facts]
    return "\n".join([*map(_rule, program.rules), *facts]) + "\n"


def variables(expression: Expression) -> Iterator[Var]:
    """The variables of an expression."""
    if isinstance(expression, Var):
        yield expression
    elif isinstance(expression, Sum):
        yield from variables(expression.left)
        yield from variables(expression.right)


def _rule(rule: Rule) -> str:
    head = _atom(rule.predicate, rule.arguments)
    at = "" if rule.point is None else f"@{_shown(rule.point)} "
    return f"{at}{head} <- {', '.join(map(_element, rule.body))}."


def _element(element: Element | Comparison) -> str:
    if isinstance(element, Comparison):
        return f"{_shown(element.left)} {element.symbol} {_shown(element.right)}"
    parts = ["not"] if element.negated else []
    if element.window is not None:
        parts.append(window_text(element.window))
    if isinstance(element.modality, At):
        parts.append(f"@{_shown(element.modality.point)}")
    elif element.modality is not None:
        parts.append(element.modality)
    return " ".join([*parts, _atom(element.predicate, element.arguments)])


def window_text(window: Window) -> str:
    """A window as it is written."""
    if window.tuples:
        counted = ",".join(map(_counted, window.counted))
        return f"win^#{window.size}{{{counted}}}" if counted else f"win^#{window.size}"
    size = f"({window.size},{window.after})" if window.after else window.size
    return f"win^{size}" if window.step is None else f"win^{size} step {window.step}"


def _counted(counted: Counted) -> str:
    if counted.arguments is None:
        return counted.predicate
    shown = ("_" if value is None else str(value) for value in counted.arguments)
    return f"{counted.predicate}({','.join(shown)})"


def _atom(predicate: str, arguments: tuple[Argument, ...]) -> str:
    return f"{predicate}({','.join(map(_shown, arguments))})" if arguments else predicate


def _shown(expression: Expression) -> str:
    match expression:
        case Var(name):
            return "_" if name.startswith("_") else name
        case Sum(operator, left, right):
            return f"({_shown(left)} {operator} {_shown(right)})"
        case _:
            return str(expression)
