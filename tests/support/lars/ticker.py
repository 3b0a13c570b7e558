"""Answer streams at a point by an answer set program, which clingo solves.

The encoding is the static one of Ticker (Beck, Eiter, Folie: Ticker: A System for Incremental
ASP-based Stream Reasoning, TPLP 2017): `x_a(X)` says that a(X) is at the point of the evaluation,
`at_a(X,T)` that it is at T, and each window atom is an atom `w(X)` with rules of its own:

    diamond    w(X) <- in(T), at_a(X,T)
    @          w(X,T) <- in(T), at_a(X,T)
    box        w(X) <- in(T), at_a(X,T), not spoiled(X)
               spoiled(X) <- in(U), at_a(X,T), in(T), not at_a(X,U)

A box over a predicate that depends on it would be negation in a cycle that way; it is a chain of
points instead, each of which the atom is at. A tuple has a number, as in Ticker, and a window that
counts some tuples numbers these. All rules are stratified, so there is one answer set.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import clingo

from tests.support.lars.definitions import DataStream, Tuple
from tests.support.lars.programs import (
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
)

_Kind = tuple[str, int, Window | None, str]
"""What elements with one window atom have in common: predicate, arity, window, modality."""


def encoding(program: Program) -> str:
    """The rules of a program, without data: `now`, `point`, `at_..` and numbers are facts."""
    return _Encoding(program).text()


def output_by_clingo(
    program: Program, data: DataStream[Tuple], background: Collection[GroundAtom] = ()
) -> frozenset[GroundAtom]:
    """The derived atoms that hold at the last point (Definition 6).

    Raises:
        ValueError: there is not one answer set.
    """
    control = clingo.Control(["0"], logger=_silent)
    control.add("base", [], encoding(program))
    control.add("base", [], "\n".join(_facts(program, data, background)))
    control.ground([("base", [])])
    answers: list[frozenset[GroundAtom]] = []
    with control.solve(yield_=True) as models:
        for model in models:
            answers.append(frozenset(_atoms(model.symbols(atoms=True), program)))
    if len(answers) != 1:
        raise ValueError(f"{len(answers)} answer sets")
    return answers[0]


def _silent(code: clingo.MessageCode, message: str) -> None:
    """Say nothing of atoms without facts, and of sums with names, which make no instance."""


def _atoms(symbols: Sequence[clingo.Symbol], program: Program) -> Iterator[GroundAtom]:
    for symbol in symbols:
        predicate = symbol.name.removeprefix("x_")
        if predicate != symbol.name and predicate in program.derived:
            yield predicate, tuple(_value(argument) for argument in symbol.arguments)


def _value(symbol: clingo.Symbol) -> Value:
    return symbol.number if symbol.type == clingo.SymbolType.Number else symbol.name


def _facts(
    program: Program, data: DataStream[Tuple], background: Collection[GroundAtom]
) -> Iterator[str]:
    """The timeline, the atoms of the stream and of the background, and the numbers of tuples."""
    yield f"now({data.last}). point({data.first}..{data.last}). start({data.first})."
    for point, tuples in data.tuples.items():
        for predicate, values in data.atoms_of(tuples):
            yield _fact(f"at_{predicate}", *values, point)
    for predicate, values in (*background, *program.facts):
        arguments = ",".join([*map(str, values), "T"])
        yield f"at_{predicate}({arguments}) :- point(T)."
    for i, counted in enumerate(_counts(program)):
        numbers: dict[int, list[tuple[int, Tuple]]] = {}
        n = 0
        for point in sorted(data.tuples):
            for tuple_ in data.tuples[point]:
                if not counted or any(data.counts(atom, tuple_) for atom in counted):
                    n += 1
                    numbers.setdefault(point, []).append((n, tuple_))
        yield f"last{i}({n})."
        for point, numbered in numbers.items():
            # An atom is in a window if the last of its tuples that it needs are.
            for at, (nth, _) in enumerate(numbered):
                yield f"nth{i}({nth},{point})."
                for predicate, values in data.atoms_of([tuple_ for _, tuple_ in numbered[at:]]):
                    yield _fact(f"nth{i}_{predicate}", *values, point, nth)


def _fact(name: str, *values: Value) -> str:
    return f"{name}({','.join(map(str, values))})."


def _counts(program: Program) -> list[tuple[Counted, ...]]:
    """What the tuple windows of a program count."""
    windows = (element.window for rule in program.rules for element in rule.elements)
    return [*dict.fromkeys(window.counted for window in windows if window and window.tuples)]


@dataclass
class _Encoding:
    program: Program
    kinds: dict[_Kind, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The rules."""
        names = {(rule.predicate, len(rule.arguments)) for rule in self.program.rules}
        for rule in self.program.rules:
            self.lines.append(self._rule(rule))
            names |= {(element.predicate, len(element.arguments)) for element in rule.elements}
        for predicate, arity in sorted(names):
            xs = [f"X{i}" for i in range(arity)]
            now, at = _atom(f"x_{predicate}", *xs), _atom(f"at_{predicate}", *xs, "N")
            self.lines += [f"{now} :- now(N), {at}.", f"{at} :- now(N), {now}."]
        return "\n".join(self.lines)

    def _rule(self, rule: Rule) -> str:
        body = [self._element(element) for element in rule.elements]
        body += [_comparison(part) for part in rule.body if isinstance(part, Comparison)]
        arguments = [*map(_shown, rule.arguments)]
        if rule.point is None:
            return f"{_atom(f'x_{rule.predicate}', *arguments)} :- {', '.join(body)}."
        point = _shown(rule.point)
        head = _atom(f"at_{rule.predicate}", *arguments, point)
        return f"{head} :- {', '.join([*body, f'point({point})'])}."

    def _element(self, element: Element) -> str:
        arguments = [*map(_shown, element.arguments)]
        name = f"x_{element.predicate}"
        if element.modality is not None:
            is_at = isinstance(element.modality, At)
            modality = "at" if is_at else str(element.modality)
            kind = (element.predicate, len(arguments), element.window, modality)
            if kind not in self.kinds:
                self.kinds[kind] = f"w{len(self.kinds)}"
                self.lines += self._window_atom(kind, self.kinds[kind])
            name = self.kinds[kind]
        if isinstance(element.modality, At):
            arguments.append(_shown(element.modality.point))
        return f"{'not ' if element.negated else ''}{_atom(name, *arguments)}"

    def _window_atom(self, kind: _Kind, w: str) -> Iterator[str]:
        predicate, arity, window, modality = kind
        xs = [f"X{i}" for i in range(arity)]
        yield from _window(window, w, predicate, xs, _counts(self.program))
        at, seen = _atom(f"{w}_at", *xs, "T"), _atom(f"{w}_at", *xs, "U")
        head = _atom(w, *xs)
        if modality == "at":
            yield f"{_atom(w, *xs, 'T')} :- {w}_in(T), {at}."
        elif modality == "diamond":
            yield f"{head} :- {w}_in(T), {at}."
        elif self._is_recursive(predicate):
            chain, next_ = _atom(f"{w}_chain", *xs, "T"), _atom(f"{w}_chain", *xs, "U")
            yield f"{chain} :- {w}_in(T), not {w}_in(T-1), {at}."
            yield f"{next_} :- {chain}, U = T+1, {w}_in(U), {seen}."
            yield f"{head} :- {chain}, not {w}_in(T+1)."
        else:
            spoiled = _atom(f"{w}_spoiled", *xs)
            yield f"{spoiled} :- {w}_in(T), {at}, {w}_in(U), not {seen}."
            yield f"{head} :- {w}_in(T), {at}, not {spoiled}."

    def _is_recursive(self, predicate: str) -> bool:
        """Whether a predicate depends on itself."""
        reached = {predicate}
        while True:
            further = {
                element.predicate
                for rule in self.program.rules
                if rule.predicate in reached
                for element in rule.elements
            }
            if predicate in further:
                return True
            if further <= reached:
                return False
            reached |= further


def _window(
    window: Window | None,
    w: str,
    predicate: str,
    xs: Sequence[str],
    counts: Sequence[tuple[Counted, ...]],
) -> Iterator[str]:
    """The points `w_in(T)` of a window, and the atoms `w_at(X,T)` that it has there."""
    at, everywhere = _atom(f"{w}_at", *xs, "T"), _atom(f"at_{predicate}", *xs, "T")
    if window is None:
        yield f"{w}_in(T) :- point(T)."
        yield f"{at} :- {everywhere}."
    elif not window.tuples:
        step = window.step or 1
        # clingo's remainder has the sign of the dividend.
        yield f"{w}_pivot(N-(((N\\{step})+{step})\\{step})) :- now(N)."
        inside = f"P-{window.size} <= T, T <= P+{window.after}"
        yield f"{w}_in(T) :- point(T), {w}_pivot(P), {inside}."
        yield f"{at} :- {everywhere}."
    else:
        i, n = counts.index(window.counted), window.size
        numbered = _atom(f"nth{i}_{predicate}", *xs, "T", "D")
        yield f"{w}_begin(T) :- last{i}(C), nth{i}(C-{n}+1,T)."
        yield f"{w}_begin(T) :- last{i}(C), C < {n}, start(T)."
        yield f"{w}_in(T) :- point(T), {w}_begin(B), B <= T."
        yield f"{at} :- last{i}(C), {numbered}, C-{n}+1 <= D."


def _atom(name: str, *arguments: str) -> str:
    return f"{name}({','.join(arguments)})" if arguments else name


def _comparison(comparison: Comparison) -> str:
    left, right = _shown(comparison.left), _shown(comparison.right)
    if comparison.symbol in ("=", "!="):
        return f"{left} {comparison.symbol} {right}"
    # Names have no order: of a sum with a name there is no instance.
    return f"({left})+0 {comparison.symbol} ({right})+0"


def _shown(expression: Expression) -> str:
    match expression:
        case Var(name):
            return "_" if name.startswith("_") else name
        case Sum(operator, left, right):
            return f"({_shown(left)}{operator}{_shown(right)})"
        case int():
            return f"({expression})" if expression < 0 else str(expression)
        case _:
            return expression
